/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The POSIX port's own ways in a VxWorks real-time process. Included by port_posix.c only. */
#ifndef CREW_VXWORKS_H
#define CREW_VXWORKS_H

#include <vxWorks.h>

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

/* EPICS' priority 0 on the POSIX scale of VxWorks, where 255 is highest: the native 199, which
   EPICS base uses there. 99 becomes the native 100, below the network's task at 50. */
#define CREW_VXWORKS_PRIORITY_ZERO (255 - 199)

static int crew_vxworks_priority(uint32_t priority)
{
    return CREW_VXWORKS_PRIORITY_ZERO + (int)priority;
}

/* The thread that is made with `attr` gets this name. The text must last until then. */
static int crew_vxworks_name(pthread_attr_t *attr, const char *name)
{
    return pthread_attr_setname(attr, (char *)(uintptr_t)name);
}

/* One mapping without access, unmapped at once: the only figure there that tracks the wall. It
   under-reads (192 MiB confirmed where 254 could be had in pieces), which is the safe side. */
static int32_t crew_vxworks_memory_has(size_t bytes, const char **basis)
{
    void *range = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (range == MAP_FAILED) {
        *basis = "has no unused address range of that size left";
        return 0;
    }
    (void)munmap(range, bytes);
    return 1;
}

#endif
