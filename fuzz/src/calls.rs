// SPDX-License-Identifier: MIT OR Apache-2.0
//! The calls, with what the tape wants for arguments, and what each may answer.

use crate::block::{Block, Text, sized};
use crate::handles::{Kind, handle, remember};
use crate::laws;
use crate::port;
use crate::world::{Pool, Settled, Token, World, with};
use core::ffi::{CStr, c_char, c_void};
use crew::ffi::*;
use std::cell::Cell;
use std::rc::Rc;

/// The most calls of one input.
const CALLS: u32 = 4_000;

/// Plays the tape to its end.
pub fn play() {
    with(|w| {
        // Most inputs are a process with pools.
        if w.tape.byte() < 240 {
            during(w, || boot(w, true));
            (0..1 + w.tape.below(2)).for_each(|_| during(w, || open(w)));
        }
        while !w.tape.is_over() && w.done.get().calls < CALLS {
            one();
        }
    });
}

/// One call by one thread.
pub fn one() {
    with(|w| {
        during(w, || call(w));
        laws::check_now(w);
    });
}

/// A look meanwhile sees that a call is under way.
pub fn during(w: &World, call: impl FnOnce()) {
    w.count(|done| done.calls += 1);
    w.depth.set(w.depth.get() + 1);
    call();
    w.depth.set(w.depth.get() - 1);
}

fn call(w: &World) {
    match w.tape.byte() % 64 {
        0..8 => acquire(w),
        8..18 => run(w),
        18..23 => release(w),
        23..28 => join(w),
        28..30 => detach(w),
        30..38 => {
            port::step(w);
        }
        38 => port::kill(w),
        39..42 => open(w),
        42..44 => close(w),
        44 => trim(w),
        45 => charge(w),
        46 => uncharge(w),
        47 => pool_usage(w),
        48 => account_usage(w),
        49 => report(w),
        50 => lease_thread(w),
        51 => {
            let ms = w.tape.pick(&[1, 10, 999, 1024, 60_000, 3_600_000, u32::MAX]);
            w.clock_ms.set(w.clock_ms.get() + u64::from(ms));
        }
        52 => w.faults.preempt_in.set(w.tape.byte() & 15),
        53 => w.faults.fail_thread_in.set(w.tape.byte() & 7),
        54 => w.faults.fail_event_in.set(w.tape.byte() & 15),
        55 => w.faults.memory.set(w.tape.byte()),
        56 => {
            w.faults.linger.set(w.tape.byte() & 3);
            w.faults.early.set(w.tape.one_in(4));
            w.faults.stack_used.set(w.tape.pick(&[0, 100, 1 << 20, usize::MAX]));
        }
        57 => port::suspend(w),
        58 => port::forged_worker(w),
        59 => small_talk(w),
        60 => boot(w, false),
        61 => while port::step_any(w) && w.tape.below(4) == 0 && !w.tape.is_over() {},
        62 => w.faults.heal(),
        _ => seal(w),
    }
}

/// Whether the arguments of a call are to be as the header wants them.
fn is_good(w: &World) -> bool {
    w.tape.byte() < 216
}

#[track_caller]
fn among(status: i32, allowed: &[i32]) {
    assert!(allowed.contains(&status), "status {status} is none of {allowed:?}");
}

const REFUSALS: core::ops::RangeInclusive<i32> = 1..=9;

/// What a call with a handle answers, apart from its own: BAD_HANDLE exactly when the bits are no
/// handle of the kind.
#[track_caller]
fn check_handle(kind: Kind, bits: u64, status: i32) {
    assert_eq!(status == CREW_BAD_HANDLE, !kind.has(bits), "{kind:?} {bits:#x}: status {status}");
}

fn was_closed(w: &World, pool: u64) -> bool {
    w.pools.borrow().get(&pool).is_some_and(|pool| pool.closed)
}

