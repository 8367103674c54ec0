/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Points in time for the POSIX port's bounded waits. */
#ifndef CREW_POSIX_CLOCK_H
#define CREW_POSIX_CLOCK_H

#include <stdint.h>
#include <time.h>

/* The time on `clock` that is `timeout_ms` from now. */
static inline struct timespec clock_after(clockid_t clock, uint32_t timeout_ms)
{
    struct timespec at;

    (void)clock_gettime(clock, &at);
    at.tv_sec += (time_t)(timeout_ms / 1000u);
    at.tv_nsec += (long)(timeout_ms % 1000u) * 1000000L;
    if (at.tv_nsec >= 1000000000L) {
        at.tv_nsec -= 1000000000L;
        at.tv_sec += 1;
    }
    return at;
}

#endif
