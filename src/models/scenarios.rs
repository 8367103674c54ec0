// SPDX-License-Identifier: MIT OR Apache-2.0
//! The whole pool with many threads: clients that borrow, run, join and release at random, while
//! others trim, ask, close and open again, threads die and the target fails. Too much for every
//! interleaving; shuttle runs random ones.

use super::explore::{explore, join, pause, random, spawn};
use super::stage::{DIE, LONG, SHORT, STACK, Script, Stage};
use crate::host::Budget;
use crate::limits::MAX_SETS;
use crate::port::Outcome;
use crate::sets::{AcquireError, Refusal, RunError};
use crate::table::Handle;
use core::num::NonZeroU64;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::vec::Vec;

/// What happens in a scenario. By default: three clients share one set of two workers, and wait as
/// long as it takes.
#[derive(Clone, Copy)]
struct Scene {
    clients: usize,
    rounds: usize,
    pools: usize,
    roles: usize,
    capacity: u32,
    keep: u32,
    per_peer: u32,
    idle_age_s: u32,
    /// Bytes of each set beyond its threads.
    extra_bytes: usize,
    /// Room for so many sets of all pools; 0: for all.
    budget_sets: usize,
    /// Clients choose how long to wait: not at all, shortly, as long as it takes.
    impatient: bool,
    /// Of 1,000 waits for a job, how many end the worker; of 1,000 jobs.
    dying: u32,
    deadly_jobs: u32,
    /// Of 1,000 calls to make a thread or an event, how many fail.
    failing: u32,
    /// Beside the clients another thread does this.
    trims: bool,
    asks: bool,
    closes: bool,
    reopens: bool,
}

const SCENE: Scene = Scene {
    clients: 3,
    rounds: 2,
    pools: 1,
    roles: 2,
    capacity: 1,
    keep: 0,
    per_peer: 0,
    idle_age_s: 0,
    extra_bytes: 0,
    budget_sets: 0,
    impatient: false,
    dying: 0,
    deadly_jobs: 0,
    failing: 0,
    trims: false,
    asks: false,
    closes: false,
    reopens: false,
};

/// Which client has what, seen from outside.
#[derive(Default)]
struct Ledger {
    leases: BTreeSet<u64>,
    /// Borrowers in each set, leases of each peer.
    inside: Vec<u32>,
    of_peer: [u32; 2],
}

struct Play {
    scene: Scene,
    stage: Stage,
    pools: Mutex<Vec<Handle>>,
    ledger: Mutex<Ledger>,
}

const MIB: usize = 1 << 20;
const BUDGET_MIB: u32 = 8;

fn play(name: &str, scene: Scene) {
    explore(name, move || {
        let script =
            Script { threads: true, failing_call: 0, failing: scene.failing, dying: scene.dying };
        let budget = if scene.budget_sets > 0 { Budget::Mib(BUDGET_MIB) } else { Budget::Default };
        Stage::play(script, budget, |stage| {
            let play = Arc::new(Play {
                scene,
                stage,
                pools: Mutex::default(),
                ledger: Mutex::new(Ledger { inside: std::vec![0; MAX_SETS], ..Ledger::default() }),
            });
            for _ in 0..scene.pools {
                let pool = play.open(scene.roles, scene.capacity);
                play.pools.lock().unwrap().push(pool);
            }
            let mut parts = Vec::new();
            for client in 0..scene.clients {
                let play = play.clone();
                parts.push(spawn(move || (0..scene.rounds).for_each(|n| play.borrow(client, n))));
            }
            let mut beside = |wanted: bool, act: fn(&Play)| {
                let play = play.clone();
                if wanted {
                    parts.push(spawn(move || act(&play)));
                }
            };
            beside(scene.trims, Play::trim);
            beside(scene.asks, Play::ask);
            beside(scene.idle_age_s > 0, Play::grow_old);
            beside(scene.closes, Play::close);
            beside(scene.reopens, Play::reopen);
            join(parts);
        });
    });
}

impl Play {
    fn open(&self, roles: usize, capacity: u32) -> Handle {
        let scene = self.scene;
        let stack = match scene.budget_sets {
            0 => STACK,
            sets => (BUDGET_MIB as usize * MIB) / sets / roles.max(1),
        };
        self.stage.open_with_stack(roles, stack, capacity, |options| {
            options.prestart = 0;
            options.keep = scene.keep.min(capacity);
            options.per_peer = scene.per_peer;
            options.idle_age_s = scene.idle_age_s;
            options.extra_bytes = scene.extra_bytes;
        })
    }