/// Also what was closed before the call is stale.
#[track_caller]
fn check_pool(bits: u64, status: i32, was_closed: bool) {
    check_handle(Kind::Pool, bits, status);
    assert!(!was_closed || status == CREW_STALE, "status {status} of a closed pool");
}

fn timeout(w: &World) -> u32 {
    w.tape.pick(&[0, 0, 0, 1, 9, 11, 1000, 100_000, u32::MAX])
}

// ---- boot ----

fn boot(w: &World, first: bool) {
    let port = w.port.borrow_mut().get_or_insert_with(|| port::make(w)).clone();
    let flaw = if first { 0 } else { w.tape.below(7) };
    let text = match w.tape.below(4) {
        2 => Some(Text::hostile(&w.tape, CREW_TEXT_BYTES as usize, true)),
        3 => Some(Text::good(w.tape.pick(&["16", " 12 ", "1", "4294967295", "0", "lots"]))),
        _ => None,
    };
    // SAFETY: plain data, and the copy is only looked at.
    let mut other: crew_port = unsafe { core::ptr::read(&raw const *port) };
    match flaw {
        1 => other.size = other.size.wrapping_add(w.tape.pick(&[1, u32::MAX, 8])),
        2 => other.target = 3 + u32::from(w.tape.byte()),
        3 => match w.tape.below(8) {
            0 => other.thread_create = None,
            1 => other.thread_reap = None,
            2 => other.event_create = None,
            3 => other.event_wait = None,
            4 => other.event_post = None,
            5 => other.clock_ms = None,
            6 => other.memory_has = None,
            _ => other.log = None,
        },
        _ => {}
    }
    let other = Block::prefix(other, size_of::<crew_port>());
    let options = crew_boot_options {
        size: size_of::<crew_boot_options>() as u32,
        budget_mib: w.tape.pick(&[0, 0, 0, 1, 8, 64, 160, 4096, u32::MAX]),
        budget_text: text.as_ref().map_or(core::ptr::null(), Text::ptr),
        port: match flaw {
            0 => Rc::as_ptr(&port),
            4 => core::ptr::null(),
            _ => other.ptr(),
        },
    };
    let (options, _) = sized(&w.tape, flaw != 5, options);
    let options = if flaw == 6 { core::ptr::null() } else { options.ptr() };
    let was_booted = w.booted.get();
    // SAFETY: as `flaw` says; a port that is good lives as long as its process.
    let status = unsafe { crew_boot(options) };
    w.tell(format_args!("boot (flaw {flaw}): {status}"));
    match flaw {
        0 => among(
            status,
            &[CREW_OK, CREW_ALREADY_BOOTED, CREW_BUSY, CREW_REFUSED_OBJECTS_EXHAUSTED],
        ),
        1 | 5 => assert_eq!(status, CREW_BAD_SIZE),
        2..=4 => assert_eq!(status, CREW_BAD_PORT),
        _ => assert_eq!(status, CREW_NULL_ARGUMENT),
    }
    assert!(status != CREW_OK || !was_booted, "boots once");
    if status == CREW_OK {
        w.booted.set(true);
    }
}

fn seal(w: &World) {
    if w.tape.below(4) != 3 {
        return;
    }
    let was_sealed = w.sealed.get();
    let status = crew_seal();
    w.tell(format_args!("seal: {status}"));
    assert!(!was_sealed || status == CREW_ALREADY_SEALED);
    if !REFUSALS.contains(&status) {
        among(status, &[CREW_OK, CREW_NOT_BOOTED, CREW_ALREADY_SEALED, CREW_BUSY]);
    }
    if status == CREW_OK {
        w.sealed.set(true);
    }
}

// ---- pools ----

