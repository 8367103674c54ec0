/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "crewPortEpics.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include <epicsAtomic.h>
#include <epicsExit.h>
#include <epicsThread.h>
#include <epicsTime.h>

#include "crewLibCom.h"
#include "crewLog.h"
#include "crew_call_cxx.h"
#include "crew_worker.h"

#ifdef __rtems__
#include "posix/crew_rtems.h"
#endif

/* CREW_PORT_WITHOUT_FUTEX: to test the other kind on Linux. */
#if defined(__linux__) && !defined(CREW_PORT_WITHOUT_FUTEX)
#include "posix/event_futex.h"
#elif defined(__rtems__)
#include "posix/event_rtems.h"
#else
#include "crewEventEpics.h"
#endif

/* libCom exports it for its own ports, its headers do not show it. */
extern void osdThreadHooksRun(epicsThreadId id);

/* One per worker number of the core. The address is the port's thread handle. */
typedef struct member {
    EpicsAtomicPtrT id; /* NULL: no thread */
    uint32_t worker;
    unsigned priority; /* the role's own */
} member;

static member members[CREW_MAX_WORKERS];
static int workersSeen; /* one more than the highest worker number that ever had a thread */
static epicsThreadPrivateId selfKey; /* a member's own record */
static int realTime = -1;

/* ---- a member's life ---- */

static void callJob(const crew_work *work, int32_t *outcome, int32_t *value)
{
    const member *self = epicsThreadPrivateGet(selfKey);
    epicsThreadId id = epicsThreadGetIdSelf();

    osdThreadHooksRun(id);
    crew_call_cxx(work, outcome, value);
    epicsExitCallAtThreadExits();
    epicsThreadSetOkToBlock(0);
    if (epicsThreadGetPriority(id) != self->priority) {
        epicsThreadSetPriority(id, self->priority);
    }
}

static int systemPriority(void)
{
    struct sched_param parameters;
    int policy;

    return pthread_getschedparam(pthread_self(), &policy, &parameters) == 0
               ? parameters.sched_priority
               : 0;
}

/* Without permission, or without the site setting that it takes on RTEMS, EPICS priorities change
 * nothing and no call fails. Seen by trying: a thread that changes its EPICS priority from one end
 * to the other. */
static void probePriorities(const member *self)
{
    const epicsThreadId id = epicsThreadGetIdSelf();
    int before;
    int other;

    if (epicsAtomicCmpAndSwapIntT(&realTime, -1, 0) != -1) {
        return;
    }
    before = systemPriority();
    epicsThreadSetPriority(id,
                           self->priority > 50u ? epicsThreadPriorityMin : epicsThreadPriorityMax);
    other = systemPriority();
    epicsThreadSetPriority(id, self->priority);
    if (other != before) {
        epicsAtomicSetIntT(&realTime, 1);
    } else {
#ifdef __rtems__
        crewLog(errlogMinor,
                "EPICS priorities have no effect here, all threads run at one priority: build "
                "base with EPICS_ALLOW_POSIX_THREAD_PRIORITY_SCHEDULING=YES");
#else
        crewLog(errlogInfo,
                "EPICS priorities have no effect here, all threads run at one priority: the "
                "process may not use SCHED_FIFO (rtprio limit, CAP_SYS_NICE)");
#endif
    }
}

static void memberMain(void *parameter)
{
    member *self = parameter;

    epicsAtomicSetPtrT(&self->id, epicsThreadGetIdSelf());
    epicsThreadPrivateSet(selfKey, self);
    probePriorities(self);
    epicsExitCallAtThreadExits(); /* undoes the start hooks of this thread: they run for each job */
    crew_worker_main(self->worker, crewPortEpics(), callJob);
}

/* ---- the port's functions ---- */

static int32_t threadCreate(void *context, const crew_thread_spec *spec, uintptr_t *thread)
{
    epicsThreadOpts options = EPICS_THREAD_OPTS_INIT;
    member *made;
    epicsThreadId id;
    sigset_t signals;
    int seen;

    (void)context;
    if (spec->worker >= CREW_MAX_WORKERS || spec->stack_bytes < crewPortEpicsStackMin()) {
        return EINVAL; /* below its minimum libCom would silently take the system's default stack */
    }
    made = &members[spec->worker];
    made->worker = spec->worker;
    made->priority = spec->priority;
    options.priority = spec->priority;
    options.stackSize = spec->stack_bytes;
    options.joinable = 1;

    (void)pthread_sigmask(SIG_SETMASK, NULL, &signals);
    errno = 0;
    id = crewRealThreadCreateOpt(spec->name, memberMain, made, &options);
    if (id == NULL) {
        /* libCom does not say which; the rest is a limit. */
        const int error = errno == ENOMEM ? ENOMEM : EAGAIN;

        /* libCom leaves every signal blocked when it fails. */
        (void)pthread_sigmask(SIG_SETMASK, &signals, NULL);
        return error;
    }
    epicsAtomicSetPtrT(&made->id, id);
    do {
        seen = epicsAtomicGetIntT(&workersSeen);
    } while (seen <= (int)spec->worker &&
             epicsAtomicCmpAndSwapIntT(&workersSeen, seen, (int)spec->worker + 1) != seen);
    *thread = (uintptr_t)made;
    return 0;
}

