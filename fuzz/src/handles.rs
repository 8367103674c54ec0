// SPDX-License-Identifier: MIT OR Apache-2.0
//! Handles as callers pass them: mostly the newest of the right kind, else an old one, one of
//! another kind, one with a bit or the generation changed, one that never was, none at all.

use crate::world::World;
use crew::limits::{JOBS_PER_WORKER, MAX_CHARGES, MAX_POOLS, MAX_SETS, MAX_WORKERS};

/// The kinds, in the order of their numbers in a handle's highest byte, from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Pool,
    Lease,
    Job,
    Charge,
}

impl Kind {
    fn slots(self) -> u64 {
        let slots = match self {
            Kind::Pool => MAX_POOLS,
            Kind::Lease => MAX_SETS,
            Kind::Job => MAX_WORKERS * JOBS_PER_WORKER,
            Kind::Charge => MAX_CHARGES,
        };
        slots as u64
    }

    /// Whether the bits are those of some life of some slot of this kind, past, present or to come.
    pub fn has(self, bits: u64) -> bool {
        let is_odd = bits & 1 == 1;
        bits >> 56 == self as u64 + 1
            && bits >> 32 & 0xff_ffff < self.slots()
            && (self != Kind::Lease || is_odd)
    }
}

/// Remembers a handle that was handed out.
pub fn remember(w: &World, kind: Kind, bits: u64) {
    assert!(kind.has(bits), "a handle of its kind: {kind:?} {bits:#x}");
    w.handles.borrow_mut()[kind as usize].push(bits);
}

/// A handle for an argument of this kind.
pub fn handle(w: &World, kind: Kind) -> u64 {
    let choice = w.tape.byte();
    let known = |kind: usize| {
        let handles = w.handles.borrow();
        let handles = &handles[kind];
        // The newest are the likeliest.
        let back = usize::from(choice % 200 / 40) * usize::from(choice % 40);
        handles.len().checked_sub(1).map_or(0, |last| handles[last - back % (last + 1)])
    };
    let own = kind as usize;
    match choice {
        0..200 => known(own),
        200..212 => known((own + 1 + w.tape.below(3)) % 4),
        212..224 => known(own) ^ 1 << (w.tape.byte() % 64),
        224..236 => {
            let bits = known(own);
            let step = w.tape.pick(&[1u32, 2, u32::MAX, u32::MAX - 1]);
            bits & !0xffff_ffff | u64::from((bits as u32).wrapping_add(step))
        }
        236..246 => {
            let index = u64::from(w.tape.byte() % 32);
            (own as u64 + 1) << 56 | index << 32 | u64::from(w.tape.byte() % 8)
        }
        246..252 => w.tape.long(),
        252..254 => 0,
        _ => u64::MAX,
    }
}