fn open(w: &World) {
    let flaw = if is_good(w) { 0 } else { 1 + w.tape.below(14) };
    let mut name = Text::good(w.tape.pick(&["p", "pool", "fifteen-letters"]));
    let mut names: Vec<Text> =
        (0..8).map(|i| Text::good(["a", "role-of-15-char"][i % 2])).collect();
    let mut count = w.tape.pick(&[1usize, 2, 2, 0, 3, 3, 8]);
    let mut good = true;
    if flaw == 1 {
        name = Text::hostile(&w.tape, CREW_NAME_BYTES as usize, false);
        good = name.is_good;
    }
    if flaw == 2 {
        count = count.max(1);
        names[0] = Text::hostile(&w.tape, CREW_NAME_BYTES as usize, false);
        good = names[0].is_good;
    }
    let stack =
        || w.tape.pick(&[65536, 65536, 65536, CREW_STACK_MIN, 1 << 20, 1 << 20, CREW_STACK_MAX]);
    let mut roles: Vec<crew_role> = names[..count]
        .iter()
        .map(|name| crew_role { name: name.ptr(), stack_bytes: stack(), priority: 10 })
        .collect();
    if flaw == 3 && count > 0 {
        roles[count - 1].stack_bytes = w.tape.pick(&[0, 4095, CREW_STACK_MAX + 1, u32::MAX]);
        good = false;
    }
    if flaw == 4 && count > 0 {
        roles[0].priority = w.tape.pick(&[100, u32::MAX]);
        good = false;
    }
    let stacks: u128 = roles.iter().map(|role| u128::from(role.stack_bytes)).sum();
    // Exactly the roles, each of which the core may read.
    let block = Block::poison(size_of::<crew_role>() * count);
    for (i, role) in roles.into_iter().enumerate() {
        // SAFETY: the block has `count` of them.
        unsafe { block.ptr::<crew_role>().add(i).write(role) };
    }
    let capacity = w.tape.pick(&[1, 2, 3, 4, 12]);
    let mut options = crew_pool_options {
        size: size_of::<crew_pool_options>() as u32,
        flags: w.tape.pick(&[0, CREW_POOL_ROLE_NAMES]),
        name: name.ptr(),
        roles: block.ptr(),
        role_count: count as u32,
        capacity,
        prestart: w.tape.pick(&[0, 1, capacity]),
        keep: w.tape.pick(&[0, 1, capacity]),
        idle_age_s: w.tape.pick(&[0, 1, 60, u32::MAX]),
        busy_age_s: w.tape.pick(&[0, 1, u32::MAX]),
        per_peer: w.tape.pick(&[0, 0, 1, 2]),
        reserved: 0,
        extra_bytes: w.tape.pick(&[0, 1, 1 << 20]),
    };
    if count == 0 {
        options.extra_bytes = options.extra_bytes.max(1);
    }
    match flaw {
        5 => options.capacity = w.tape.pick(&[0, crew::limits::MAX_SETS as u32 + 1, u32::MAX]),
        6 => options.prestart = options.capacity + 1 + u32::from(w.tape.byte()),
        7 => options.keep = u32::MAX,
        8 => options.role_count = w.tape.pick(&[CREW_MAX_ROLES + 1, u32::MAX]),
        9 => options.flags = w.tape.pick(&[2, 0x8000_0000, u32::MAX]),
        10 => options.reserved = 1,
        11 => options.extra_bytes = w.tape.pick(&[u64::MAX, u64::MAX / 2, 1 << 63]),
        12 => options.roles = core::ptr::null(),
        _ => {}
    }
    good &= flaw < 5 || flaw == 11 || (flaw == 12 && count == 0);
    // Nothing of the sum of all sets' bytes is lost.
    let set = stacks + w.overhead.get() as u128 * count as u128 + u128::from(options.extra_bytes);
    good &= set * u128::from(options.capacity) <= usize::MAX as u128;
    let (options_block, is_sized) = sized(&w.tape, flaw != 13, options_of(&options));
    let out = Block::poison(size_of::<crew_pool>());
    let (to, is_out) =
        if flaw == 14 { (core::ptr::null_mut(), false) } else { (out.ptr::<crew_pool>(), true) };
    // SAFETY: as the flaw says; everything is at least as long as the header wants it.
    let status = unsafe { crew_pool_open(options_block.ptr(), to) };
    w.tell(format_args!(
        "open (flaw {flaw}) {} roles, {} sets, prestart {}, keep {}: {status}",
        options.role_count, options.capacity, options.prestart, options.keep
    ));
    assert!(status != CREW_OK || (good && is_sized && is_out), "flaw {flaw} was accepted");
    if !REFUSALS.contains(&status) {
        among(
            status,
            &[
                CREW_OK,
                CREW_NOT_BOOTED,
                CREW_ALREADY_SEALED,
                CREW_BUSY,
                CREW_BAD_SIZE,
                CREW_BAD_FLAGS,
                CREW_BAD_TEXT,
                CREW_BAD_ROSTER,
                CREW_BAD_STACK,
                CREW_BAD_PRIORITY,
                CREW_BAD_CAPACITY,
                CREW_BAD_VALUE,
                CREW_TABLE_FULL,
                CREW_NULL_ARGUMENT,
            ],
        );
    }
    if status != CREW_OK {
        return assert!(out.is_untouched(), "nothing is written on a refusal");
    }
    let bits = out.value::<crew_pool>().bits;
    remember(w, Kind::Pool, bits);
    let pool = Pool {
        capacity: options.capacity,
        roles: options.role_count,
        per_peer: options.per_peer,
        closed: false,
    };
    assert!(w.pools.borrow_mut().insert(bits, pool).is_none(), "a pool's handle is given once");
}

