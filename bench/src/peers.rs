// SPDX-License-Identifier: MIT OR Apache-2.0
//! What people write, or take, to lend sets of threads. Here only the lending: the threads behind
//! the workers are not made, because none of these looks at them when it lends.

use crossbeam_queue::ArrayQueue;
use deadpool::unmanaged;
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

type Job = Box<dyn FnOnce() + Send>;

/// A worker as it is usually held: the sending end of its channel.
pub struct Worker {
    #[allow(dead_code)] // lending does not look at it
    jobs: Sender<Job>,
}

/// A set of `roles` workers, and the receiving ends, which their threads would have.
fn set(roles: usize, ends: &mut Vec<Receiver<Job>>) -> Vec<Worker> {
    let worker = |_| {
        let (jobs, end) = channel();
        ends.push(end);
        Worker { jobs }
    };
    (0..roles).map(worker).collect()
}

/// A mutex around a deque of sets, and nothing else: it does not know which set is lent, to which
/// borrower, since when, and no thread can wait for one.
pub struct Plain {
    idle: Mutex<VecDeque<Vec<Worker>>>,
}

impl Plain {
    pub fn lease(&self) -> Option<PlainLease<'_>> {
        let set = self.idle.lock().ok()?.pop_front()?;
        Some(PlainLease { pool: self, set: Some(set) })
    }
}

/// Puts its set back when it is dropped.
pub struct PlainLease<'a> {
    pool: &'a Plain,
    set: Option<Vec<Worker>>,
}

impl Drop for PlainLease<'_> {
    fn drop(&mut self) {
        if let (Some(set), Ok(mut idle)) = (self.set.take(), self.pool.idle.lock()) {
            idle.push_back(set);
        }
    }
}

/// The same with what a server comes to need: a lease that can be handed to another thread, a
/// bounded wait for a set, and the time since when each set has been lent.
#[derive(Clone)]
pub struct Waiting(Arc<WaitingInner>);

struct WaitingInner {
    state: Mutex<WaitingState>,
    returned: Condvar,
}

struct WaitingState {
    idle: VecDeque<(usize, Vec<Worker>)>,
    since: Vec<Option<Instant>>,
}

impl Waiting {
    pub fn lease(&self, timeout: Duration) -> Option<WaitingLease> {
        let mut state = self.0.state.lock().ok()?;
        if state.idle.is_empty() {
            let nothing = |state: &mut WaitingState| state.idle.is_empty();
            state = self.0.returned.wait_timeout_while(state, timeout, nothing).ok()?.0;
        }
        let (index, set) = state.idle.pop_front()?;
        state.since[index] = Some(Instant::now());
        drop(state);
        Some(WaitingLease { pool: self.clone(), set: Some((index, set)) })
    }
}

/// As [`PlainLease`].
pub struct WaitingLease {
    pool: Waiting,
    set: Option<(usize, Vec<Worker>)>,
}

impl Drop for WaitingLease {
    fn drop(&mut self) {
        let inner = &self.pool.0;
        if let (Some((index, set)), Ok(mut state)) = (self.set.take(), inner.state.lock()) {
            state.since[index] = None;
            state.idle.push_back((index, set));
            drop(state);
            inner.returned.notify_one();
        }
    }
}

/// The peers, each with the same number of sets idle.
pub struct Peers {
    pub plain: Plain,
    pub waiting: Waiting,
    pub queue: ArrayQueue<Vec<Worker>>,
    pub deadpool: unmanaged::Pool<Vec<Worker>>,
    _ends: Vec<Receiver<Job>>,
}

impl Peers {
    pub fn new(roles: usize, capacity: usize) -> Self {
        let mut ends = Vec::new();
        let mut sets =
            || -> Vec<Vec<Worker>> { (0..capacity).map(|_| set(roles, &mut ends)).collect() };
        let queue = ArrayQueue::new(capacity);
        for set in sets() {
            assert!(queue.push(set).is_ok(), "the queue has room for every set");
        }
        let state = WaitingState {
            idle: sets().into_iter().enumerate().collect(),
            since: vec![None; capacity],
        };
        Self {
            plain: Plain { idle: Mutex::new(sets().into()) },
            waiting: Waiting(Arc::new(WaitingInner {
                state: Mutex::new(state),
                returned: Condvar::new(),
            })),
            queue,
            deadpool: unmanaged::Pool::from(sets()),
            _ends: ends,
        }
    }
}