    fn pool(&self, n: usize) -> Handle {
        let pools = self.pools.lock().unwrap();
        pools[n % pools.len()]
    }

    /// Nothing but other clients can come between a client and its set.
    fn is_calm(&self) -> bool {
        let scene = self.scene;
        scene.dying == 0 && scene.deadly_jobs == 0 && !scene.closes && !scene.reopens
    }

    /// One round of a client.
    fn borrow(&self, client: usize, round: usize) {
        let crew = self.stage.crew;
        let peer = client % 2;
        let key = (self.scene.per_peer > 0).then(|| NonZeroU64::MIN.saturating_add(peer as u64));
        let timeout_ms = if self.scene.impatient { [0, 5, LONG][random(3) as usize] } else { LONG };
        let lease = match crew.sets().acquire(self.pool(client + round), key, timeout_ms) {
            Ok(lease) => lease,
            Err(error) => return self.check_refusal(error, timeout_ms),
        };
        let set = lease.parts(crate::table::Kind::Lease, MAX_SETS).expect("a lease").0;
        {
            let mut ledger = self.ledger.lock().unwrap();
            assert!(ledger.leases.insert(lease.bits()), "one lease, two borrowers");
            ledger.inside[set] += 1;
            ledger.of_peer[peer] += 1;
            if self.is_calm() {
                assert_eq!(ledger.inside[set], 1, "one set, two borrowers");
                let within = key.is_none() || ledger.of_peer[peer] <= self.scene.per_peer;
                assert!(within, "the peer's limit was passed");
            }
        }
        let jobs: Vec<_> = (0..self.scene.roles)
            .filter_map(|role| {
                let deadly = random(1000) < self.scene.deadly_jobs;
                let value = if deadly { DIE } else { random(1000) as i32 };
                let job = match random(3) {
                    0 => self.stage.run_detached(lease, role, value).map(|()| None),
                    _ => self.stage.run(lease, role, value).map(Some),
                };
                job.map_err(|error| self.check_not_run(error))
                    .ok()
                    .flatten()
                    .map(|job| (job, value))
            })
            .collect();
        let early = random(2) == 0;
        if early {
            self.release(lease, set, peer);
        }
        jobs.into_iter().for_each(|(job, value)| self.settle(job, value));
        if !early {
            self.release(lease, set, peer);
        }
    }

    fn release(&self, lease: Handle, set: usize, peer: usize) {
        {
            let mut ledger = self.ledger.lock().unwrap();
            ledger.inside[set] -= 1;
            ledger.of_peer[peer] -= 1;
        }
        let result = self.stage.crew.sets().release(lease);
        assert!(result.is_ok() || !self.is_calm(), "nobody else ends a lease");
        assert!(self.stage.crew.sets().release(lease).is_err(), "a lease ends once");
    }

    fn settle(&self, job: Handle, value: i32) {
        if random(5) == 0 {
            return self.stage.crew.sets().detach(job).expect("nobody else settles it");
        }
        let result = self.stage.join(job, LONG).expect("every job ends");
        match result.outcome {
            Outcome::Returned => assert_eq!(result.value, value),
            Outcome::Died => assert_eq!(value, DIE),
            Outcome::NotRun => assert!(!self.is_calm(), "a worker was gone"),
            Outcome::Failed => panic!("no job fails"),
        }
    }

    fn check_refusal(&self, error: AcquireError, timeout_ms: u32) {
        let patient = timeout_ms == LONG;
        let calm = self.is_calm() && self.scene.failing == 0;
        assert!(!(patient && calm), "{error}");
        let closes = self.scene.closes || self.scene.reopens;
        match error {
            AcquireError::Stale | AcquireError::Refused(Refusal::ShuttingDown) => assert!(closes),
            AcquireError::Refused(_) => {}
            AcquireError::BadHandle => panic!("{error}"),
        }
    }

    fn check_not_run(&self, error: RunError) {
        let lost = matches!(error, RunError::NotRun | RunError::Stale) && !self.is_calm();
        // Two results of the worker's former jobs are still to be taken.
        let full = error == RunError::NoJobCell;
        // The pool has been opened again with another roster.
        let other = error == RunError::BadRole && self.scene.reopens;
        assert!(lost || full || other, "{error}");
    }