/// Opens a pool that holds nothing, and closes it; after the seal that is refused.
pub fn open_nothing() {
    let options = crew_pool_options {
        size: size_of::<crew_pool_options>() as u32,
        flags: 0,
        name: c"nothing".as_ptr(),
        roles: core::ptr::null(),
        role_count: 0,
        capacity: 1,
        prestart: 0,
        keep: 0,
        idle_age_s: 0,
        busy_age_s: 0,
        per_peer: 0,
        reserved: 0,
        extra_bytes: 1,
    };
    let mut pool = crew_pool { bits: 0 };
    // SAFETY: both are as the header wants them.
    let status = unsafe { crew_pool_open(&raw const options, &raw mut pool) };
    among(status, &[CREW_OK, CREW_ALREADY_SEALED]);
    if status == CREW_OK {
        assert_eq!(crew_pool_close(pool, 0), CREW_OK);
    }
}

/// A report joins whatever has ended.
pub fn reap() {
    // SAFETY: `sink` takes this context.
    let status = unsafe { crew_report(0, Some(sink), core::ptr::without_provenance_mut(SINK)) };
    assert_eq!(status, CREW_OK);
}

fn options_of(options: &crew_pool_options) -> crew_pool_options {
    crew_pool_options { ..*options }
}

fn close(w: &World) {
    let bits = handle(w, Kind::Pool);
    let was_closed = was_closed(w, bits);
    let timeout = timeout(w);
    let status = crew_pool_close(crew_pool { bits }, timeout);
    w.tell(format_args!("close {bits:#x} in {timeout} ms: {status}"));
    among(status, &[CREW_OK, CREW_TIMED_OUT, CREW_STALE, CREW_BAD_HANDLE]);
    check_pool(bits, status, was_closed);
    if status == CREW_OK
        && let Some(pool) = w.pools.borrow_mut().get_mut(&bits)
    {
        assert!(!pool.closed, "a pool closes once");
        pool.closed = true;
    }
}

fn trim(w: &World) {
    let bits = handle(w, Kind::Pool);
    let was_closed = was_closed(w, bits);
    let keep = w.tape.pick(&[0, 1, u32::MAX]);
    let status = crew_pool_trim(crew_pool { bits }, keep);
    w.tell(format_args!("trim {bits:#x} to {keep}: {status}"));
    among(status, &[CREW_OK, CREW_STALE, CREW_BAD_HANDLE]);
    check_pool(bits, status, was_closed);
}

// ---- leases ----

