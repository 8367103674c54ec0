// SPDX-License-Identifier: MIT OR Apache-2.0
//! What holds whatever the callers do.

use crate::block::Block;
use crate::calls;
use crate::handles::Kind;
use crate::port;
use crate::world::{End, Lease, Settled, State, Token, World, with};
use core::ffi::CStr;
use crew::audit::{crew_audit, crew_audit_busy};
use crew::ffi::*;
use crew::limits::MAX_WAITERS;
use std::rc::Rc;

/// The account's figures.
fn account() -> crew_account {
    let mut account = core::mem::MaybeUninit::<crew_account>::zeroed();
    // SAFETY: ours, and plain data.
    unsafe {
        (*account.as_mut_ptr()).size = size_of::<crew_account>() as u32;
        assert_eq!(crew_account_usage(account.as_mut_ptr()), CREW_OK);
        account.assume_init()
    }
}

/// At every moment when a caller has just come back, whatever other callers are in the middle of.
pub fn check_now(w: &World) {
    if !w.booted.get() {
        return;
    }
    let account = account();
    let in_threads: u128 = w.threads.borrow().values().map(|t| u128::from(t.bytes)).sum();
    let in_charges: u128 = w.charges.borrow().values().map(|&bytes| u128::from(bytes)).sum();
    let held = u128::from(account.held_bytes);
    assert!(held >= in_threads + in_charges, "a thread that exists is on the account");
    assert!(account.held_bytes <= account.high_water_bytes);
    assert!(account.fixed_bytes <= account.held_bytes);
    let elastic = account.held_bytes - account.fixed_bytes;
    assert!(elastic <= account.budget_bytes, "sets stay within the budget");
    if w.depth.get() == 0 {
        assert_eq!(u128::from(account.fixed_bytes), in_charges, "fixed threads");
        assert_eq!(account.charges as usize, w.charges.borrow().len());
    }
    audit(w);
}

/// What the core counts twice is the same from both sides.
fn audit(w: &World) {
    let text = Block::poison(256);
    // SAFETY: the block is that long.
    let agreed = unsafe {
        if w.depth.get() == 0 {
            let threads = w.threads.borrow().len() as i64;
            crew_audit(threads, text.ptr(), 256)
        } else {
            crew_audit_busy(text.ptr(), 256)
        }
    };
    // SAFETY: a text that ends is there.
    assert_eq!(agreed, 1, "{:?}", unsafe { CStr::from_ptr(text.ptr()) });
}

/// Whether the lease is out: neither released, nor taken away with its set.
fn is_current(bits: u64) -> bool {
    let mut thread = 0;
    // SAFETY: `thread` is writable.
    let status = unsafe { crew_lease_thread(crew_lease { bits }, 0, &raw mut thread) };
    matches!(status, CREW_OK | CREW_NOT_RUN | CREW_BAD_ROLE)
}

/// `crew_acquire` has just granted it.
pub fn check_granted(w: &World, bits: u64, pool: u64, peer: u64) {
    {
        let mut leases = w.leases.borrow_mut();
        let lease = leases.entry(bits).or_default();
        assert!(lease.granted.replace((pool, peer)).is_none(), "a lease is granted once");
    }
    let index = bits >> 32;
    let mut out = 0;
    let mut of_peer = 0;
    for (&other, Lease { granted, .. }) in w.leases.borrow().iter() {
        let Some((of_pool, for_peer)) = *granted else { continue };
        let current = is_current(other);
        assert!(
            !current || other == bits || other >> 32 != index,
            "a set is lent to one at a time"
        );
        if of_pool == pool && current {
            out += 1;
            of_peer += u32::from(peer != 0 && for_peer == peer);
        }
    }
    if let Some(pool) = w.pools.borrow().get(&pool) {
        assert!(out <= pool.capacity, "{out} leases of {} sets", pool.capacity);
        assert!(pool.per_peer == 0 || of_peer <= pool.per_peer, "{of_peer} leases of one peer");
    }
}

