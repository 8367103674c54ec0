/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The shell command demoHeap: what the IOC holds from malloc, and on RTEMS what is left of it. */
#include "heap.h"

#include <malloc.h>

#ifdef __rtems__
#include <rtems/malloc.h>
#include <rtems/rtems/support.h>
#endif

#include <epicsStdio.h>
#include <iocsh.h>

static const iocshFuncDef heapDef = {"demoHeap", 0, NULL, "Prints the bytes that this process holds from malloc.\n"};

#ifdef __rtems__

static void callHeap(const iocshArgBuf *args)
{
    rtems_resource_snapshot snapshot;
    Heap_Information_block heap;

    (void)args;
    /* An ended thread's stack is free only after this, or after the next creation of a thread. */
    rtems_resource_snapshot_take(&snapshot);
    (void)malloc_info(&heap);
    epicsStdoutPrintf("demoHeap: %lu bytes in use, %lu free, the largest free block %lu\n",
                      (unsigned long)heap.Used.total, (unsigned long)heap.Free.total,
                      (unsigned long)heap.Free.largest);
}

#else

static void callHeap(const iocshArgBuf *args)
{
    struct mallinfo2 heap = mallinfo2();

    (void)args;
    epicsStdoutPrintf("demoHeap: %lu bytes in use\n", (unsigned long)(heap.uordblks + heap.hblkhd));
}

#endif

void demoHeapRegister(void)
{
    iocshRegister(&heapDef, callHeap);
}