fn acquire(w: &World) {
    let bits = handle(w, Kind::Pool);
    let was_closed = was_closed(w, bits);
    let (timeout, peer) = (timeout(w), w.tape.pick(&[None, None, Some(1), Some(2), Some(3 << 40)]));
    let flaw = if is_good(w) { 0 } else { 1 + w.tape.below(4) };
    let refusal = crew_refusal {
        size: size_of::<crew_refusal>() as u32,
        kind: 4711,
        capacity: 0,
        role: 0,
        os_error: 0,
        objects: 0,
        bytes_requested: 0,
        bytes_held: 0,
        bytes_budget: 0,
    };
    let (refusal, _) = sized(&w.tape, flaw != 1, refusal);
    let out = Block::poison(size_of::<crew_lease>());
    let to = if flaw == 2 { core::ptr::null_mut() } else { out.ptr::<crew_lease>() };
    let why = if flaw == 3 { core::ptr::null_mut() } else { refusal.ptr::<crew_refusal>() };
    let peer = if flaw == 4 { Some(0) } else { peer };
    let pool = crew_pool { bits };
    // SAFETY: `to` is NULL or writable; `why` is NULL, or valid as far as its size says.
    let status = unsafe {
        match peer {
            Some(peer) => crew_acquire_peer(pool, peer, timeout, to, why),
            None => crew_acquire(pool, timeout, to, why),
        }
    };
    w.tell(format_args!("acquire {bits:#x} for {peer:?} in {timeout} ms: {status}"));
    match flaw {
        1 => assert_eq!(status, CREW_BAD_SIZE),
        2 => assert_eq!(status, CREW_NULL_ARGUMENT),
        4 => assert_eq!(status, CREW_BAD_VALUE),
        _ => {
            if !REFUSALS.contains(&status) {
                among(status, &[CREW_OK, CREW_STALE, CREW_BAD_HANDLE]);
            }
            check_pool(bits, status, was_closed);
            if flaw == 0 {
                let why = refusal.value::<crew_refusal>();
                if REFUSALS.contains(&status) {
                    laws::check_refusal(w, &why, status, bits);
                } else {
                    assert_eq!(why.kind, 4711, "a refusal is written only when refused");
                }
            }
        }
    }
    if status != CREW_OK {
        return assert!(out.is_untouched(), "nothing is written on a refusal");
    }
    w.count(|done| done.leases += 1);
    let lease = out.value::<crew_lease>().bits;
    remember(w, Kind::Lease, lease);
    laws::check_granted(w, lease, bits, peer.unwrap_or(0));
}

fn release(w: &World) {
    let bits = handle(w, Kind::Lease);
    let status = crew_release(crew_lease { bits });
    w.tell(format_args!("release {bits:#x}: {status}"));
    among(status, &[CREW_OK, CREW_STALE, CREW_RETIRED, CREW_BAD_HANDLE]);
    check_handle(Kind::Lease, bits, status);
    if status == CREW_OK {
        let mut leases = w.leases.borrow_mut();
        let lease = leases.entry(bits).or_default();
        assert!(!lease.released, "a lease is released once");
        lease.released = true;
    }
}

fn lease_thread(w: &World) {
    let bits = handle(w, Kind::Lease);
    let role = w.tape.pick(&[0, 1, 2, 7, 8, u32::MAX]);
    let out = Block::poison(size_of::<usize>());
    let to = if is_good(w) { out.ptr() } else { core::ptr::null_mut() };
    // SAFETY: NULL or writable.
    let status = unsafe { crew_lease_thread(crew_lease { bits }, role, to) };
    if to.is_null() {
        return assert_eq!(status, CREW_NULL_ARGUMENT);
    }
    among(
        status,
        &[CREW_OK, CREW_NOT_RUN, CREW_STALE, CREW_RETIRED, CREW_BAD_HANDLE, CREW_BAD_ROLE],
    );
    check_handle(Kind::Lease, bits, status);
    if status == CREW_OK {
        let threads = w.threads.borrow();
        assert!(threads.contains_key(&out.value::<usize>()), "the thread of a lease exists");
    } else {
        assert!(out.is_untouched());
    }
}

