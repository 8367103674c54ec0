// SPDX-License-Identifier: MIT OR Apache-2.0
//! The report for an operator: who holds what, since when, what was refused and why.

use super::RefusalKind;
use super::slot::{PoolSlot, SetWord, pool_state, worker_state};
use crate::account::Account;
use crate::crew::{Crew, Printer};
use crate::sync::atomic::Ordering::Relaxed;

impl Crew {
    /// Prints the state of the process, line by line, into `sink`. Level 0: a line for the account
    /// and one per pool. Level 1: roles and refusals too. Level 2: every busy set too. Any thread.
    pub fn report(&'static self, level: u32, sink: &mut dyn FnMut(&str)) {
        let mut out = Printer::new(sink);
        let Some(account) = self.account_usage() else {
            return out.print(format_args!("not booted"));
        };
        let held = account.held;
        let sealed = if self.is_sealed() { ", sealed" } else { "" };
        if account.budget == Account::UNBOUNDED {
            out.print(format_args!("account: {held} B held, no limit{sealed}"));
        } else {
            let percent = (held as u128 * 100 / account.budget.max(1) as u128) as usize;
            out.print(format_args!(
                "account: {held} B of {} B held ({percent} %), budget {}{sealed}",
                account.budget,
                account.verdict.name()
            ));
        }
        if level >= 1 {
            out.print(format_args!(
                "  high water {} B, {} B in {} fixed threads, {} sets refused",
                account.high_water,
                account.fixed,
                self.charges(),
                account.refusals
            ));
        }
        for pool in &self.pools {
            if matches!(pool.state(), pool_state::OPEN | pool_state::CLOSING) {
                self.report_pool(&mut out, pool, level);
            }
        }
    }

    fn report_pool(&'static self, out: &mut Printer<'_>, pool: &'static PoolSlot, level: u32) {
        let usage = self.usage_of(pool);
        let name = pool.name.read();
        let closing = if pool.state() == pool_state::CLOSING { ", closing" } else { "" };
        let refused: u32 = usage.refused.iter().fold(0, |sum, n| sum.wrapping_add(*n));
        out.print(format_args!(
            "pool {name}: {} busy + {} idle of {} sets, {} leases, {refused} refused, {} retired{closing}",
            usage.busy, usage.idle, usage.capacity, usage.leases, usage.retirements
        ));
        if level == 0 {
            return;
        }
        out.print(format_args!(
            "  most busy at once {}, threads ever created {}, waiting {}, suspended {}, overdue {}, \
             oldest busy {} s",
            usage.busy_high_water,
            usage.threads_created,
            usage.waiting,
            usage.suspended,
            usage.overdue,
            usage.oldest_busy_s
        ));
        for (role, used) in pool.roles[..pool.role_count()].iter().zip(usage.stack_used) {
            let name = role.name.read();
            let stack = role.stack_bytes.load(Relaxed);
            let priority = role.priority.load(Relaxed);
            if used == 0 {
                out.print(format_args!("  role {name}: stack {stack} B, priority {priority}"));
            } else {
                out.print(format_args!(
                    "  role {name}: stack {stack} B, most used {used} B, priority {priority}"
                ));
            }
        }
        for kind in RefusalKind::ALL {
            let count = usage.refused[kind as usize];
            if count > 0 {
                out.print(format_args!("  refused {count}: {}", kind.name()));
            }
        }
        if level >= 2 {
            self.report_sets(out, pool);
        }
    }

    fn report_sets(&'static self, out: &mut Printer<'_>, pool: &'static PoolSlot) {
        let now = self.moment();
        for s in pool.sets() {
            let set = &self.sets[s];
            let word = set.word();
            if word == SetWord::FREE || word.is(SetWord::IDLE) {
                continue;
            }
            // Nobody keeps the pool from being opened anew at another place while we look.
            let slot = s.wrapping_sub(pool.first_set());
            let state = match word {
                _ if word.is(SetWord::BUILDING) => "being made",
                _ if word.is(SetWord::RETIRED) && word.is(SetWord::LEASED) => {
                    "retired, still leased"
                }
                _ if word.is(SetWord::RETIRED) => "retired",
                _ if word.is(SetWord::LEASED) => "leased",
                _ => "released, jobs running",
            };
            let age_s = Self::seconds_between(set.since.load(Relaxed), now);
            let peer = u64::from(set.peer_high.load(Relaxed)) << 32
                | u64::from(set.peer_low.load(Relaxed));
            out.print(format_args!("  set {slot}: {state}, {age_s} s, peer {peer:#x}"));
            for (role, w) in pool.roles.iter().zip(pool.workers(s)) {
                let Some(worker) = self.workers.get(w) else { continue };
                if worker.state() == worker_state::RUNNING {
                    let (role, label) = (role.name.read(), worker.label.read());
                    out.print(format_args!("    {role}: runs {label}"));
                }
            }
        }
    }
}
