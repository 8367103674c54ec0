/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* robust mutexes, where the compiler is asked for no more than C */
#endif

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
#ifdef __linux__
    int lockMade;
    pthread_mutex_t running; /* the thread's, from its begin until the kernel has ended it */
#endif
} member;

static member members[CREW_MAX_WORKERS];
static int workersSeen; /* one more than the highest worker number that ever had a thread */
static epicsThreadPrivateId selfKey; /* a member's own record */
static int realTime = -1;

/* ---- a member's life ----
 *
 * libCom has a join that waits, and no question whether it would have to. A thread that has told
 * the core of its end may still be in thread-specific destructors that come after that, for as long
 * as these take. So the join is left until it cannot wait any more:
 *
 *  - Linux: a member has a robust mutex from its first instruction on. The kernel itself takes it
 *    away, when the thread runs no more code of the process.
 *  - RTEMS: the thread's state says that it has nothing left but to be joined.
 *  - Elsewhere nothing tells, and the join may wait for the thread's last instructions.
 */

#ifdef __linux__

static int lifeMake(member *made)
{
    pthread_mutexattr_t attributes;
    int error = 0;

    if (!made->lockMade) {
        error = pthread_mutexattr_init(&attributes);
        if (error == 0) {
            error = pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
            if (error == 0) {
                error = pthread_mutex_init(&made->running, &attributes);
            }
            (void)pthread_mutexattr_destroy(&attributes);
        }
        made->lockMade = error == 0;
    }
    return error;
}

static void lifeBegin(member *self)
{
    (void)pthread_mutex_lock(&self->running);
}

static int lifeHasEnded(member *ended, epicsThreadId id)
{
    const int error = pthread_mutex_trylock(&ended->running);

    (void)id;
    if (error == EBUSY) {
        return 0;
    }
    if (error == EOWNERDEAD) {
        (void)pthread_mutex_consistent(&ended->running);
    }
    (void)pthread_mutex_unlock(&ended->running);
    return 1;
}

#else

static int lifeMake(member *made)
{
    (void)made;
    return 0;
}

static void lifeBegin(member *self)
{
    (void)self;
}

static int lifeHasEnded(member *ended, epicsThreadId id)
{
    (void)ended;
#ifdef __rtems__
    /* libCom's threads begin with their id as their argument. */
    return crew_rtems_thread_can_be_joined(epicsThreadGetPosixThreadId(id), id);
#else
    (void)id;
    return 1;
#endif
}

#endif

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

    lifeBegin(self);
    epicsAtomicSetPtrT(&self->id, epicsThreadGetIdSelf());
    epicsThreadPrivateSet(selfKey, self);
    probePriorities(self);
    epicsExitCallAtThreadExits(); /* undoes the start hooks of this thread: they run for each job */
    crew_worker_main(self->worker, crewPortEpics(), callJob);
}

/* ---- the port's functions ---- */

#ifdef __linux__

static void *trialMain(void *argument)
{
    return argument;
}

/* libCom does not say why it made no thread, and errno need not be that call's. So the system is
 * asked: for a thread with this stack that does nothing. EINVAL: the stack does not hold the
 * thread-local storage of the program and its libraries, which lies in it. */
static int whyNoThread(size_t stackBytes)
{
    pthread_attr_t attributes;
    pthread_t thread;
    int state;
    int error = pthread_attr_init(&attributes);

    if (error != 0) {
        return error;
    }
    (void)pthread_attr_setstacksize(&attributes, stackBytes);
    error = pthread_create(&thread, &attributes, trialMain, NULL);
    (void)pthread_attr_destroy(&attributes);
    if (error != 0) {
        return error;
    }
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    (void)pthread_join(thread, NULL);
    (void)pthread_setcancelstate(state, NULL);
    return EAGAIN; /* it would make one now */
}

#else

static int whyNoThread(size_t stackBytes)
{
    (void)stackBytes;
    return errno == ENOMEM ? ENOMEM : EAGAIN;
}

#endif

static int32_t threadCreate(void *context, const crew_thread_spec *spec, uintptr_t *thread)
{
    epicsThreadOpts options = EPICS_THREAD_OPTS_INIT;
    member *made;
    epicsThreadId id;
    sigset_t signals;
    int seen;
    int failure;

    (void)context;
    if (spec->worker >= CREW_MAX_WORKERS || spec->stack_bytes < crewPortEpicsStackMin()) {
        return EINVAL; /* below its minimum libCom would silently take the system's default stack */
    }
    made = &members[spec->worker];
    failure = lifeMake(made);
    if (failure != 0) {
        return failure;
    }
    made->worker = spec->worker;
    made->priority = spec->priority;
    options.priority = spec->priority;
    options.stackSize = spec->stack_bytes;
    options.joinable = 1;

    (void)pthread_sigmask(SIG_SETMASK, NULL, &signals);
    errno = 0;
    id = crewRealThreadCreateOpt(spec->name, memberMain, made, &options);
    if (id == NULL) {
        const int error = whyNoThread(spec->stack_bytes);

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

/* A thread of a priority between could keep the ended one from its last instructions, hence the
 * caller's priority for it. */
static int32_t threadReap(void *context, uintptr_t thread)
{
    member *ended = (member *)thread;
    epicsThreadId id = epicsAtomicGetPtrT(&ended->id);
    const unsigned own = epicsThreadGetPrioritySelf();

    (void)context;
    if (epicsThreadGetPriority(id) < own) {
        epicsThreadSetPriority(id, own);
    }
    if (!lifeHasEnded(ended, id)) {
        return 0;
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

/* errlog lets a thread that may block wait until its line is on the console; a line of Crew's is
 * only queued. What errlog's buffer has no room for, errlog counts and tells. */
static void logLine(void *context, int32_t severity, const char *text)
{
    const errlogSevEnum lesser = severity == CREW_SEVERITY_MINOR ? errlogMinor : errlogInfo;
    const int mayBlock = epicsThreadIsOkToBlock();

    (void)context;
    if (mayBlock) {
        epicsThreadSetOkToBlock(0);
    }
    crewLog(severity == CREW_SEVERITY_MAJOR ? errlogMajor : lesser, "%s", text);
    if (mayBlock) {
        epicsThreadSetOkToBlock(1);
    }
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