// ---- jobs ----

/// What the function of a job returns.
pub fn value_of(token: &Token) -> i32 {
    (token.number as i32).wrapping_mul(0x1234_5677).wrapping_sub(3)
}

/// The token that a job's argument points to.
pub fn token_at(w: &World, argument: *mut c_void) -> Rc<Token> {
    let tokens = w.tokens.borrow();
    let found = tokens.iter().find(|token| Rc::as_ptr(token).addr() == argument.addr());
    found.expect("the argument is one that was given").clone()
}

extern "C" fn job(argument: *mut c_void) -> i32 {
    with(|w| {
        let token = token_at(w, argument);
        assert!(!token.begun.replace(true), "a job is begun once");
        let status = token.status.get();
        assert!(matches!(status, None | Some(CREW_OK)), "what was refused ({status:?}) is not run");
        if w.tape.below(4) == 3 {
            port::others(w);
        }
        value_of(&token)
    })
}

fn run(w: &World) {
    let bits = handle(w, Kind::Lease);
    let role = w.tape.pick(&[0, 0, 0, 1, 1, 2, 7, 8, u32::MAX]);
    let detached = w.tape.one_in(4);
    let flaw = if is_good(w) { 0 } else { 1 + w.tape.below(2) };
    let number = w.tokens.borrow().len();
    let label = format!("t{number}");
    let text = match flaw {
        1 => Text::hostile(&w.tape, CREW_LABEL_BYTES as usize, true),
        _ => Text::good(&label),
    };
    let token = Rc::new(Token {
        number,
        label: (flaw != 1).then_some(label),
        detached,
        status: Cell::new(None),
        begun: Cell::new(false),
        end: Cell::new(None),
    });
    w.tokens.borrow_mut().push(token.clone());
    let function: crew_function = if flaw == 2 { None } else { Some(job) };
    let argument = Rc::as_ptr(&token).cast_mut().cast();
    let out = Block::poison(size_of::<crew_job>());
    let to = if detached { core::ptr::null_mut() } else { out.ptr::<crew_job>() };
    // SAFETY: the label ends within its bound or fills it; `to` is NULL or writable; `job` takes
    // any argument that is a token.
    let status = unsafe { crew_run(crew_lease { bits }, role, text.ptr(), function, argument, to) };
    w.tell(format_args!("run {number} on {bits:#x} role {role}, detached {detached}: {status}"));
    token.status.set(Some(status));
    if flaw == 2 || text.is_null() {
        assert_eq!(status, CREW_NULL_ARGUMENT);
    } else if !text.is_good {
        assert_eq!(status, CREW_BAD_TEXT);
    } else {
        among(
            status,
            &[
                CREW_OK,
                CREW_NOT_RUN,
                CREW_BUSY,
                CREW_NO_JOB_CELL,
                CREW_STALE,
                CREW_BAD_HANDLE,
                CREW_BAD_ROLE,
            ],
        );
        check_handle(Kind::Lease, bits, status);
    }
    if status != CREW_OK {
        assert!(out.is_untouched(), "nothing is written on a refusal");
        return assert!(!token.begun.get(), "what is refused was not run");
    }
    if detached {
        assert!(out.is_untouched());
        return;
    }
    let handle = out.value::<crew_job>().bits;
    remember(w, Kind::Job, handle);
    laws::check_accepted(w, handle, &token);
}

