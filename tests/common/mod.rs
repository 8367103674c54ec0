// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the integration tests share: a simulated port, simulated targets, and short ways to boot
//! and open.

#![allow(dead_code)] // Each test program uses a part of it.

pub mod free_list;
pub mod sim;
pub mod target;

use crew::limits::MAX_ROLES;
use crew::port::Port;
use crew::{BootOptions, Budget, Crew, Pool, PoolOptions, Role};

pub const KIB: usize = 1 << 10;
pub const MIB: usize = 1 << 20;

/// A process of its own for one test, booted on `port`.
pub fn boot(port: &'static dyn Port, budget: Budget<'_>) -> &'static Crew {
    let crew: &'static Crew = Box::leak(Box::new(Crew::new()));
    crew.boot(&BootOptions { port, budget }).expect("boots once");
    crew
}

/// A pool with `N` roles of 64 KiB stack each.
pub fn open<const N: usize>(crew: &'static Crew, capacity: u32) -> Pool<N> {
    open_with(crew, PoolOptions { capacity, ..PoolOptions::default() })
}

/// As [`open`], with the options given; an empty name becomes "test".
pub fn open_with<const N: usize>(crew: &'static Crew, options: PoolOptions<'_>) -> Pool<N> {
    try_open(crew, options).expect("opens")
}

pub fn try_open<const N: usize>(
    crew: &'static Crew,
    options: PoolOptions<'_>,
) -> Result<Pool<N>, crew::OpenError> {
    const NAMES: [&str; MAX_ROLES] = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let roles =
        std::array::from_fn(|i| Role { name: NAMES[i], stack_bytes: 64 * KIB, priority: 20 });
    let name = if options.name.is_empty() { "test" } else { options.name };
    Pool::open(crew, &roles, &PoolOptions { name, ..options })
}

/// Bytes held on the account now.
pub fn held(crew: &'static Crew) -> usize {
    crew.account_usage().expect("booted").held
}

/// A process and its simulated port, for tests that make many: gone when dropped.
pub struct World {
    pub crew: &'static Crew,
    pub sim: &'static sim::Sim,
    places: (*mut Crew, *mut sim::Sim),
}

impl World {
    /// Not booted yet.
    pub fn new() -> Self {
        let crew = Box::into_raw(Box::new(Crew::new()));
        let sim = Box::into_raw(Box::new(sim::Sim::make()));
        // SAFETY: both live until `drop`, which is the end of every use: see there.
        unsafe { Self { crew: &*crew, sim: &*sim, places: (crew, sim) } }
    }

    pub fn boot(&self, budget: Budget<'_>) {
        self.crew.boot(&BootOptions { port: self.sim, budget }).expect("boots");
    }

    /// Everything that is counted twice agrees, the port's threads included.
    pub fn audit(&self) -> crew::audit::Figures {
        match self.crew.audit(Some(self.sim.threads())) {
            Ok(figures) => figures,
            Err(disagreement) => panic!("{disagreement}"),
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // An unwinding test may still be using the process.
        if !std::thread::panicking() {
            // SAFETY: `new` made both, and nothing uses them any more: simulated threads run only
            // in calls to them, and tests drop leases, jobs and charges before their world.
            unsafe {
                drop(Box::from_raw(self.places.0));
                drop(Box::from_raw(self.places.1));
            }
        }
    }
}
