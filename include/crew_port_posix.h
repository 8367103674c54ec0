/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The port on POSIX threads: Linux hosts, RTEMS, and VxWorks real-time processes.
 *
 * Threads are joinable, carry the role's name (15 characters) and stack (rounded up to pages, never
 * below the system's minimum), and block every signal but those that report a fault of the thread
 * itself. Priorities 0..99 are spread evenly over the range of SCHED_FIFO where the process is
 * permitted to use it (on Linux: CAP_SYS_NICE, or RLIMIT_RTPRIO of at least the highest value asked
 * for). Where it is not, workers get the default policy, priorities have no effect, and one line on
 * standard error says so. On VxWorks they are EPICS base's: the native 199 to 100. Log lines go to
 * standard error, one write each.
 *
 * On RTEMS threads are detached, and their end is seen without a join: rtems_task_delete joins by
 * itself, after which the thread's id may be another thread's. Events are static, 24 bytes each, as
 * many as the tables need and 32 more. With the stack checker in the image, high-water marks are
 * known. Waits last whole clock ticks.
 */
#ifndef CREW_PORT_POSIX_H
#define CREW_PORT_POSIX_H

#include "crew.h"
#include "crew_worker.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The port, ready for crew_boot_options.port; it lives for ever. Any thread, any number of times.
 * NULL when the process has no thread-specific key left for the exit hook.
 */
const crew_port *crew_port_posix(void);

/*
 * How workers call their jobs: crew_call_cxx in an image with C++ jobs, NULL (the default) for a
 * direct call. For the whole process; call it before crew_boot, workers that exist already keep
 * what they have. Any thread.
 */
void crew_port_posix_use_caller(crew_caller caller);

#ifdef __cplusplus
}
#endif

#endif
