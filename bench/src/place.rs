// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where threads run, and at which priority: a thread made by another starts as that one is, so the
//! maker is placed before the contestants are made.

use crate::PRIORITY;
use crate::drivers::{self, Place};

/// Where the giver of jobs and its workers run.
pub struct Placement {
    giver: usize,
    worker: usize,
}

impl Placement {
    /// Both on one CPU: a hand-off is a switch. What a board with one CPU does, and the steadiest.
    pub fn one_cpu() -> Self {
        let last = *allowed_cpus().last().expect("a process has a CPU");
        Self { giver: last, worker: last }
    }

    /// Each on its own: a hand-off is an interrupt to another CPU, which has to wake up.
    pub fn two_cpus() -> Self {
        Self { giver: allowed_cpus()[0], ..Self::one_cpu() }
    }

    pub fn is_one_cpu(&self) -> bool {
        self.giver == self.worker
    }

    pub fn name(&self) -> &'static str {
        if self.is_one_cpu() { "one CPU" } else { "two CPUs" }
    }

    /// The calling thread goes to where workers are made.
    pub fn for_making(&self) {
        pin(&[self.worker]);
    }

    /// The calling thread, which has made the workers, goes to where it gives jobs.
    pub fn for_giving(&self) {
        pin(&[self.giver]);
    }
}

/// The CPUs that this process may use.
pub fn allowed_cpus() -> Vec<usize> {
    // SAFETY: `set` is a plain bit mask of ours, for which all zeros is valid; process 1 is not
    // asked about, 0 is the caller.
    unsafe {
        let mut set: libc::cpu_set_t = core::mem::zeroed();
        libc::sched_getaffinity(0, size_of_val(&set), &raw mut set);
        (0..libc::CPU_SETSIZE as usize).filter(|&cpu| libc::CPU_ISSET(cpu, &set)).collect()
    }
}

/// Has the calling thread, and those that it makes from now on, run on these CPUs only.
pub fn pin(cpus: &[usize]) {
    // SAFETY: as above; the CPUs come from `allowed_cpus`, so they are within the mask.
    unsafe {
        let mut set: libc::cpu_set_t = core::mem::zeroed();
        cpus.iter().for_each(|&cpu| libc::CPU_SET(cpu, &mut set));
        libc::sched_setaffinity(0, size_of_val(&set), &raw const set);
    }
}

/// SCHED_FIFO at the contestants' priority for the calling thread. False: not permitted.
pub fn real_time() -> bool {
    // SAFETY: plain calls on the calling thread, with a sched_param of ours.
    unsafe {
        let least = libc::sched_get_priority_min(libc::SCHED_FIFO);
        let most = libc::sched_get_priority_max(libc::SCHED_FIFO);
        let mut parameters: libc::sched_param = core::mem::zeroed();
        parameters.sched_priority = least + PRIORITY as i32 * (most - least) / 99;
        libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) == 0
    }
}

/// Runs one job of the contestant and ends the process if it did not run at the caller's priority
/// on as many CPUs: then the figures would compare something else.
pub fn check(who: &str, run_one: impl FnOnce()) {
    drivers::ask_place();
    run_one();
    let (own, seen) = (Place::of_caller(), Place::of_job());
    if own != seen {
        eprintln!("bench: {who} runs its jobs as {seen:?}, their giver runs as {own:?}");
        std::process::exit(1);
    }
}

/// Linux since 6.16 keeps a process's sleeping threads in a table with four buckets for each CPU.
/// With thousands of parked workers every wake then searches a list of hundreds, and the kernel's
/// search would count as the contestant's time. Best effort: older kernels have one large table.
pub fn many_futex_buckets() {
    const PR_FUTEX_HASH: libc::c_int = 78;
    const PR_FUTEX_HASH_SET_SLOTS: libc::c_ulong = 1;
    const SLOTS: libc::c_ulong = 16_384;
    // SAFETY: takes numbers only.
    unsafe { libc::prctl(PR_FUTEX_HASH, PR_FUTEX_HASH_SET_SLOTS, SLOTS, 0, 0) };
}
