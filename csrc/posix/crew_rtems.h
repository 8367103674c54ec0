/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The calls beyond POSIX that the ports make to RTEMS (6 and 7). Internal to csrc; a port of one's
 * own may include it.
 *
 * Ended threads. A thread that has ended, and has been joined if it can be, keeps its stack until
 * the next thread is made. RTEMS calls it a zombie. Nothing that looks at free memory sees that
 * stack, so each question here frees it first.
 */
#ifndef CREW_RTEMS_H
#define CREW_RTEMS_H

#include "crew.h"

#include <pthread.h>
#include <rtems.h>
#include <rtems/malloc.h>
#include <rtems/score/apimutex.h>
#include <rtems/score/statesimpl.h>
#include <rtems/score/threadimpl.h>
#include <stddef.h>
#include <stdint.h>

/* The stack checker writes four words at a stack's end, and this in each word that the thread has
   not used yet. */
#define CREW_RTEMS_STACK_END { 0xFEEDF00Du, 0x0BAD0D06u, 0xDEADF00Du, 0x600D0D06u }
#define CREW_RTEMS_STACK_END_WORDS 4u
#define CREW_RTEMS_STACK_UNUSED 0xA5A5A5A5u

/* Frees the stacks of ended threads. Takes the allocator's mutex, as any malloc does. */
static inline void crew_rtems_free_ended_threads(void)
{
    _RTEMS_Lock_allocator();
    _Thread_Kill_zombies();
    _RTEMS_Unlock_allocator();
}

/* crew_port.memory_has. malloc_free_space answers with the largest free block of the heap, in 6 and
   in 7. */
static inline int32_t crew_rtems_memory_has(size_t bytes, const char **basis)
{
    *basis = "has no free block of that size in the heap its thread stacks come from";
    crew_rtems_free_ended_threads();
    return malloc_free_space() >= bytes ? 1 : 0;
}

/*
 * crew_port.thread_reap for threads that were made detached with the start routine `start`, and
 * whose end has begun. 1: the thread is gone, its stack included. Does not wait.
 *
 * It must not join. rtems_task_delete joins the thread itself, and then its id soon belongs to
 * another thread, which a late pthread_join would wait for, or take away from its owner. Here a
 * thread of the same id that is another one is seen by its start routine, or by its not being about
 * to end. Should it be another of these workers that ends just now, "not yet" is merely said once
 * more.
 */
static inline int32_t crew_rtems_thread_gone(pthread_t thread, void *(*start)(void *))
{
    ISR_lock_Context lock;
    const Thread_Control *found;

    found = _Thread_Get(thread, &lock);
    if (found != NULL) {
        const int is_ending = (found->Life.state & THREAD_LIFE_TERMINATING) != 0u;
        const int is_same = found->Start.Entry.Kinds.Pointer.entry == start;

        _ISR_lock_ISR_enable(&lock);
        if (is_ending && is_same) {
            return 0;
        }
    }
    crew_rtems_free_ended_threads();
    return 1;
}

/*
 * Whether pthread_join of this thread returns at once. `argument`: what its start routine was
 * given, by which a thread that has got its id since is told from it. Does not wait.
 */
static inline int crew_rtems_thread_can_be_joined(pthread_t thread, const void *argument)
{
    ISR_lock_Context lock;
    const Thread_Control *found;
    int is_same;
    int is_waiting;

    found = _Thread_Get(thread, &lock);
    if (found == NULL) {
        return 1; /* gone, joined by rtems_task_delete: a join only says so */
    }
    is_same = found->Start.Entry.Kinds.Pointer.argument == argument;
    is_waiting = _States_Is_waiting_for_join_at_exit(found->current_state);
    _ISR_lock_ISR_enable(&lock);
    return is_same && is_waiting;
}

/* crew_port.stack_used: the most that the thread has used. 0 when the image has no stack
   checker. */
static inline size_t crew_rtems_stack_used(pthread_t thread)
{
    static const uint32_t end[CREW_RTEMS_STACK_END_WORDS] = CREW_RTEMS_STACK_END;
    ISR_lock_Context lock;
    const Thread_Control *found;
    const uint32_t *words;
    size_t bytes;
    size_t i;

    found = _Thread_Get(thread, &lock);
    if (found == NULL) {
        return 0;
    }
    words = (const uint32_t *)found->Start.Initial_stack.area;
    bytes = found->Start.Initial_stack.size;
    _ISR_lock_ISR_enable(&lock);
    for (i = 0; i < CREW_RTEMS_STACK_END_WORDS; i++) {
        if (words[i] != end[i]) {
            return 0;
        }
    }
    while (i < bytes / sizeof(*words) && words[i] == CREW_RTEMS_STACK_UNUSED) {
        i++;
    }
    return bytes - i * sizeof(*words);
}

/* crew_port.clock_ms, to the last tick: ages and time-outs need no better, and each lease reads
   this clock. */
static inline uint64_t crew_rtems_clock_ms(void)
{
    struct bintime now;

    rtems_clock_get_monotonic_coarse_bintime(&now);
    /* 32 bits of seconds are enough since boot, and save a long multiplication. */
    return (uint64_t)(uint32_t)now.sec * 1000u + ((now.frac >> 32) * 1000u >> 32);
}

#endif