fn join(w: &World) {
    let bits = handle(w, Kind::Job);
    let timeout = timeout(w);
    let flaw = if is_good(w) { 0 } else { 1 + w.tape.below(2) };
    let result = crew_result { size: size_of::<crew_result>() as u32, outcome: 4711, value: 4711 };
    let (result, _) = sized(&w.tape, flaw != 1, result);
    let to = if flaw == 2 { core::ptr::null_mut() } else { result.ptr::<crew_result>() };
    // SAFETY: NULL, or valid as far as its size says.
    let status = unsafe { crew_join(crew_job { bits }, timeout, to) };
    w.tell(format_args!("join {bits:#x} in {timeout} ms: {status}"));
    if flaw == 1 {
        return assert_eq!(status, CREW_BAD_SIZE);
    }
    among(status, &[CREW_OK, CREW_TIMED_OUT, CREW_BUSY, CREW_STALE, CREW_BAD_HANDLE]);
    check_handle(Kind::Job, bits, status);
    let (outcome, value) = match flaw {
        0 => {
            let result = result.value::<crew_result>();
            (result.outcome, result.value)
        }
        _ => (4711, 4711),
    };
    if status == CREW_OK {
        laws::settle(w, bits, Settled::Joined { outcome, value, told: flaw == 0 });
    } else {
        assert_eq!((outcome, value), (4711, 4711), "a result is written only on OK");
    }
}

fn detach(w: &World) {
    let bits = handle(w, Kind::Job);
    let status = crew_detach(crew_job { bits });
    w.tell(format_args!("detach {bits:#x}: {status}"));
    among(status, &[CREW_OK, CREW_BUSY, CREW_STALE, CREW_BAD_HANDLE]);
    check_handle(Kind::Job, bits, status);
    if status == CREW_OK {
        laws::settle(w, bits, Settled::Detached);
    }
}

// ---- the account, figures ----

fn charge(w: &World) {
    let bytes = w.tape.pick(&[4096, 1 << 20, 1, 0, u64::MAX, usize::MAX as u64 / 2, 1 << 40]);
    let out = Block::poison(size_of::<crew_charge_handle>());
    let to = if is_good(w) { out.ptr() } else { core::ptr::null_mut() };
    // SAFETY: NULL or writable.
    let status = unsafe { crew_charge(bytes, to) };
    w.tell(format_args!("charge {bytes}: {status}"));
    if to.is_null() {
        return assert_eq!(status, CREW_NULL_ARGUMENT);
    }
    among(status, &[CREW_OK, CREW_NOT_BOOTED, CREW_BAD_VALUE, CREW_TABLE_FULL]);
    if status != CREW_OK {
        return assert!(out.is_untouched());
    }
    assert!(bytes > 0);
    let bits = out.value::<crew_charge_handle>().bits;
    remember(w, Kind::Charge, bits);
    assert!(w.charges.borrow_mut().insert(bits, bytes).is_none(), "a charge is given once");
}

fn uncharge(w: &World) {
    let bits = handle(w, Kind::Charge);
    // Out of the ledger first: others may look while the call tells them of the bytes.
    let bytes = w.charges.borrow_mut().remove(&bits);
    let status = crew_uncharge(crew_charge_handle { bits });
    w.tell(format_args!("uncharge {bits:#x}: {status}"));
    among(status, &[CREW_OK, CREW_STALE, CREW_BAD_HANDLE]);
    check_handle(Kind::Charge, bits, status);
    assert_eq!(status == CREW_OK, bytes.is_some(), "a charge is taken back once");
}

fn account_usage(w: &World) {
    let (block, is_sized) = sized(&w.tape, is_good(w), zeroed_account());
    // SAFETY: valid as far as its size says.
    let status = unsafe { crew_account_usage(block.ptr()) };
    let booted = if w.booted.get() { CREW_OK } else { CREW_NOT_BOOTED };
    assert_eq!(status, if is_sized { booted } else { CREW_BAD_SIZE });
    // SAFETY: NULL is allowed.
    assert_eq!(unsafe { crew_account_usage(core::ptr::null_mut()) }, CREW_NULL_ARGUMENT);
}

fn zeroed_account() -> crew_account {
    crew_account {
        size: size_of::<crew_account>() as u32,
        verdict: 0,
        budget_bytes: 0,
        asked_bytes: 0,
        held_bytes: 0,
        high_water_bytes: 0,
        fixed_bytes: 0,
        refusals: 0,
        charges: 0,
    }
}

