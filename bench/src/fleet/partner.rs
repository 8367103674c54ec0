// SPDX-License-Identifier: MIT OR Apache-2.0
//! The other side of a hand-over and of a wake-up: a thread or a process that does what it is told.

use super::member::{LONG_MS, Member};
use crate::drivers;
use crate::locked;
use crate::place::{self, Placement};
use core::cell::UnsafeCell;
use crew::fleet::FleetLease;
use std::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, Release},
};
use std::thread;

/// What the partner is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Answer.
    HandOver,
    /// Accept the lease on the board and complete it.
    Lease,
    /// The owner's locked instructions of a lease, bare.
    Bare,
    /// The last two steps of a lease under the mutex.
    Mutex,
    /// Give the unit of the semaphore back.
    Semaphore,
    /// Answer that many rings of the bell.
    Ring(Bell, u32),
    /// End.
    End,
}

/// How one side wakes the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bell {
    /// By completing a lease that the other waits for, in the table of this number.
    Complete(usize),
    /// A futex and nothing else.
    Futex,
    /// The same, each sleep with a bound.
    BoundedFutex,
}

/// How a side waits for a hand-over.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// Looks at the word until it has come.
    Looking,
    /// Sleeps on the word.
    Asleep,
}

/// A word in a cache line (and its neighbour) of its own.
#[repr(C, align(128))]
#[derive(Default)]
struct Line(AtomicU32);

/// What both sides see. Orders, answers and turns are futex words.
#[repr(C)]
struct Board {
    there: Line,
    back: Line,
    turn: Line,
    /// A lease's locked instructions bare.
    bare: locked::Resource,
    /// Written by the leader before it posts `there`, read by the partner that took it.
    order: UnsafeCell<Order>,
    lease: UnsafeCell<Option<FleetLease>>,
}

// SAFETY: the two cells have one user at a time: `there` and `back` hand them over.
unsafe impl Sync for Board {}

/// Whose turn it is to ring.
const LEADER: u32 = 1;
const PARTNER: u32 = 2;

/// This side's end of the board.
#[derive(Clone, Copy)]
pub struct Desk {
    board: &'static Board,
    waiting: Waiting,
    /// FUTEX_PRIVATE_FLAG if both sides are threads of one process.
    private: libc::c_int,
}