    fn each_pool(&self, mut act: impl FnMut(usize, Handle)) {
        (0..self.scene.pools).for_each(|n| act(n, self.pool(n)));
    }

    fn trim(&self) {
        (0..2).for_each(|_| {
            self.each_pool(|_, pool| {
                let _ = self.stage.crew.sets().trim(pool, 0);
            })
        });
    }

    fn ask(&self) {
        (0..2).for_each(|_| {
            self.each_pool(|_, pool| {
                let _ = self.stage.crew.sets().usage(pool);
            })
        });
    }

    fn grow_old(&self) {
        for _ in 0..3 {
            self.stage.time_passes(self.scene.idle_age_s * 1100);
            pause(0);
        }
    }

    fn close(&self) {
        (0..random(400)).for_each(|_| pause(0));
        self.each_pool(|_, pool| assert_eq!(self.stage.close(pool, LONG), Ok(())));
    }

    fn reopen(&self) {
        for n in 0..3 {
            self.each_pool(|at, pool| {
                (0..random(200)).for_each(|_| pause(0));
                assert_eq!(self.stage.close(pool, LONG), Ok(()));
                let next = self.open(1 + n % 2, 1 + (n as u32 + 1) % 2);
                self.pools.lock().unwrap()[at] = next;
            });
        }
    }
}

const _: () = assert!(SHORT >= 5, "what an impatient client waits passes by itself");

macro_rules! scenarios {
    ($($name:ident: $scene:expr;)*) => {
        $(
            #[test]
            fn $name() {
                play(stringify!($name), $scene);
            }
        )*
    };
}

scenarios! {
    calm: SCENE;
    calm_impatient: Scene { capacity: 2, clients: 4, impatient: true, ..SCENE };
    trims: Scene { trims: true, asks: true, impatient: true, roles: 1, capacity: 2, ..SCENE };
    peers: Scene { capacity: 2, clients: 4, per_peer: 1, roles: 1, ..SCENE };
    peers_impatient: Scene {
        capacity: 2, clients: 4, per_peer: 1, roles: 1, impatient: true, trims: true, ..SCENE
    };
    deaths: Scene { dying: 100, deadly_jobs: 200, impatient: true, ..SCENE };
    deaths_patient: Scene {
        dying: 50, deadly_jobs: 100, capacity: 2, clients: 4, asks: true, ..SCENE
    };
    closes: Scene { closes: true, impatient: true, roles: 1, ..SCENE };
    closes_and_deaths: Scene {
        closes: true, impatient: true, dying: 50, deadly_jobs: 100, asks: true, trims: true,
        per_peer: 1, ..SCENE
    };
    failures: Scene { failing: 150, impatient: true, trims: true, ..SCENE };
    budget: Scene { budget_sets: 1, pools: 2, roles: 1, capacity: 2, ..SCENE };
    budget_impatient_deaths: Scene {
        budget_sets: 1, pools: 2, roles: 1, capacity: 2, clients: 4, dying: 50, deadly_jobs: 80,
        impatient: true, ..SCENE
    };
    budget_of_two: Scene {
        budget_sets: 2, pools: 2, capacity: 2, clients: 4, trims: true, ..SCENE
    };
    idle_age: Scene { idle_age_s: 1, impatient: true, roles: 1, capacity: 2, ..SCENE };
    bare: Scene {
        roles: 0, extra_bytes: 100, capacity: 2, clients: 4, impatient: true, ..SCENE
    };
    bare_patient: Scene { roles: 0, extra_bytes: 100, ..SCENE };
    reopens: Scene { reopens: true, impatient: true, rounds: 4, capacity: 2, ..SCENE };
    reopens_and_deaths: Scene {
        reopens: true, impatient: true, rounds: 4, capacity: 2, clients: 4, dying: 50,
        deadly_jobs: 80, per_peer: 1, asks: true, trims: true, ..SCENE
    };
    reopens_two: Scene {
        reopens: true, impatient: true, rounds: 4, pools: 2, clients: 4, asks: true, ..SCENE
    };
    everything: Scene {
        capacity: 2, clients: 4, dying: 30, deadly_jobs: 80, failing: 50, impatient: true,
        trims: true, asks: true, per_peer: 1, idle_age_s: 1, keep: 1, ..SCENE
    };
}