fn pool_usage(w: &World) {
    let bits = handle(w, Kind::Pool);
    let was_closed = was_closed(w, bits);
    let usage = crew_usage {
        size: size_of::<crew_usage>() as u32,
        capacity: 4711,
        created: 0,
        busy: 0,
        idle: 0,
        waiting: 0,
        created_high_water: 0,
        busy_high_water: 0,
        leases: 0,
        threads_created: 0,
        retirements: 0,
        suspended: 0,
        overdue: 0,
        oldest_busy_s: 0,
        refused: [0; CREW_REFUSAL_KINDS as usize],
        stack_used: [0; CREW_MAX_ROLES as usize],
    };
    let (block, is_sized) = sized(&w.tape, is_good(w), usage);
    // SAFETY: valid as far as its size says.
    let status = unsafe { crew_pool_usage(crew_pool { bits }, block.ptr()) };
    w.tell(format_args!("usage of {bits:#x}: {status}"));
    if !is_sized {
        return assert_eq!(status, CREW_BAD_SIZE);
    }
    among(status, &[CREW_OK, CREW_STALE, CREW_BAD_HANDLE]);
    check_pool(bits, status, was_closed);
    let usage = block.value::<crew_usage>();
    if status == CREW_OK {
        laws::check_usage(w, &usage, bits);
    } else {
        assert_eq!(usage.capacity, 4711);
    }
}

/// A sink's context.
const SINK: usize = 77;

unsafe extern "C" fn sink(context: *mut c_void, line: *const c_char) {
    assert_eq!(context.addr(), SINK);
    // SAFETY: the core's promise.
    port::check_line(unsafe { CStr::from_ptr(line) });
    with(port::preempt);
}

fn report(w: &World) {
    let level = w.tape.pick(&[0, 1, 2, u32::MAX]);
    let sink: crew_sink = if is_good(w) { Some(sink) } else { None };
    let context = core::ptr::without_provenance_mut(SINK);
    // SAFETY: `sink` takes this context.
    let status = unsafe { crew_report(level, sink, context) };
    assert_eq!(status, if sink.is_some() { CREW_OK } else { CREW_NULL_ARGUMENT });
}

// ---- what has no state ----

fn small_talk(w: &World) {
    match w.tape.below(3) {
        0 => {
            let text = Text::hostile(&w.tape, CREW_TEXT_BYTES as usize, true);
            let out = Block::poison(4);
            // SAFETY: the text ends within its bound or fills it; `out` is writable.
            let status = unsafe { crew_budget_parse(text.ptr(), out.ptr()) };
            among(status, &[CREW_OK, CREW_NULL_ARGUMENT, CREW_BAD_TEXT, CREW_BAD_BUDGET]);
            if status == CREW_OK {
                assert!(out.value::<u32>() > 0);
            } else {
                assert!(out.is_untouched());
            }
        }
        1 => {
            let number = w.tape.pick(&[w.tape.byte().into(), w.tape.long() as i32]);
            // SAFETY: static text.
            let text = unsafe { CStr::from_ptr(crew_status_text(number)) };
            port::check_line(text);
            assert_eq!(crew_status_errno(number) == 0, number == CREW_OK);
        }
        _ => {
            let refusal = crew_refusal {
                size: size_of::<crew_refusal>() as u32,
                kind: i32::from(w.tape.byte() % 12),
                capacity: 0,
                role: 0,
                os_error: w.tape.pick(&[0, 11, -7, i32::MIN]),
                objects: 0,
                bytes_requested: 0,
                bytes_held: 0,
                bytes_budget: 0,
            };
            let (block, is_sized) = sized(&w.tape, is_good(w), refusal);
            // SAFETY: valid as far as its size says.
            let errno = unsafe { crew_refusal_errno(block.ptr()) };
            assert!(errno != 0 && (is_sized || errno == 22));
        }
    }
}
