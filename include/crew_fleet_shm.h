/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Fleet leases in POSIX shared memory, for the processes of one machine. The same memory as that of
 * the Rust library's shim::fleet::Shared: C and Rust processes share one table.
 *
 * A node's lane is held by something that the system takes away when its process ends, however it
 * ends; so no death has to be reported. On Linux: a lock on one byte of the memory's file, of the
 * kind that belongs to the open file (F_OFD_SETLK). A child that was forked and runs on without
 * exec holds its parent's lane while it lives. Waits are futexes. On VxWorks: a public semaphore
 * that is deleted on its last close; waits are on one such semaphore for the whole table, in pieces
 * of a second at most. That part is compiled, and was not run on VxWorks.
 *
 * A peer that may open the memory may also make it shorter, and then the system ends each process
 * that touches the missing part: `mode` decides which users are trusted that far.
 */
#ifndef CREW_FLEET_SHM_H
#define CREW_FLEET_SHM_H

#include "crew.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Maps the shared memory `shm_name` (1 to 200 characters without a slash but a leading one, not
 * beginning with a dot), makes it with the permissions `mode` if there is none (0660: the user and
 * the group), and joins the table in it. `name` is what reports call this node, NULL or as
 * crew_fleet_options.name. All that the table takes is set aside now, not when it is touched. Any
 * thread.
 *
 * CREW_NULL_ARGUMENT, CREW_BAD_TEXT (a name), CREW_FLEET_SYSTEM (errno says what the system
 * refused), CREW_TABLE_FULL; else as crew_fleet_join.
 */
int32_t crew_fleet_shm_join(const char *shm_name, const crew_fleet_geometry *geometry,
                            uint32_t mode, const char *name, crew_fleet *fleet);

/*
 * Leaves (crew_fleet_leave) and gives back what crew_fleet_shm_join took; the memory stays for
 * others. CREW_BUSY while another thread's call on this fleet is under way: call again. Ends the
 * descriptor.
 *
 * CREW_BUSY, CREW_STALE (left before), CREW_BAD_HANDLE (not joined by crew_fleet_shm_join, or left
 * long ago).
 */
int32_t crew_fleet_shm_leave(crew_fleet fleet);

/*
 * The geometry that the table of that name was made with: after CREW_FLEET_OTHER_GEOMETRY, to say
 * what differs. `geometry` comes initialised and is overwritten. Any thread.
 *
 * CREW_NULL_ARGUMENT, CREW_BAD_TEXT, CREW_FLEET_SYSTEM (errno), CREW_FLEET_TOO_SMALL; else as
 * crew_fleet_geometry_of.
 */
int32_t crew_fleet_shm_geometry(const char *shm_name, crew_fleet_geometry *geometry);

/*
 * Takes the memory's name away. A process that has it mapped keeps it; the next to join by that
 * name makes a new table.
 *
 * CREW_NULL_ARGUMENT, CREW_BAD_TEXT, CREW_FLEET_SYSTEM (errno).
 */
int32_t crew_fleet_shm_unlink(const char *shm_name);

/*
 * A descriptor that becomes readable when anything in the table changes, for loops that wait on
 * descriptors; one per fleet, until crew_fleet_shm_leave. The first call makes it, and a small
 * thread that waits for it. Any number of changes make it readable once. Call crew_fleet_shm_clear,
 * then try (an acquire, for example), then wait until it is readable: a change between the try and
 * the wait makes it so. Linux only: elsewhere CREW_FLEET_SYSTEM.
 *
 * CREW_NULL_ARGUMENT, CREW_FLEET_SYSTEM (errno), CREW_BUSY (another thread's call of this header on
 * this fleet), CREW_STALE, CREW_BAD_HANDLE.
 */
int32_t crew_fleet_shm_descriptor(crew_fleet fleet, int *descriptor);

/*
 * Makes the descriptor unreadable until something changes.
 *
 * CREW_BUSY (as above), CREW_BAD_VALUE (there is no descriptor yet), CREW_BAD_HANDLE.
 */
int32_t crew_fleet_shm_clear(crew_fleet fleet);

#ifdef __cplusplus
}
#endif

#endif
