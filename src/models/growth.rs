// SPDX-License-Identifier: MIT OR Apache-2.0
//! Growth that fails at each point, trim, and what one pool takes from another, while others
//! acquire.

use super::explore::{explore, join, pause, spawn};
use super::stage::{LONG, STACK, Script, Stage};
use crate::host::Budget;
use crate::sets::{AcquireError, Refusal};
use crate::table::Handle;

fn borrow(stage: Stage, pool: Handle, timeout_ms: u32) -> Result<(), AcquireError> {
    let lease = stage.acquire(pool, timeout_ms)?;
    assert_eq!(stage.crew.sets().release(lease), Ok(()));
    Ok(())
}

/// The `call`-th object or thread of a growth fails while another waits for the pool's only slot.
fn failing_at(name: &str, call: u32) {
    explore(name, move || {
        let script = Script { threads: true, failing_call: call, ..Script::default() };
        Stage::play(script, Budget::Default, |stage| {
            let pool = stage.open(1, 1, |options| options.prestart = 0);
            let waiter = spawn(move || {
                // Alone with the failure, or after it.
                if let Err(error) = borrow(stage, pool, LONG) {
                    assert!(is_failure(error), "{error}");
                    assert_eq!(borrow(stage, pool, LONG), Ok(()));
                }
            });
            if let Err(error) = borrow(stage, pool, 0) {
                assert!(is_failure(error) || is_full(error), "{error}");
            }
            join([waiter]);
            assert!(stage.port.calls() > call, "it failed, and was tried again");
        });
    });
}

fn is_failure(error: AcquireError) -> bool {
    use Refusal::{ObjectsExhausted, SpawnFailed};
    matches!(error, AcquireError::Refused(ObjectsExhausted { .. } | SpawnFailed { .. }))
}

fn is_full(error: AcquireError) -> bool {
    matches!(error, AcquireError::Refused(Refusal::AtCapacity { .. }))
}

#[test]
fn the_first_object_fails() {
    failing_at("the_first_object_fails", 1);
}

#[test]
fn the_last_object_fails() {
    failing_at("the_last_object_fails", 3);
}

#[test]
fn the_thread_fails() {
    failing_at("the_thread_fails", 4);
}

#[test]
fn the_second_thread_fails() {
    explore("the_second_thread_fails", || {
        // Six objects and one thread are made; the second thread is not, so the first must stop.
        let script = Script { failing_call: 8, ..Script::default() };
        Stage::play(script, Budget::Default, |stage| {
            let pool = stage.open(2, 1, |options| options.prestart = 0);
            let first = spawn(move || {
                while stage.port.threads() == 0 {
                    pause(0);
                }
                stage.serve(0, u32::MAX);
            });
            let other = spawn(move || {
                if let Err(error) = borrow(stage, pool, 0) {
                    assert!(is_failure(error) || is_full(error), "{error}");
                }
            });
            if let Err(error) = borrow(stage, pool, 0) {
                assert!(is_failure(error) || is_full(error), "{error}");
            }
            join([first, other]);
        });
    });
}

#[test]
fn a_member_dies_while_its_set_is_built() {
    explore("a_member_dies_while_its_set_is_built", || {
        Stage::play(Script::default(), Budget::Default, |stage| {
            let pool = stage.open(1, 1, |options| options.prestart = 0);
            let parts = [
                spawn(move || {
                    while stage.port.threads() == 0 {
                        pause(0);
                    }
                    stage.die(0);
                }),
                spawn(move || stage.crew.sets().reap()),
            ];
            match stage.acquire(pool, 0) {
                Ok(lease) => drop(stage.crew.sets().release(lease)),
                Err(error) => assert!(is_failure(error), "{error}"),
            }
            join(parts);
        });
    });
}

#[test]
fn the_budget_is_never_passed() {
    explore("the_budget_is_never_passed", || {
        // Two pools with room for one set between them.
        Stage::play(Script::default(), Budget::Mib(8), |stage| {
            let pools = [0, 1].map(|_| {
                stage.open(0, 1, |options| {
                    options.extra_bytes = 5 << 20;
                    options.prestart = 0;
                })
            });
            let part = move |pool| {
                if borrow(stage, pool, 0).is_ok() {
                    assert!(stage.crew.host.account.held() <= 8 << 20);
                }
            };
            let other = spawn(move || part(pools[1]));
            part(pools[0]);
            join([other]);
        });
    });
}

#[test]
fn trim_against_acquire() {
    explore("trim_against_acquire", || {
        let script = Script { threads: true, ..Script::default() };
        Stage::play(script, Budget::Default, |stage| {
            let pool = stage.open(1, 1, |_| {});
            let trimmer = spawn(move || assert_eq!(stage.crew.sets().trim(pool, 0), Ok(())));
            if let Err(error) = borrow(stage, pool, 0) {
                assert!(is_full(error), "{error}");
            }
            join([trimmer]);
        });
    });
}

#[test]
fn two_trims_leave_what_is_kept() {
    explore("two_trims_leave_what_is_kept", || {
        Stage::play(Script::default(), Budget::Default, |stage| {
            let pool = stage.open(0, 2, |options| options.extra_bytes = STACK);
            let part = move || assert_eq!(stage.crew.sets().trim(pool, 1), Ok(()));
            let other = spawn(part);
            part();
            join([other]);
            assert!(stage.idle(pool) >= 1, "below what is kept");
        });
    });
}

#[test]
fn reclaim_against_acquire() {
    explore("reclaim_against_acquire", || {
        let script = Script { threads: true, ..Script::default() };
        Stage::play(script, Budget::Mib(8), |stage| {
            // The second pool's idle set is in the way of the first pool's.
            let open = |prestart| {
                stage.open(1, 1, |options| {
                    options.extra_bytes = 5 << 20;
                    options.prestart = prestart;
                })
            };
            let (asking, idle) = (open(0), open(1));
            let owner = spawn(move || {
                let _ = borrow(stage, idle, 0);
            });
            let _ = borrow(stage, asking, 0);
            assert!(stage.crew.host.account.held() <= 8 << 20);
            join([owner]);
        });
    });
}

#[test]
fn idle_age_against_acquire() {
    explore("idle_age_against_acquire", || {
        Stage::play(Script::default(), Budget::Default, |stage| {
            let pool = stage.open(1, 1, |options| options.idle_age_s = 1);
            let _ = stage.port.look(0); // notes when it has begun to be idle
            stage.time_passes(3000);
            let member = spawn(move || {
                stage.port.look(0);
            });
            if let Ok(lease) = stage.acquire(pool, 0) {
                assert_eq!(stage.crew.sets().release(lease), Ok(()));
            }
            join([member]);
        });
    });
}
