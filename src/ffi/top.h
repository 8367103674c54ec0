/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Generated from src/ffi by cbindgen. Change it there, then: make header. */

/*
 * Crew: who may run, on which threads, in which memory, inside one IOC.
 *
 * This header has what all services share: the process with its port, its account and its report,
 * and the worker loop. It includes the header of each service.
 *
 * A pool lends whole sets of persistent threads (crew_pool.h). A connection acquires a set, runs a
 * job on each of its members, and releases it:
 *
 *     crew_lease lease;
 *     crew_refusal why = CREW_REFUSAL_INIT;
 *     int32_t status = crew_acquire(pool, 0, &lease, &why);
 *     if (status != CREW_OK) { tell the client; return; }
 *     crew_run(lease, READER, "read", reader, connection, &job);
 *     ...
 *     crew_release(lease);
 *
 * A fleet is a table of limited things that the processes of a machine share (crew_fleet.h; its
 * shared memory is in crew_fleet_shm.h).
 *
 * CONVENTIONS, for every function unless it says otherwise
 *
 * Statuses.    Functions return an int32_t status: CREW_OK (0), a refusal (1 to 19: a result, the
 *              caller decides), an answer (20 to 39: what was found instead), or a caller's error
 *              (40 and up); a fleet's own are answers (100 to 119) and errors (120 and up). Numbers
 *              are never reused. On any status but CREW_OK nothing was changed.
 * Arguments.   Out-parameters come last and are written only on CREW_OK (a crew_refusal: only when
 *              refused). A NULL where none is allowed is CREW_NULL_ARGUMENT. Structs begin with
 *              their size; initialise them with their INIT macro. A size that this library does not
 *              know is CREW_BAD_SIZE.
 * Handles.     Pools, leases, jobs, charges and fleets are 64-bit values, passed and copied by
 *              value. All zeros is never valid. A handle whose object has ended is CREW_STALE for
 *              ever (until 2^29 later lives of the same slot; a fleet's: 2^20); what never was a
 *              handle of that kind is CREW_BAD_HANDLE. Nothing is read through a handle.
 * Text.        NUL-terminated, printable ASCII, within the bound that the function names; no more
 *              than the bound is read. Text is copied; the caller keeps its own.
 * Threads.     Every function may be called from any thread at any time, also from jobs, except
 *              where BOOT ONLY is said: call those from the thread that starts the process up. None
 *              may be called from an interrupt or a signal handler.
 * Blocking.    Only crew_acquire, crew_join, crew_fleet_wait, crew_fleet_wait_any (each with a
 *              time-out), crew_pool_close, crew_pool_trim and a growth that has to undo itself
 *              wait, each with a bound. No function spins on, or takes a lock of, another thread.
 * Memory.      crew_run, crew_join, crew_release, acquiring an idle set, and every crew_fleet_...
 *              call allocate nothing, ever. Only growth (crew_pool_open with prestart, crew_acquire
 *              when no set is idle, crew_seal) makes threads. Nothing is allocated by the library
 *              itself; its tables are static, their sizes are below.
 * Cancellation. No Rust frame is live while a job runs or a worker waits: a job may end its thread
 *              (pthread_exit, cancellation, task deletion) and loses nothing but its set. The calls
 *              into this library themselves must not be cancelled half way: csrc/worker.c disables
 *              cancellation around its own; other callers that may be cancelled do the same.
 * Processes.   Crew is of one process. A child that was forked has the tables and none of their
 *              threads: it may exec or end, and must call no function of this library. The parent
 *              goes on as before. (A fleet is shared by processes, and each joins it for itself.)
 * Time.        Milliseconds, unsigned; 0 never waits. Ages are seconds.
 */
#ifndef CREW_H
#define CREW_H

#include <stddef.h>
#include <stdint.h>
