/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "crew_worker.h"

#ifdef __rtems__
#include "posix/cancel_rtems.h"
#else
#include "posix/cancel_posix.h"
#endif

#include <pthread.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

static pthread_once_t hook_once = PTHREAD_ONCE_INIT;
static pthread_key_t hook_key;
static int hook_error;

/* A cancelled thread's frames are gone, which the address sanitizer cannot see. */
static void forget_left_frames(void)
{
#ifdef __SANITIZE_ADDRESS__
    pthread_attr_t attr;
    void *base;
    size_t bytes;

    if (pthread_getattr_np(pthread_self(), &attr) == 0) {
        if (pthread_attr_getstack(&attr, &base, &bytes) == 0) {
            __asan_unpoison_memory_region(base, bytes);
        }
        (void)pthread_attr_destroy(&attr);
    }
#endif
}

/* The key's destructor. The value is the worker's number plus one, because destructors are not run
   for NULL. */
static void hook_run(void *value)
{
    cancel_mode ignored;

    /* Not put back: the thread is ending, and a second end inside the first must not happen. */
    cancel_off(&ignored);
    forget_left_frames();
    crew_worker_exited((uint32_t)((uintptr_t)value - 1u));
}

static void hook_make(void)
{
    hook_error = pthread_key_create(&hook_key, hook_run);
}

int32_t crew_worker_hook_init(void)
{
    int error = pthread_once(&hook_once, hook_make);

    return (int32_t)(error != 0 ? error : hook_error);
}

static int hook_hang(uint32_t worker)
{
    return crew_worker_hook_init() == 0 &&
           pthread_setspecific(hook_key, (const void *)((uintptr_t)worker + 1u)) == 0;
}

static void run_job(const crew_work *work, crew_caller caller, int32_t *outcome, int32_t *value)
{
    if (caller != NULL) {
        caller(work, outcome, value);
    } else {
        *value = work->function(work->argument);
        *outcome = CREW_JOB_RETURNED;
    }
}

void crew_worker_main(uint32_t worker, const crew_port *port, crew_caller caller)
{
    cancel_mode own;
    cancel_mode ignored;
    crew_work work;
    int32_t next;

    cancel_off(&own);
    if (!hook_hang(worker)) {
        crew_worker_exited(worker);
        return;
    }
    /* Left with cancellation off, so that no late request can fall between the return and the key's
       destructor. */
    while ((next = crew_worker_next(worker, &work)) != CREW_WORK_STOP) {
        if (next == CREW_WORK_RUN) {
            int32_t outcome = CREW_JOB_FAILED;
            int32_t value = 0;

            cancel_back(&own);
            run_job(&work, caller, &outcome, &value);
            cancel_off(&ignored);
            crew_worker_done(worker, outcome, value);
            cancel_between_jobs();
        } else {
            cancel_back(&own);
            (void)port->event_wait(port->context, work.event, work.wait_ms);
            /* For an event_wait that is no cancellation point: no job has been taken up, so none is
               lost. */
            pthread_testcancel();
            cancel_off(&ignored);
        }
    }
}