/* The exit hook has begun, so the thread is in its last instructions and the join is short; unless
 * a thread of a priority between keeps it from running, hence the caller's priority for it. */
static int32_t threadReap(void *context, uintptr_t thread)
{
    member *ended = (member *)thread;
    epicsThreadId id = epicsAtomicGetPtrT(&ended->id);
    const unsigned own = epicsThreadGetPrioritySelf();

    (void)context;
    if (epicsThreadGetPriority(id) < own) {
        epicsThreadSetPriority(id, own);
    }
    /* Before the join: afterwards the id may belong to another thread. */
    epicsAtomicSetPtrT(&ended->id, NULL);
    crewRealThreadMustJoin(id);
    return 1;
}

static int32_t threadSuspended(void *context, uintptr_t thread)
{
    epicsThreadId id = epicsAtomicGetPtrT(&((member *)thread)->id);

    (void)context;
    return id != NULL && epicsThreadIsSuspended(id);
}

#ifdef __rtems__

static size_t stackUsed(void *context, uintptr_t thread)
{
    epicsThreadId id = epicsAtomicGetPtrT(&((member *)thread)->id);

    (void)context;
    return id != NULL ? crew_rtems_stack_used(epicsThreadGetPosixThreadId(id)) : 0;
}

static uint64_t clockMs(void *context)
{
    (void)context;
    return crew_rtems_clock_ms();
}

static int32_t memoryHas(void *context, size_t bytes, const char **basis)
{
    (void)context;
    return crew_rtems_memory_has(bytes, basis);
}

#else

#define stackUsed NULL

static uint64_t clockMs(void *context)
{
    (void)context;
    return epicsMonotonicGet() / 1000000u;
}

/* A host gives address space now and decides about memory later; how much a VxWorks kernel has is
 * not known here. */
static int32_t memoryHas(void *context, size_t bytes, const char **basis)
{
    (void)context;
    (void)bytes;
    (void)basis;
    return -1;
}

#endif

static void logLine(void *context, int32_t severity, const char *text)
{
    const errlogSevEnum lesser = severity == CREW_SEVERITY_MINOR ? errlogMinor : errlogInfo;

    (void)context;
    crewLog(severity == CREW_SEVERITY_MAJOR ? errlogMajor : lesser, "%s", text);
}

const crew_port *crewPortEpics(void)
{
    static const crew_port epics = {
        sizeof(crew_port),
#if defined(__rtems__)
        CREW_TARGET_RTEMS,
#elif defined(vxWorks)
        CREW_TARGET_VXWORKS,
#else
        CREW_TARGET_HOST,
#endif
        0, /* a C thread costs its declared stack: seen on RTEMS 7 and on VxWorks 7 */
        NULL,
        threadCreate,
        threadReap,
        threadSuspended,
        event_create,
        event_wait,
        event_post,
        clockMs,
        memoryHas,
        stackUsed,
        logLine,
    };

    return &epics;
}

/* ---- for the shell and the drop-in ---- */

int32_t crewPortEpicsBoot(const char *budget)
{
    crew_boot_options options = CREW_BOOT_OPTIONS_INIT;

    (void)epicsThreadGetIdSelf(); /* libCom's threads are initialised by their first use */
    crewLogInit();
    if (selfKey == NULL) {
        selfKey = epicsThreadPrivateCreate();
    }
    if (selfKey == NULL || crew_worker_hook_init() != 0) {
        return CREW_BAD_PORT;
    }
    options.budget_text = budget;
    options.port = crewPortEpics();
    return crew_boot(&options);
}

uint32_t crewPortEpicsStackMin(void)
{
#ifdef _SC_THREAD_STACK_MIN
    const long least = sysconf(_SC_THREAD_STACK_MIN);

    return least > CREW_STACK_MIN ? (uint32_t)least : CREW_STACK_MIN;
#else
    return CREW_STACK_MIN;
#endif
}

int32_t crewPortEpicsWorker(epicsThreadId id)
{
    const int seen = epicsAtomicGetIntT(&workersSeen);
    int i;

    for (i = 0; i < seen; i++) {
        if (epicsAtomicGetPtrT(&members[i].id) == (EpicsAtomicPtrT)id) {
            return i;
        }
    }
    return -1;
}

epicsThreadId crewPortEpicsId(uintptr_t thread)
{
    return epicsAtomicGetPtrT(&((const member *)thread)->id);
}

uint32_t crewPortEpicsHandleWorker(uintptr_t thread)
{
    return ((const member *)thread)->worker;
}

int crewPortEpicsRealTime(void)
{
    return epicsAtomicGetIntT(&realTime);
}
