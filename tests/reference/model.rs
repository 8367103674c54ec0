// SPDX-License-Identifier: MIT OR Apache-2.0
//! The reference: what the pools must answer and count, in plain collections, one call after the
//! other. Nothing is atomic here and nothing is packed; a set is idle because no lease has it.
//!
//! Threads move only in [`Model::settle`]; the driver sees to it that the same is true of the core.

use crew::account::Shortfall;
use crew::{
    AcquireError, CloseError, JobError, JobResult, OpenError, Outcome, PoolOptions, PoolUsage,
    Refusal, RunError,
};
use std::collections::{BTreeMap, BTreeSet};

pub const MAX_POOLS: usize = 8;
/// How long a trim waits for threads that have nothing to do but end, and the driver's close.
pub const WAIT_MS: u64 = 1_000;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Thread {
    Gone,
    Free,
    Has(usize),
}

pub struct Set {
    pub lease: Option<usize>,
    peer: u64,
    since: u64,
    retired: bool,
    pub threads: Vec<Thread>,
}

impl Set {
    fn has_jobs(&self) -> bool {
        self.threads.iter().any(|thread| matches!(thread, Thread::Has(_)))
    }

    fn is_idle(&self) -> bool {
        self.lease.is_none() && !self.retired && !self.has_jobs()
    }
}

pub struct Pool {
    pub life: usize,
    closing: bool,
    roles: usize,
    thread_bytes: usize,
    options: PoolOptions<'static>,
    pub first_set: usize,
    first_worker: usize,
    pub sets: Vec<Option<Set>>,
    usage: PoolUsage,
}

impl Pool {
    fn set_bytes(&self) -> usize {
        self.roles * self.thread_bytes + self.options.extra_bytes
    }

    fn live(&self) -> impl Iterator<Item = &Set> {
        self.sets.iter().flatten()
    }

    fn created(&self) -> u32 {
        self.live().count() as u32
    }

    fn idle(&self) -> impl Iterator<Item = usize> {
        let idle = |slot: &usize| self.sets[*slot].as_ref().is_some_and(Set::is_idle);
        (0..self.sets.len()).filter(idle)
    }

    fn of_peer(&self, peer: u64) -> u32 {
        self.live().filter(|set| set.peer == peer && !set.is_idle()).count() as u32
    }
}

/// What a job does.
#[derive(Clone, Copy, Debug)]
pub enum How {
    Return(i32),
    Throw,
    Die,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum JobState {
    Given,
    Done(JobResult),
    Forgotten,
}

struct Job {
    how: How,
    cell: Option<usize>,
    state: JobState,
    detached: bool,
}

/// Where a lease is, or was.
#[derive(Clone, Copy)]
struct Lease {
    life: usize,
    slot: usize,
    set: usize,
}

pub struct Model {
    pub budget: usize,
    pub held: usize,
    pub high_water: usize,
    pub refusals: u32,
    pub now_ms: u64,
    pub charges: Vec<Option<usize>>,
    /// By slot.
    pub pools: [Option<Pool>; MAX_POOLS],
    pub lives: usize,
    leases: Vec<Lease>,
    jobs: Vec<Job>,
    /// Job cells whose results no joiner has taken.
    cells: BTreeSet<usize>,
    /// The last lease that was taken away from each set.
    revoked: BTreeMap<usize, usize>,
}

fn lowest_gap(taken: &[(usize, usize)], length: usize) -> usize {
    let is_gap =
        |start: usize| taken.iter().all(|&(first, end)| end <= start || start + length <= first);
    let starts = std::iter::once(0).chain(taken.iter().map(|&(_, end)| end));
    starts.filter(|&start| is_gap(start)).min().expect("the tables are large")
}

impl Model {
    pub fn new(budget: usize, now_ms: u64) -> Self {
        Self {
            budget,
            held: 0,
            high_water: 0,
            refusals: 0,
            now_ms,
            charges: Vec::new(),
            pools: [const { None }; MAX_POOLS],
            lives: 0,
            leases: Vec::new(),
            jobs: Vec::new(),
            cells: BTreeSet::new(),
            revoked: BTreeMap::new(),
        }
    }

    fn slot_of(&self, life: usize) -> Option<usize> {
        self.pools.iter().position(|pool| pool.as_ref().is_some_and(|pool| pool.life == life))
    }

    fn pool(&mut self, p: usize) -> &mut Pool {
        self.pools[p].as_mut().expect("open")
    }

    fn live_pools(&mut self) -> impl Iterator<Item = &mut Pool> {
        self.pools.iter_mut().flatten()
    }

    fn hold(&mut self, bytes: usize) {
        self.held += bytes;
        self.high_water = self.high_water.max(self.held);
    }

    // ---- threads ----

