/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* RTEMS's configuration, and the thread that it starts. */
#include "app.h"

#include <pthread.h>
#include <rtems.h>
#include <rtems/version.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *POSIX_Init(void *argument);

/* Between the workers' priorities, 10 and 20 on EPICS' scale. */
#define OWN_PRIORITY 40

void *POSIX_Init(void *argument)
{
    struct sched_param param;

    (void)argument;
    memset(&param, 0, sizeof(param));
    param.sched_priority = OWN_PRIORITY;
    (void)pthread_setschedparam(pthread_self(), SCHED_FIFO, &param);
    (void)printf("\nCrew on %s\n", rtems_version());
    exit(console());
}

#define CONFIGURE_APPLICATION_NEEDS_CLOCK_DRIVER
#define CONFIGURE_APPLICATION_NEEDS_CONSOLE_DRIVER
/* A tenth of the usual, so that the tests which end a worker with a tick take less time. */
#define CONFIGURE_MICROSECONDS_PER_TICK 1000

/*
 * As many threads as the tests have at one time, and no objects without a limit: RTEMS would make
 * those in blocks between the stacks, and keep some of them, so that the heap is in pieces when the
 * threads have gone (README.md).
 */
#define CONFIGURE_MAXIMUM_POSIX_THREADS 320
#define CONFIGURE_MAXIMUM_POSIX_KEYS 8
#define CONFIGURE_MAXIMUM_POSIX_KEY_VALUE_PAIRS (2 * CONFIGURE_MAXIMUM_POSIX_THREADS)
#define CONFIGURE_UNIFIED_WORK_AREAS

/* The high-water marks need it, and a board should have it. */
#define CONFIGURE_STACK_CHECKER_ENABLED

#define CONFIGURE_POSIX_INIT_THREAD_TABLE
#define CONFIGURE_POSIX_INIT_THREAD_STACK_SIZE (64 * 1024)

#define CONFIGURE_INIT
#include <rtems/confdefs.h>
