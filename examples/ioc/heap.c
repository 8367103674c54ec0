/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The shell command demoHeap: what the IOC holds from malloc, and on RTEMS what is left of it.
 * There also demoEvents: what base itself loses with each event that it destroys. */
#include "heap.h"

#include <malloc.h>

#ifdef __rtems__
#include <rtems.h>
#include <rtems/libcsupport.h>
#endif

#include <epicsEvent.h>
#include <epicsStdio.h>
#include <iocsh.h>

static const iocshFuncDef heapDef = {"demoHeap", 0, NULL,
                                     "Prints the bytes that this process holds from malloc.\n"};

#ifdef __rtems__

#define EVENTS 100u

static const iocshFuncDef eventsDef = {"demoEvents", 0, NULL,
                                       "Creates and destroys events: prints the bytes lost.\n"};

/* An ended thread's stack is free only after a snapshot, or after the next creation of a thread. */
static Heap_Information_block look(void)
{
    rtems_resource_snapshot snapshot;

    rtems_resource_snapshot_take(&snapshot);
    return snapshot.heap_info;
}

static void callHeap(const iocshArgBuf *args)
{
    const Heap_Information_block heap = look();

    (void)args;
    epicsStdoutPrintf("demoHeap: %lu bytes in use, %lu free, the largest free block %lu\n",
                      (unsigned long)heap.Used.total, (unsigned long)heap.Free.total,
                      (unsigned long)heap.Free.largest);
}

static void callEvents(const iocshArgBuf *args)
{
    const Heap_Information_block before = look();
    Heap_Information_block after;
    unsigned i;

    (void)args;
    for (i = 0; i < EVENTS; i++) {
        epicsEventDestroy(epicsEventMustCreate(epicsEventEmpty));
    }
    after = look();
    epicsStdoutPrintf("demoEvents: %lu bytes lost by %u events\n",
                      (unsigned long)(before.Free.total - after.Free.total), EVENTS);
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
#ifdef __rtems__
    iocshRegister(&eventsDef, callEvents);
#endif
}