    fn end_job(&mut self, job: usize, outcome: Outcome, value: i32) {
        let job = &mut self.jobs[job];
        job.state = JobState::Done(JobResult { outcome, value });
        if job.detached {
            job.state = JobState::Forgotten;
            job.cell.map(|cell| self.cells.remove(&cell));
        }
    }

    /// The thread ends; its job, if it has one, ends so.
    fn thread_ends(&mut self, p: usize, slot: usize, role: usize, outcome: Outcome) {
        let pool = self.pool(p);
        let set = pool.sets[slot].as_mut().expect("exists");
        let had = std::mem::replace(&mut set.threads[role], Thread::Gone);
        pool.usage.retirements += u32::from(!std::mem::replace(&mut set.retired, true));
        if let Thread::Has(job) = had {
            self.end_job(job, outcome, 0);
        }
        self.held -= self.pool(p).thread_bytes;
    }

    pub fn kill(&mut self, p: usize, slot: usize, role: usize) {
        self.thread_ends(p, slot, role, Outcome::NotRun);
        self.tidy();
    }

    /// Every thread with a job runs it; then those that were asked to stop end.
    pub fn settle(&mut self) {
        for (p, slot, role) in self.threads() {
            let Thread::Has(job) = self.thread(p, slot, role) else { continue };
            match self.jobs[job].how {
                How::Die => self.thread_ends(p, slot, role, Outcome::Died),
                How::Return(value) => {
                    *self.thread_mut(p, slot, role) = Thread::Free;
                    self.end_job(job, Outcome::Returned, value);
                }
                How::Throw => {
                    *self.thread_mut(p, slot, role) = Thread::Free;
                    self.end_job(job, Outcome::Failed, 0);
                }
            }
        }
        for (p, slot, role) in self.threads() {
            if self.pool(p).sets[slot].as_ref().is_some_and(|set| set.retired) {
                *self.thread_mut(p, slot, role) = Thread::Gone;
                self.held -= self.pool(p).thread_bytes;
            }
        }
        self.tidy();
    }

    fn thread(&mut self, p: usize, slot: usize, role: usize) -> Thread {
        *self.thread_mut(p, slot, role)
    }

    fn thread_mut(&mut self, p: usize, slot: usize, role: usize) -> &mut Thread {
        &mut self.pool(p).sets[slot].as_mut().expect("exists").threads[role]
    }

    /// Pool, slot and role of every thread that exists.
    pub fn threads(&self) -> Vec<(usize, usize, usize)> {
        let mut all = Vec::new();
        for (p, pool) in self.pools.iter().enumerate() {
            for (slot, set) in pool.iter().flat_map(|pool| pool.sets.iter().enumerate()) {
                for (role, thread) in set.iter().flat_map(|set| set.threads.iter().enumerate()) {
                    if *thread != Thread::Gone {
                        all.push((p, slot, role));
                    }
                }
            }
        }
        all
    }

    /// Retired sets without threads are free, and their leases are taken away. A set without roles
    /// ends with its lease.
    fn tidy(&mut self) {
        let mut released = 0;
        let mut revoked = Vec::new();
        for pool in self.live_pools() {
            let extra = pool.options.extra_bytes;
            for (slot, place) in pool.sets.iter_mut().enumerate() {
                let Some(set) = place else { continue };
                if set.is_idle() {
                    set.peer = 0;
                }
                let gone = set.threads.iter().all(|thread| *thread == Thread::Gone);
                if set.retired && gone && (pool.roles > 0 || set.lease.is_none()) {
                    revoked.extend(set.lease.map(|lease| (pool.first_set + slot, lease)));
                    released += extra;
                    *place = None;
                }
            }
        }
        self.held -= released;
        self.revoked.extend(revoked);
    }

    // ---- calls ----

    /// The clock moves, and threads run, before this call and after it: it may wait.
    pub fn open(
        &mut self,
        options: PoolOptions<'static>,
        roles: usize,
        thread_bytes: usize,
    ) -> Result<usize, OpenError> {
        let Some(p) = self.pools.iter().position(Option::is_none) else {
            return Err(OpenError::TableFull);
        };
        let capacity = options.capacity as usize;
        let sets: Vec<_> =
            self.live_pools().map(|q| (q.first_set, q.first_set + q.sets.len())).collect();
        let workers: Vec<_> = self
            .live_pools()
            .map(|q| (q.first_worker, q.first_worker + q.sets.len() * q.roles))
            .collect();
        self.lives += 1;
        self.pools[p] = Some(Pool {
            life: self.lives,
            closing: false,
            roles,
            thread_bytes,
            options,
            first_set: lowest_gap(&sets, capacity),
            first_worker: lowest_gap(&workers, capacity * roles),
            sets: (0..capacity).map(|_| None).collect(),
            usage: PoolUsage::default(),
        });
        for slot in 0..options.prestart as usize {
            if let Err(refusal) = self.reserve(p) {
                self.retire_all(p);
                self.settle();
                self.pools[p] = None;
                return Err(OpenError::Refused(refusal));
            }
            self.make(p, slot, None, 0);
        }
        Ok(self.lives)
    }

