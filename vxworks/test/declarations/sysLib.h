/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Not Wind River's: see vxWorks.h here. */
#ifndef DECLARED_SYSLIB_H
#define DECLARED_SYSLIB_H

#ifdef __cplusplus
extern "C" {
#endif

int sysClkRateGet(void);

#ifdef __cplusplus
}
#endif

#endif