/// The numbers of a refusal.
pub fn check_refusal(w: &World, refusal: &crew_refusal, status: i32, pool: u64) {
    assert_eq!(refusal.kind, status, "the refusal is the status");
    assert_eq!(refusal.size as usize, size_of::<crew_refusal>());
    let pools = w.pools.borrow();
    let pool = pools.get(&pool);
    let mut rest = [
        u64::from(refusal.capacity),
        u64::from(refusal.role),
        u64::from(refusal.os_error as u32),
        u64::from(refusal.objects),
        refusal.bytes_requested,
        refusal.bytes_held,
        refusal.bytes_budget,
    ];
    let mut belongs = |fields: &[usize]| fields.iter().for_each(|&field| rest[field] = 0);
    match status {
        CREW_REFUSED_AT_CAPACITY => {
            assert!(pool.is_none_or(|pool| refusal.capacity == pool.capacity));
            belongs(&[0]);
        }
        CREW_REFUSED_PEER_LIMIT => {
            assert!(pool.is_none_or(|pool| refusal.capacity == pool.per_peer));
            belongs(&[0]);
        }
        CREW_REFUSED_TOO_MANY_WAITERS => {
            assert_eq!(refusal.capacity as usize, MAX_WAITERS);
            belongs(&[0]);
        }
        CREW_REFUSED_SPAWN_FAILED => {
            assert!(pool.is_none_or(|pool| refusal.role < pool.roles));
            belongs(&[1, 2]);
        }
        CREW_REFUSED_OBJECTS_EXHAUSTED => {
            assert!(refusal.objects > 0);
            belongs(&[3]);
        }
        CREW_REFUSED_OUT_OF_RESERVATION => {
            let sum = u128::from(refusal.bytes_held) + u128::from(refusal.bytes_requested);
            assert!(sum > u128::from(refusal.bytes_budget), "the numbers say why");
            belongs(&[4, 5, 6]);
        }
        CREW_REFUSED_TARGET_MEMORY => {
            assert!(refusal.bytes_requested > 0);
            belongs(&[4]);
        }
        CREW_REFUSED_SHUTTING_DOWN | CREW_REFUSED_SEALED => {}
        other => panic!("no refusal: {other}"),
    }
    assert_eq!(rest, [0; 7], "fields that do not belong to the kind are 0");
}

/// A pool's figures.
pub fn check_usage(w: &World, usage: &crew_usage, pool: u64) {
    if let Some(pool) = w.pools.borrow().get(&pool) {
        assert_eq!(usage.capacity, pool.capacity);
    }
    assert!(usage.created <= usage.capacity && usage.created_high_water <= usage.capacity);
    assert!(usage.busy_high_water <= usage.capacity && usage.idle <= usage.created);
    assert_eq!(usage.busy, usage.created - usage.idle);
    assert!(usage.waiting as usize <= MAX_WAITERS);
    let suspended = w.threads.borrow().values().filter(|t| t.suspended).count();
    assert!(usage.suspended as usize <= suspended);
    assert_eq!(usage.refused[0], 0, "no refusal has the number 0");
}

/// What is known of a job's end from outside, and what was told of it.
fn check_told(token: &Token, settled: Settled) {
    let Settled::Joined { outcome, value, told } = settled else { return };
    if !told {
        return;
    }
    let told = (outcome, value);
    let expected = match token.end.get() {
        Some(End::Returned(value)) => (CREW_JOB_RETURNED, value),
        Some(End::Failed) => (CREW_JOB_FAILED, 0),
        Some(End::Died) => (CREW_JOB_DIED, 0),
        None => (CREW_JOB_NOT_RUN, 0),
    };
    assert!(token.end.get().is_some() || !token.begun.get(), "joined before its end");
    assert_eq!(told, expected, "what a join tells is what happened");
}

/// A job was joined, or detached: once. `None`: its `crew_run` has not returned yet.
pub fn settle(w: &World, bits: u64, settled: Settled) {
    let token = {
        let mut jobs = w.jobs.borrow_mut();
        let job = jobs.entry(bits).or_default();
        assert!(job.settled.replace(settled).is_none(), "a job is settled once");
        job.token.clone()
    };
    if let Some(token) = token {
        check_told(&token, settled);
    }
}

