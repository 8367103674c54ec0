/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Waits on VxWorks are in ticks of its clock. */
#ifndef CREW_VXWORKS_TICKS_H
#define CREW_VXWORKS_TICKS_H

#include <vxWorks.h>

#include <stdint.h>
#include <sysLib.h>

/* Clock ticks that last at least `timeout_ms`: rounded up, and one for the tick that has begun. */
static inline _Vx_ticks_t crew_vxworks_ticks(uint32_t timeout_ms)
{
    uint64_t ticks = ((uint64_t)timeout_ms * (uint64_t)sysClkRateGet() + 999u) / 1000u + 1u;

    if (timeout_ms == 0u) {
        return NO_WAIT;
    }
    /* The largest number would be for ever; ending early is allowed. */
    return (_Vx_ticks_t)(ticks < INT32_MAX ? ticks : INT32_MAX);
}

#endif
