/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The heap that thread stacks come from, after ended threads have given their stacks back. */
#ifndef HEAP_H
#define HEAP_H

#include "crew_rtems.h"

#include <rtems/libcsupport.h>
#include <rtems/malloc.h>

typedef struct heap {
    long free_bytes;
    long largest_bytes;
} heap;

/* Both figures walk the heap. */
static inline heap heap_now(void)
{
    Heap_Information_block info;
    heap now;

    crew_rtems_free_ended_threads();
    (void)malloc_info(&info);
    now.free_bytes = (long)info.Free.total;
    now.largest_bytes = (long)info.Free.largest;
    return now;
}

#endif