/// `crew_run` has just returned this job.
pub fn check_accepted(w: &World, bits: u64, token: &Rc<Token>) {
    let settled = {
        let mut jobs = w.jobs.borrow_mut();
        let job = jobs.entry(bits).or_default();
        assert!(job.token.replace(token.clone()).is_none(), "a job's handle is given once");
        job.settled
    };
    if let Some(settled) = settled {
        check_told(token, settled);
    }
}

/// The end: nothing is left.
pub fn check_end() {
    with(|w| {
        if !w.booted.get() {
            return;
        }
        calls::during(w, || give_everything_back(w));
        let account = account();
        assert_eq!((account.held_bytes, account.fixed_bytes, account.charges), (0, 0, 0));
        assert_eq!(w.threads.borrow().len(), 0, "every thread was joined");
        check_jobs(w);
        audit(w);
    });
}

/// Everybody stops, everything is closed and taken back.
fn give_everything_back(w: &World) {
    w.faults.heal();
    w.threads.borrow_mut().values_mut().for_each(|thread| {
        thread.suspended = false;
        thread.lingers = 0;
    });
    finish_jobs(w);
    release_bare(w);
    let pools: Vec<u64> = w.pools.borrow().keys().copied().collect();
    for bits in pools {
        let closed = w.pools.borrow()[&bits].closed;
        let status = crew_pool_close(crew_pool { bits }, 60_000);
        assert_eq!(status, if closed { CREW_STALE } else { CREW_OK }, "a pool closes");
    }
    // What a failed open could not close in time the next one does, whatever comes of itself.
    while port::step_any(w) {}
    calls::open_nothing();
    calls::reap();
    let charges: Vec<u64> = std::mem::take(&mut *w.charges.borrow_mut()).into_keys().collect();
    for bits in charges {
        assert_eq!(crew_uncharge(crew_charge_handle { bits }), CREW_OK);
    }
}

/// Every job that runs returns.
fn finish_jobs(w: &World) {
    let in_job =
        |w: &World| w.threads.borrow().values().any(|t| matches!(t.state, State::InJob(_)));
    while in_job(w) {
        port::step_any(w);
    }
}

/// Leases of pools without threads are released: no close can do that.
fn release_bare(w: &World) {
    let pools = w.pools.borrow();
    let is_bare = |pool| pools.get(&pool).is_some_and(|pool| pool.roles == 0);
    for (&bits, lease) in w.leases.borrow().iter() {
        if lease.granted.is_some_and(|(pool, _)| is_bare(pool)) && is_current(bits) {
            assert_eq!(crew_release(crew_lease { bits }), CREW_OK);
        }
    }
}

/// Every job that was accepted ended in one way, and a joiner can be told of it, or was.
fn check_jobs(w: &World) {
    let jobs: Vec<u64> = w.jobs.borrow().keys().copied().collect();
    for bits in jobs {
        let left = w.jobs.borrow()[&bits].settled.is_none();
        let mut result =
            crew_result { size: size_of::<crew_result>() as u32, outcome: 4711, value: 4711 };
        // SAFETY: `result` is valid.
        let status = unsafe { crew_join(crew_job { bits }, 0, &raw mut result) };
        if left {
            assert_eq!(status, CREW_OK, "a result is kept until it is taken");
            let (outcome, value) = (result.outcome, result.value);
            settle(w, bits, Settled::Joined { outcome, value, told: true });
        } else {
            assert_eq!(status, CREW_STALE, "a job is joined or detached once");
        }
        assert!(Kind::Job.has(bits));
    }
    let log = w.log.borrow();
    for token in w.tokens.borrow().iter() {
        let accepted = token.status.get() == Some(CREW_OK);
        assert!(accepted || !token.begun.get(), "what was refused is never run");
        assert_eq!(token.begun.get(), token.end.get().is_some(), "what was begun has ended");
        let Some(label) = token.label.as_ref().filter(|_| accepted && token.detached) else {
            continue;
        };
        let said = log.iter().filter(|line| line.starts_with(&format!("job {label}: "))).count();
        let clean = matches!(token.end.get(), Some(End::Returned(_)));
        assert_eq!(said, usize::from(!clean), "job {label} ended {:?}: {log:?}", token.end.get());
    }
}