    fn retire_all(&mut self, p: usize) {
        self.pool(p).sets.iter_mut().flatten().for_each(|set| set.retired = true);
        self.tidy();
    }

    /// Reserves the bytes of a set; other pools' idle sets above their keep are told to end first.
    fn reserve(&mut self, p: usize) -> Result<(), Refusal> {
        let requested = self.pool(p).set_bytes();
        if self.held + requested > self.budget {
            let mut coming: usize = self
                .live_pools()
                .map(|pool| {
                    pool.live().filter(|set| set.retired && !set.has_jobs()).count()
                        * pool.set_bytes()
                })
                .sum();
            for q in (0..MAX_POOLS).filter(|&q| q != p) {
                let Some(pool) = &mut self.pools[q] else { continue };
                while coming < requested
                    && !pool.closing
                    && pool.idle().count() > pool.options.keep as usize
                {
                    let lowest = pool.idle().next().expect("counted");
                    pool.sets[lowest].as_mut().expect("idle").retired = true;
                    coming += pool.set_bytes();
                }
            }
            self.tidy();
        }
        if self.held + requested > self.budget {
            self.refusals += 1;
            let (held, budget) = (self.held, self.budget);
            return Err(Refusal::OutOfReservation(Shortfall { requested, held, budget }));
        }
        self.hold(requested);
        Ok(())
    }

    fn make(&mut self, p: usize, slot: usize, lease: Option<usize>, peer: u64) {
        let since = self.now_ms >> 10;
        let pool = self.pool(p);
        let threads = vec![Thread::Free; pool.roles];
        pool.sets[slot] = Some(Set { lease, peer, since, retired: false, threads });
        pool.usage.threads_created += pool.roles as u32;
        pool.usage.created_high_water = pool.usage.created_high_water.max(pool.created());
    }

    /// The set, by its place in the table.
    pub fn acquire(&mut self, life: usize, peer: u64) -> Result<usize, AcquireError> {
        let p = self.slot_of(life).ok_or(AcquireError::Stale)?;
        let result = self.find_set(p, peer);
        let lease = self.leases.len();
        let now = self.now_ms >> 10;
        let pool = self.pool(p);
        match result {
            Ok(slot) => {
                let place = pool.first_set + slot;
                let set = pool.sets[slot].as_mut().expect("made or idle");
                (set.lease, set.peer, set.since) = (Some(lease), peer, now);
                pool.usage.leases += 1;
                pool.usage.busy_high_water = pool.usage.busy_high_water.max(slot as u32 + 1);
                self.leases.push(Lease { life, slot, set: place });
                Ok(place)
            }
            Err(refusal) => {
                pool.usage.refused[refusal.kind() as usize] += 1;
                Err(AcquireError::Refused(refusal))
            }
        }
    }

    fn find_set(&mut self, p: usize, peer: u64) -> Result<usize, Refusal> {
        let pool = self.pool(p);
        if pool.closing {
            return Err(Refusal::ShuttingDown);
        }
        let limit = pool.options.per_peer;
        let too_many = limit > 0 && peer != 0 && pool.of_peer(peer) >= limit;
        let idle = pool.idle().next();
        let free = pool.sets.iter().position(Option::is_none);
        let capacity = pool.options.capacity;
        if too_many {
            return Err(Refusal::PeerLimit { limit });
        }
        let slot = idle.or(free).ok_or(Refusal::AtCapacity { capacity })?;
        if idle.is_none() {
            self.reserve(p)?;
            self.make(p, slot, None, peer);
        }
        Ok(slot)
    }

    /// Pool and slot of a current lease, else the error for its user.
    fn current(&mut self, lease: usize) -> Result<(usize, usize), RunError> {
        let Lease { life, slot, set } = self.leases[lease];
        let here = self.slot_of(life).filter(|&p| {
            self.pools[p].as_ref().expect("found").sets[slot]
                .as_ref()
                .is_some_and(|set| set.lease == Some(lease))
        });
        let revoked = self.revoked.get(&set) == Some(&lease);
        here.map(|p| (p, slot)).ok_or(if revoked { RunError::Retired } else { RunError::Stale })
    }

    pub fn release(&mut self, lease: usize) -> Result<(), RunError> {
        let (p, slot) = self.current(lease)?;
        let pool = self.pool(p);
        let bare = pool.roles == 0;
        let set = pool.sets[slot].as_mut().expect("current");
        set.lease = None;
        set.retired |= bare;
        self.tidy();
        Ok(())
    }

