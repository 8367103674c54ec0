/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Stand-ins on Linux for the VxWorks functions that Crew and Rust's std call, so that an archive
 * built for VxWorks can be linked and run here. It shows that the archive and the port hold
 * together; it shows nothing about VxWorks itself.
 *
 * Linked with SHIM_WRAPS of the Makefile here, it also sees every mapping, thread, name and
 * priority that is asked for.
 */
#ifndef LINUX_SHIM_H
#define LINUX_SHIM_H

#include <stddef.h>
#include <stdint.h>

#define SHIM_NO_LIMIT SIZE_MAX
/* The default of VxWorks. Waits end on a tick. */
#define SHIM_TICKS_PER_SECOND 60
/* errno after semBCreate has refused: a number of this shim's, with a module in its upper half as
   VxWorks' have. */
#define SHIM_NO_SEMAPHORE 0x160001

/* How many more semaphores semBCreate makes before it refuses. */
void shim_semaphores_left(size_t count);
/* The largest mapping that mmap grants. */
void shim_largest_mapping(size_t bytes);

/* The time-out of the calling thread's last semTake. */
uint64_t shim_ticks(void);

/* Semaphores and threads made so far. */
size_t shim_semaphores_made(void);
size_t shim_threads_made(void);

/* Mappings asked for so far, and the size of the nth of them (from 0); bytes of them not yet
   unmapped. */
size_t shim_mappings_asked(void);
size_t shim_mapping_asked(size_t nth);
size_t shim_mapped_bytes(void);
/* Mappings that were not anonymous, private and without access. */
size_t shim_odd_mappings(void);

/* Of the calling thread: its name as VxWorks was told it, and its policy and priority on VxWorks'
   POSIX scale. */
const char *shim_name(void);
int shim_policy(void);
int shim_priority(void);

#endif
