/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The little of RTEMS's headers that csrc/posix/event_rtems.h takes, so that a host compiles it. */
#ifndef STAND_IN_RTEMS_H
#define STAND_IN_RTEMS_H

#include <stdint.h>

static inline uint32_t rtems_configuration_get_microseconds_per_tick(void)
{
    return 1000u;
}

#endif
