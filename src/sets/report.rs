// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a report says of pools: which set is held for whom, since when, what was refused and why.

use super::RefusalKind;
use super::slot::{SetWord, pool_state, worker_state};
use super::tables::{PoolRef, Sets};
use crate::host::{Printer, seconds_between};
use crate::sync::atomic::Ordering::Relaxed;

impl Sets {
    /// A line for each pool, or more of them; see [`crate::Crew::report`].
    pub(crate) fn report(self, out: &mut Printer<'_>, level: u32) {
        for pool in self.pools() {
            if matches!(pool.state(), pool_state::OPEN | pool_state::CLOSING) {
                self.report_pool(out, pool, level);
            }
        }
    }

    fn report_pool(self, out: &mut Printer<'_>, pool: PoolRef, level: u32) {
        let usage = self.usage_of(pool);
        let name = pool.name.read();
        let closing = if pool.state() == pool_state::CLOSING { ", closing" } else { "" };
        let refused: u32 = usage.refused.iter().fold(0, |sum, n| sum.wrapping_add(*n));
        out.print(format_args!(
            "pool {name}: {} busy + {} idle of {} sets, {} leases, {refused} refused, \
             {} retired{closing}",
            usage.busy, usage.idle, usage.capacity, usage.leases, usage.retirements
        ));
        if level == 0 {
            return;
        }
        out.print(format_args!(
            "  most busy at once {}, threads ever created {}, waiting {}, suspended {}, \
             overdue {}, oldest busy {} s",
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

    fn report_sets(self, out: &mut Printer<'_>, pool: PoolRef) {
        let now = self.host.moment();
        for s in pool.sets() {
            let set = self.set(s);
            let word = set.word();
            if word == SetWord::FREE || word.is(SetWord::IDLE) {
                continue;
            }
            // The pool may be opened anew at another place while we look.
            let slot = pool.slot_of(s);
            let state = match word {
                _ if word.is(SetWord::BUILDING) => "being made",
                _ if word.is(SetWord::RETIRED) && word.is(SetWord::LEASED) => {
                    "retired, still leased"
                }
                _ if word.is(SetWord::RETIRED) => "retired",
                _ if word.is(SetWord::LEASED) => "leased",
                _ => "released, jobs running",
            };
            let age_s = seconds_between(set.since.load(Relaxed), now);
            let peer = set.peer();
            out.print(format_args!("  set {slot}: {state}, {age_s} s, peer {peer:#x}"));
            for (role, w) in pool.roles.iter().zip(pool.workers(s)) {
                let Some(worker) = self.tables.workers.get(w.0) else { continue };
                if worker.state() == worker_state::RUNNING {
                    let role = role.name.read();
                    let label = worker.label.read();
                    out.print(format_args!("    {role}: runs {label}"));
                }
            }
        }
    }
}
