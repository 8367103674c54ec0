/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Not Wind River's: the host's, and what VxWorks has besides. */
#ifndef DECLARED_PTHREAD_H
#define DECLARED_PTHREAD_H

#include_next <pthread.h>

#ifdef __cplusplus
extern "C" {
#endif

int pthread_attr_setname(pthread_attr_t *attr, char *name);

#ifdef __cplusplus
}
#endif

#endif
