/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Not Wind River's: see vxWorks.h here. */
#ifndef DECLARED_SEMLIB_H
#define DECLARED_SEMLIB_H

#include <vxWorks.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SEM_Q_FIFO 0
#define SEM_ID_NULL ((SEM_ID)0)

typedef enum { SEM_EMPTY, SEM_FULL } SEM_B_STATE;

/* A pointer in a real-time process, a number in the kernel. */
typedef struct _Vx_semaphore *SEM_ID;

SEM_ID semBCreate(int options, SEM_B_STATE initial);
STATUS semTake(SEM_ID semaphore, _Vx_ticks_t timeout);
STATUS semGive(SEM_ID semaphore);
/* Wakes all that wait, and leaves the semaphore as it is. */
STATUS semFlush(SEM_ID semaphore);

typedef enum { SEM_TYPE_BINARY } SEM_TYPE;

/* A name that begins with a slash is public: seen by all real-time processes. */
SEM_ID semOpen(const char *name, SEM_TYPE type, int initial, int options, int mode, void *context);
STATUS semClose(SEM_ID semaphore);

#ifdef __cplusplus
}
#endif

#endif
