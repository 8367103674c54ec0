/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* RTEMS's self-contained semaphores, which can be made here and not waited for. */
#ifndef STAND_IN_RTEMS_THREAD_H
#define STAND_IN_RTEMS_THREAD_H

#include <errno.h>
#include <stdint.h>

typedef struct rtems_binary_semaphore {
    const char *name;
} rtems_binary_semaphore;

static inline void rtems_binary_semaphore_init(rtems_binary_semaphore *semaphore, const char *name)
{
    semaphore->name = name;
}

static inline int rtems_binary_semaphore_try_wait(rtems_binary_semaphore *semaphore)
{
    (void)semaphore;
    return EAGAIN;
}

static inline int rtems_binary_semaphore_wait_timed_ticks(rtems_binary_semaphore *semaphore,
                                                          uint32_t ticks)
{
    (void)semaphore;
    (void)ticks;
    return ETIMEDOUT;
}

static inline void rtems_binary_semaphore_post(rtems_binary_semaphore *semaphore)
{
    (void)semaphore;
}

#endif