impl Desk {
    fn new(waiting: Waiting, one_process: bool) -> Self {
        // SAFETY: a new mapping of zeroes, which is shared with processes forked later.
        let place = unsafe {
            libc::mmap(
                core::ptr::null_mut(),
                size_of::<Board>(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        assert!(place != libc::MAP_FAILED, "shared memory");
        let place: *mut Board = place.cast();
        // SAFETY: large enough, aligned to a page, ours, and never unmapped.
        let board = unsafe {
            place.write(Board {
                there: Line::default(),
                back: Line::default(),
                turn: Line::default(),
                bare: locked::Resource::default(),
                order: UnsafeCell::new(Order::HandOver),
                lease: UnsafeCell::new(None),
            });
            &*place
        };
        let private = if one_process { libc::FUTEX_PRIVATE_FLAG } else { 0 };
        Self { board, waiting, private }
    }

    /// What both sides' bare leases change.
    pub fn bare(&self) -> &locked::Resource {
        &self.board.bare
    }

    /// Tells the partner, and waits for its answer.
    pub fn ask(&self, order: Order, lease: Option<FleetLease>) {
        // SAFETY: the partner waits for `there`.
        unsafe {
            self.board.order.get().write(order);
            self.board.lease.get().write(lease);
        }
        self.post(&self.board.there.0);
        self.take(&self.board.back.0);
    }

    fn post(&self, word: &AtomicU32) {
        word.store(1, Release);
        if self.waiting == Waiting::Asleep {
            self.wake(word);
        }
    }

    fn take(&self, word: &AtomicU32) {
        while word.load(Acquire) == 0 {
            match self.waiting {
                Waiting::Looking => core::hint::spin_loop(),
                Waiting::Asleep => self.sleep(word, 0, None),
            }
        }
        word.store(0, Release);
    }

    fn wake(&self, word: &AtomicU32) {
        // SAFETY: FUTEX_WAKE only uses the address.
        unsafe {
            libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE | self.private, 1)
        };
    }

    fn sleep(&self, word: &AtomicU32, value: u32, bound: Option<libc::timespec>) {
        let bound = bound.as_ref().map_or(core::ptr::null(), core::ptr::from_ref);
        let how = libc::FUTEX_WAIT | self.private;
        // SAFETY: the word and the bound outlive the call.
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), how, value, bound) };
    }

    /// Rings `count` times, each time after the partner has rung. `member` is the leader's, in the
    /// table that the bell names.
    pub fn ring(&self, bell: Bell, count: u32, member: Option<&Member<'_>>) -> std::time::Duration {
        let at_work = member.map(|member| member.begin_work(count));
        self.board.turn.0.store(LEADER, Release);
        self.ask(Order::Ring(bell, count), None);
        let start = std::time::Instant::now();
        self.play(bell, LEADER, count, member.zip(at_work));
        start.elapsed()
    }

    /// One side of the game: rings when it is its turn, and waits for its next one.
    fn play(
        &self,
        bell: Bell,
        me: u32,
        count: u32,
        crew: Option<(&Member<'_>, Vec<crew::fleet::Execution>)>,
    ) {
        let turn = &self.board.turn.0;
        let other = LEADER + PARTNER - me;
        if let Some((member, at_work)) = crew {
            for execution in at_work {
                if me == PARTNER {
                    member.wait_until(|| turn.load(Acquire) == me);
                }
                turn.store(other, Release);
                member.complete(execution);
                if me == LEADER {
                    member.wait_until(|| turn.load(Acquire) == me);
                }
            }
            return;
        }
        let bound = (bell == Bell::BoundedFutex)
            .then_some(libc::timespec { tv_sec: i64::from(LONG_MS / 1000), tv_nsec: 0 });
        let wait = || {
            while turn.load(Acquire) != me {
                self.sleep(turn, other, bound);
            }
        };
        for _ in 0..count {
            if me == PARTNER {
                wait();
            }
            turn.store(other, Release);
            self.wake(turn);
            if me == LEADER {
                wait();
            }
        }
    }

    /// What the partner does until it is told to end.
    fn serve(&self, members: &[Member<'_>]) {
        self.post(&self.board.back.0); // it is there
        loop {
            self.take(&self.board.there.0);
            // SAFETY: the leader waits for `back`.
            let (order, lease) = unsafe { (*self.board.order.get(), *self.board.lease.get()) };
            match order {
                Order::HandOver | Order::End => {}
                Order::Lease => members[0].serve(&lease.expect("a lease")),
                Order::Bare => self.board.bare.serve(&locked::Line::default()),
                Order::Mutex => {
                    drivers::mutex_accept();
                    drivers::mutex_complete();
                }
                Order::Semaphore => drivers::semaphore_give(),
                Order::Ring(bell, count) => {
                    let member = match bell {
                        Bell::Complete(table) => Some(&members[table]),
                        _ => None,
                    };
                    let at_work = member.map(|member| member.begin_work(count));
                    self.post(&self.board.back.0);
                    self.play(bell, PARTNER, count, member.zip(at_work));
                    continue;
                }
            }
            self.post(&self.board.back.0);
            if order == Order::End {
                return;
            }
        }
    }
}

/// Has another process serve, placed as the worker; `measure` is the leader. `tables` joins the
/// tables as the process that calls it.
pub fn with_process(
    waiting: Waiting,
    placement: &Placement,
    join: impl Fn(&mut dyn FnMut(&[Member<'_>])),
    measure: impl FnOnce(&Desk),
) {
    let cpus = place::allowed_cpus();
    let desk = Desk::new(waiting, false);
    // SAFETY: this process has one thread now; the child goes on as a process of its own.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "another process");
    if child == 0 {
        // SAFETY: takes numbers only. A partner whose leader is gone ends.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
        placement.for_making();
        join(&mut |members| desk.serve(members));
        std::process::exit(0);
    }
    placement.for_giving();
    desk.take(&desk.board.back.0);
    measure(&desk);
    desk.ask(Order::End, None);
    let mut status = 0;
    // SAFETY: the child is ours, and the status too.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(status, 0, "the partner ends well");
    place::pin(&cpus);
}

/// The same with another thread.
pub fn with_thread(
    waiting: Waiting,
    placement: &Placement,
    members: &[Member<'_>],
    measure: impl FnOnce(&Desk),
) {
    let cpus = place::allowed_cpus();
    let desk = Desk::new(waiting, true);
    thread::scope(|scope| {
        placement.for_making();
        scope.spawn(|| desk.serve(members));
        placement.for_giving();
        desk.take(&desk.board.back.0);
        measure(&desk);
        desk.ask(Order::End, None);
    });
    place::pin(&cpus);
}
