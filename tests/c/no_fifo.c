/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Part of every program under a sanitizer: before main it gives up real-time priorities. The
 * sanitizers spin on locks of their own (of malloc, at each thread's end), and a SCHED_FIFO thread
 * that spins keeps the thread of lower priority that has the lock from ever going on, and most of
 * the machine from everything else. Seen: three threads of priorities 36, 49 and 76 for as long as
 * they were let.
 */
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static void give_up_fifo(void) __attribute__((constructor));

static void give_up_fifo(void)
{
    const struct rlimit none = { 0, 0 };
    struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
    struct __user_cap_data_struct sets[2];

    (void)setrlimit(RLIMIT_RTPRIO, &none);
    if (syscall(SYS_capget, &header, sets) == 0) {
        sets[0].effective &= ~(1u << CAP_SYS_NICE);
        (void)syscall(SYS_capset, &header, sets);
    }
}