    /// The job cell, for a joinable job.
    pub fn run(
        &mut self,
        lease: usize,
        role: usize,
        how: How,
        joinable: bool,
    ) -> Result<Option<usize>, RunError> {
        let gone = |error| if error == RunError::Retired { RunError::NotRun } else { error };
        let (p, slot) = self.current(lease).map_err(gone)?;
        let pool = self.pool(p);
        if role >= pool.roles {
            return Err(RunError::BadRole);
        }
        let worker = pool.first_worker + slot * pool.roles + role;
        let set = pool.sets[slot].as_ref().expect("current");
        if set.retired {
            return Err(RunError::NotRun);
        }
        if set.threads[role] != Thread::Free {
            return Err(RunError::Busy);
        }
        let mut cell = None;
        if joinable {
            let free = (2 * worker..2 * worker + 2).find(|cell| !self.cells.contains(cell));
            cell = Some(free.ok_or(RunError::NoJobCell)?);
        }
        self.cells.extend(cell);
        let job = self.jobs.len();
        // A detached job that was never joinable has a name too, which no caller knows.
        self.jobs.push(Job { how, cell, state: JobState::Given, detached: !joinable });
        *self.thread_mut(p, slot, role) = Thread::Has(job);
        Ok(cell)
    }

    /// The number by which the driver knows the job given last.
    pub fn last_job(&self) -> usize {
        self.jobs.len() - 1
    }

    pub fn join(&mut self, job: usize) -> Result<JobResult, JobError> {
        match self.jobs[job].state {
            JobState::Given if self.jobs[job].detached => Err(JobError::Stale),
            JobState::Given => Err(JobError::TimedOut),
            JobState::Forgotten => Err(JobError::Stale),
            JobState::Done(result) => {
                self.forget(job);
                Ok(result)
            }
        }
    }

    pub fn detach(&mut self, job: usize) -> Result<(), JobError> {
        match self.join(job) {
            Err(JobError::TimedOut) => {
                self.jobs[job].detached = true;
                Ok(())
            }
            result => result.map(drop),
        }
    }

    fn forget(&mut self, job: usize) {
        self.jobs[job].state = JobState::Forgotten;
        self.jobs[job].cell.map(|cell| self.cells.remove(&cell));
    }

    /// Threads run before this call and after it: it waits.
    pub fn trim(&mut self, life: usize, keep: u32) -> Result<(), CloseError> {
        let p = self.slot_of(life).ok_or(CloseError::Stale)?;
        let pool = self.pool(p);
        while pool.idle().count() > keep as usize {
            let lowest = pool.idle().next().expect("counted");
            pool.sets[lowest].as_mut().expect("idle").retired = true;
        }
        self.settle();
        if self.pool(p).live().any(|set| set.retired && !set.has_jobs()) {
            self.now_ms += WAIT_MS; // for the lease of a set without roles
        }
        Ok(())
    }

    /// If it waits: threads run before this call and after it.
    pub fn close(&mut self, life: usize, wait: bool) -> Result<(), CloseError> {
        let p = self.slot_of(life).ok_or(CloseError::Stale)?;
        self.pool(p).closing = true;
        self.retire_all(p);
        if wait && self.pool(p).created() > 0 {
            self.settle();
            if self.pool(p).created() > 0 {
                self.now_ms += WAIT_MS;
            }
        }
        match self.pool(p).created() {
            0 => {
                self.pools[p] = None;
                Ok(())
            }
            left => Err(CloseError::TimedOut(left)),
        }
    }

    pub fn charge(&mut self, bytes: usize) {
        self.charges.push(Some(bytes));
        self.hold(bytes);
    }

    pub fn uncharge(&mut self, index: usize) -> bool {
        let bytes = self.charges[index].take();
        self.held -= bytes.unwrap_or(0);
        bytes.is_some()
    }

    /// The figures that the pool must report.
    pub fn usage(&self, life: usize) -> Option<PoolUsage> {
        let pool = self.pools[self.slot_of(life)?].as_ref()?;
        let age = |since: u64| ((self.now_ms >> 10) - since) * 1024 / 1000;
        let busy = pool.live().filter(|set| set.lease.is_some() || set.has_jobs());
        let ages: Vec<u64> = busy.map(|set| age(set.since)).collect();
        let limit = u64::from(pool.options.busy_age_s);
        let idle = pool.idle().count() as u32;
        Some(PoolUsage {
            capacity: pool.options.capacity,
            created: pool.created(),
            busy: pool.created() - idle,
            idle,
            overdue: ages.iter().filter(|&&age| limit > 0 && age > limit).count() as u32,
            oldest_busy_s: ages.iter().max().map_or(0, |&age| age as u32),
            ..pool.usage
        })
    }
}
