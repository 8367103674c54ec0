// SPDX-License-Identifier: MIT OR Apache-2.0
//! The C drivers of `c/drivers.h`: Crew, and its peers in C, as a C program calls them (nothing is
//! inlined into the caller). They end the process on any failure, so there are no results to check.

use crate::{PRIORITY, Port};
use core::ffi::c_void;

/// Policy, priority, and the number of CPUs that a thread may use.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    policy: i32,
    priority: i32,
    cpus: i32,
}

// SAFETY: the declarations are those of c/drivers.h. The functions marked safe take numbers and
// references, check what they do, and may be called at any time after the booting or opening one.
unsafe extern "C" {
    safe fn bench_job(ignored: *mut c_void) -> i32;
    safe fn bench_place_of_caller(place: &mut Place);
    safe fn bench_place_of_job(place: &mut Place);
    safe fn bench_relay_argument(role: usize) -> *mut c_void;
    fn bench_relay_job(argument: *mut c_void) -> i32;
    safe fn bench_crew_boot(on_epics: i32);
    safe fn bench_crew_open(roles: u32, capacity: u32, priority: u32, smallest: i32) -> u64;
    safe fn bench_epics_open(priority: u32);
    fn bench_crew_connection(pool: u64, count: u32, cycle_ns: *mut u64);
    fn bench_floor_connection(count: u32, cycle_ns: *mut u64);
    fn bench_pthread_connection(count: u32, cycle_ns: *mut u64);
    fn bench_epics_connection(count: u32, cycle_ns: *mut u64);

    #[link_name = "bench_place_ask"]
    pub safe fn ask_place();
    #[link_name = "bench_relay_begin"]
    pub safe fn relay_begin();
    #[link_name = "bench_relay_check"]
    pub safe fn relay_check();
    #[link_name = "bench_stack_bytes"]
    pub safe fn stack_bytes(role: usize) -> u32;
    #[link_name = "bench_crew_close"]
    pub safe fn crew_close(pool: u64);
    #[link_name = "bench_crew_take"]
    pub safe fn crew_take(pool: u64) -> u64;
    #[link_name = "bench_crew_give"]
    pub safe fn crew_give(lease: u64);
    #[link_name = "bench_crew_lease"]
    pub safe fn crew_lease(pool: u64, count: u32);
    #[link_name = "bench_crew_round_trip"]
    pub safe fn crew_round_trip(lease: u64, count: u32);
    #[link_name = "bench_crew_refused"]
    pub safe fn crew_refused(pool: u64, count: u32);
    #[link_name = "bench_floor_open"]
    pub safe fn floor_open();
    #[link_name = "bench_floor_semaphores"]
    pub safe fn floor_semaphores(count: u32);
    #[link_name = "bench_floor_bounded_semaphores"]
    pub safe fn floor_bounded_semaphores(count: u32);
    #[link_name = "bench_floor_futexes"]
    pub safe fn floor_futexes(count: u32);
    #[link_name = "bench_pthread_round_trip"]
    pub safe fn pthread_round_trip(count: u32);
    #[link_name = "bench_shared_open"]
    pub safe fn shared_open();
    #[link_name = "bench_mutex_reserve"]
    pub safe fn mutex_reserve();
    #[link_name = "bench_mutex_accept"]
    pub safe fn mutex_accept();
    #[link_name = "bench_mutex_complete"]
    pub safe fn mutex_complete();
    #[link_name = "bench_mutex_leases"]
    pub safe fn mutex_leases(count: u32);
    #[link_name = "bench_mutex_claims"]
    pub safe fn mutex_claims(count: u32);
    #[link_name = "bench_semaphore_take"]
    pub safe fn semaphore_take();
    #[link_name = "bench_semaphore_give"]
    pub safe fn semaphore_give();
    #[link_name = "bench_semaphore_leases"]
    pub safe fn semaphore_leases(count: u32);
    #[link_name = "bench_flock_take"]
    pub safe fn flock_take();
    #[link_name = "bench_flock_give"]
    pub safe fn flock_give();
    #[link_name = "bench_flock_leases"]
    pub safe fn flock_leases(count: u32);
    #[link_name = "bench_epics_events"]
    pub safe fn epics_events(count: u32);
    #[link_name = "bench_epics_pool_round_trip"]
    pub safe fn epics_pool_round_trip(count: u32);
    #[link_name = "bench_epics_thread_round_trip"]
    pub safe fn epics_thread_round_trip(count: u32);
}

impl Place {
    pub fn of_caller() -> Self {
        let mut place = Self::default();
        bench_place_of_caller(&mut place);
        place
    }

    pub fn of_job() -> Self {
        let mut place = Self::default();
        bench_place_of_job(&mut place);
        place
    }
}

/// The job of every round trip.
pub fn job() -> i32 {
    bench_job(core::ptr::null_mut())
}

/// What member `role` of a connection does with the byte.
pub fn relay_job(role: usize) -> i32 {
    // SAFETY: the argument is the one for this job, and lives as long as the process.
    unsafe { bench_relay_job(bench_relay_argument(role)) }
}

pub fn boot(port: Port) {
    bench_crew_boot((port == Port::Epics).into());
    if port == Port::Epics {
        bench_epics_open(PRIORITY);
    }
}

/// Opens a pool with all its sets made. `smallest`: the smallest stacks, else those of a
/// connection.
pub fn crew_open(roles: u32, capacity: u32, smallest: bool) -> u64 {
    bench_crew_open(roles, capacity, PRIORITY, smallest.into())
}

pub fn crew_connection(pool: u64, cycle_ns: &mut [u64]) {
    // SAFETY: so many are written.
    unsafe { bench_crew_connection(pool, cycle_ns.len() as u32, cycle_ns.as_mut_ptr()) }
}

pub fn floor_connection(cycle_ns: &mut [u64]) {
    // SAFETY: so many are written.
    unsafe { bench_floor_connection(cycle_ns.len() as u32, cycle_ns.as_mut_ptr()) }
}

pub fn pthread_connection(cycle_ns: &mut [u64]) {
    // SAFETY: so many are written.
    unsafe { bench_pthread_connection(cycle_ns.len() as u32, cycle_ns.as_mut_ptr()) }
}

pub fn epics_connection(cycle_ns: &mut [u64]) {
    // SAFETY: so many are written.
    unsafe { bench_epics_connection(cycle_ns.len() as u32, cycle_ns.as_mut_ptr()) }
}
