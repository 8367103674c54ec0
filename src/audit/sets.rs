// SPDX-License-Identifier: MIT OR Apache-2.0
//! The audit of worker sets: pools, sets, workers, jobs.

use super::{Check, Figures, Place, at_most, none, same};
use crate::limits::{MAX_ROLES, MAX_SETS, MAX_WAITERS, MAX_WORKERS};
use crate::sets::Sets;
use crate::sets::peer::ADMITTED;
use crate::sets::slot::{
    PoolSlot, SetIndex, SetWord, WorkerIndex, job_cells, job_state, pool_state, worker_state,
};
use crate::sync::atomic::Ordering::SeqCst;
use core::ops::Range;

/// The bits of a set's word that mean something.
const SET_BITS: u32 = 0x1f_ffff;

/// Whether a worker in this state has a job.
fn has_job(state: u32) -> bool {
    matches!(state, worker_state::ASSIGNED | worker_state::RUNNING)
}

impl PoolSlot {
    fn is_live(&self) -> bool {
        matches!(self.state(), pool_state::OPEN | pool_state::CLOSING)
    }
}

impl Sets {
    /// See [`crate::Crew::audit`].
    pub(super) fn audit(self, sum: &mut Figures) -> Check {
        for p in 0..self.tables.pools.len() {
            if self.pool(p).is_live() {
                self.audit_pool(p, sum)?;
            } else {
                self.audit_free_pool(p)?;
            }
        }
        self.audit_strays()?;
        self.audit_jobs(sum)?;
        let exited = self.tables.exited.load(SeqCst);
        let place = Place::Process;
        same(place, "threads to be reaped", exited, "workers that exited", sum.exited)?;
        none(place, "seats of waiters taken", self.tables.waiters.taken())
    }

    /// A pool's counters and bitmaps against its sets' words.
    fn audit_pool(self, p: usize, sum: &mut Figures) -> Check {
        let pool = self.pool(p);
        let place = Place::Pool(p);
        let overhead = self.host.booted_port().thread_overhead_bytes();
        at_most(place, "its last set", pool.set_range().end, "table", MAX_SETS)?;
        at_most(place, "its last worker", pool.worker_range().end, "table", MAX_WORKERS)?;
        for s in pool.sets() {
            self.audit_set(p, s, sum)?;
        }
        let words = || pool.sets().map(|s| self.set(s).word());
        let exist = words().filter(|&word| word != SetWord::FREE).count();
        let idle = words().filter(|word| word.is(SetWord::IDLE)).count();
        same(place, "sets created", pool.created.load(SeqCst), "words not free", exist)?;
        same(place, "users", pool.users.load(SeqCst), "words not free", exist)?;
        // Each bit was compared with its word; so a sum that differs means bits beyond the
        // capacity.
        same(place, "free slots", pool.slots.count(), "words free", pool.capacity() - exist)?;
        same(place, "idle bits", pool.idle.count(), "words marked idle", idle)?;
        none(place, "idle slots that a search would skip", pool.idle.unhinted())?;
        none(place, "free slots that a search would skip", pool.slots.unhinted())?;
        none(place, "threads waiting for a set", pool.waiting.load(SeqCst))?;
        none(place, "threads waiting for a peer", pool.peer_waiting.load(SeqCst))?;
        at_most(place, "highest slot lent", pool.busy_high.load(SeqCst), "slots", pool.capacity())?;
        self.audit_peers(p)?;
        sum.pools += 1;
        sum.sets += exist;
        sum.idle += idle;
        sum.held += exist * pool.extra_bytes.load(SeqCst);
        for (role, w) in pool.sets().flat_map(|s| pool.workers(s).enumerate()) {
            if self.worker(w).state() != worker_state::EMPTY {
                sum.held += pool.thread_bytes(role, overhead);
            }
        }
        Ok(())
    }

    /// A set's word against its bits, its lease and its workers.
    fn audit_set(self, p: usize, s: SetIndex, sum: &mut Figures) -> Check {
        let pool = self.pool(p);
        let set = self.set(s);
        let word = set.word();
        let place = Place::Set(s.0);
        let slot = pool.slot_of(s);
        same(place, "its pool", set.pool.load(SeqCst), "should be", p)?;
        same(
            place,
            "slot marked free",
            pool.slots.contains(slot),
            "word free",
            word == SetWord::FREE,
        )?;
        same(
            place,
            "idle bit",
            pool.idle.contains(slot),
            "word marked idle",
            word.is(SetWord::IDLE),
        )?;
        none(place, "under construction", word.is(SetWord::BUILDING))?;
        none(place, "being freed", word.is(SetWord::FREEING))?;
        let leased = word.is(SetWord::LEASED);
        same(place, "lease generation odd", set.lease.load(SeqCst) & 1, "word leased", leased)?;
        let flags = SetWord::LEASED | SetWord::RETIRED;
        none(place, "leased, retired or busy while idle", {
            word.is(SetWord::IDLE) && (word.is(flags) || word.jobs() > 0)
        })?;
        let retired = word.is(SetWord::RETIRED);
        let threadless = word.alive() == 0 && pool.role_count() > 0;
        none(
            place,
            "retired, unused, not freed",
            retired && word.is_unused() && word.alive() == 0,
        )?;
        none(place, "leased without a thread", leased && threadless)?;
        let lost = word != SetWord::FREE && !retired && word.is_unused();
        none(place, "neither lent nor idle", lost)?;
        if word == SetWord::FREE || word.is(SetWord::IDLE) {
            none(place, "counted for a peer", set.peer_word.load(SeqCst))?;
        }
        sum.leased += usize::from(leased);
        for (role, w) in pool.workers(s).enumerate() {
            self.audit_worker(s, role, w, sum)?;
        }
        let states = || pool.workers(s).map(|w| self.worker(w).state());
        let alive = states().filter(|&state| state != worker_state::EMPTY).count();
        let jobs = states().filter(|&state| has_job(state)).count();
        same(place, "threads in its word", word.alive(), "live workers", alive)?;
        same(place, "jobs in its word", word.jobs(), "workers with a job", jobs)?;
        sum.threads += alive;
        sum.jobs += jobs;
        Ok(())
    }

    /// A worker's word against its set's.
    fn audit_worker(self, s: SetIndex, role: usize, w: WorkerIndex, sum: &mut Figures) -> Check {
        use worker_state::{BOOKED, EMPTY, EXITED, PARKED, REAPING, RUNNING, STOP, WATCHED};
        let worker = self.worker(w);
        let (word, state) = (worker.word(), worker.state());
        let place = Place::Worker(w.0);
        same(place, "its set", worker.set().0, "should be", s.0)?;
        same(place, "its role", worker.role(), "should be", role)?;
        none(place, "being booked", state == BOOKED)?;
        none(place, "being reaped", state == REAPING)?;
        none(place, "being looked at", word & WATCHED != 0)?;
        let set = self.set(s).word();
        let in_use = set != SetWord::FREE && !set.is(SetWord::RETIRED);
        let lives = (PARKED..=RUNNING).contains(&state);
        if in_use {
            same(place, "thread alive", lives, "set in use", in_use)?;
        }
        if lives {
            same(place, "asked to stop", word & STOP != 0, "set retired", !in_use)?;
        }
        if set == SetWord::FREE {
            same(place, "state, of a free set", state, "empty is", EMPTY)?;
        }
        sum.exited += usize::from(state == EXITED);
        Ok(())
    }

    /// No peer has more sets than one may.
    fn audit_peers(self, p: usize) -> Check {
        let pool = self.pool(p);
        let limit = pool.per_peer.load(SeqCst);
        let peer_word = |s: SetIndex| self.set(s).peer_word.load(SeqCst);
        let key = |s: SetIndex| {
            let set = self.set(s);
            (set.peer_low.load(SeqCst), set.peer_high.load(SeqCst))
        };
        for s in pool.sets() {
            let counted = peer_word(s) == ADMITTED;
            none(Place::Set(s.0), "asks for its peer", peer_word(s) != 0 && !counted)?;
            if self.set(s).word().is(SetWord::LEASED) && limit > 0 {
                let for_peer = key(s) != (0, 0);
                same(Place::Set(s.0), "counted for a peer", counted, "leased to one", for_peer)?;
            }
            let same_peer =
                |&other: &SetIndex| peer_word(other) == ADMITTED && key(other) == key(s);
            if counted {
                let sets = pool.sets().filter(same_peer).count();
                at_most(Place::Pool(p), "sets of one peer", sets, "limit", limit)?;
            }
        }
        Ok(())
    }

    /// Nothing is left in a pool's slot that no pool has.
    fn audit_free_pool(self, p: usize) -> Check {
        let pool = self.pool(p);
        let place = Place::Pool(p);
        same(place, "state", pool.state(), "free is", pool_state::FREE)?;
        none(place, "sets created", pool.created.load(SeqCst))?;
        none(place, "users", pool.users.load(SeqCst))?;
        none(place, "free slots", pool.slots.count())?;
        none(place, "idle bits", pool.idle.count())?;
        none(place, "threads waiting for a set", pool.waiting.load(SeqCst))?;
        none(place, "threads waiting for a peer", pool.peer_waiting.load(SeqCst))
    }

    /// Sets and workers belong to one pool, or are free.
    fn audit_strays(self) -> Check {
        let of_live = |range: fn(&PoolSlot) -> Range<usize>| {
            self.tables.pools.each_ref().map(|pool| if pool.is_live() { range(pool) } else { 0..0 })
        };
        let (sets, workers) = (of_live(PoolSlot::set_range), of_live(PoolSlot::worker_range));
        for (s, set) in self.tables.sets.iter().enumerate() {
            let owners = sets.iter().filter(|sets| sets.contains(&s)).count();
            at_most(Place::Set(s), "pools that have it", owners, "at most", 1usize)?;
            if owners == 0 {
                none(Place::Set(s), "word, without a pool", set.word().0)?;
                none(Place::Set(s), "lease, without a pool", set.lease.load(SeqCst) & 1)?;
                none(Place::Set(s), "counted for a peer", set.peer_word.load(SeqCst))?;
            }
        }
        for (w, worker) in self.tables.workers.iter().enumerate() {
            let owners = workers.iter().filter(|workers| workers.contains(&w)).count();
            at_most(Place::Worker(w), "pools that have it", owners, "at most", 1usize)?;
            if owners == 0 {
                none(Place::Worker(w), "word, without a pool", worker.word())?;
            }
        }
        Ok(())
    }

    /// Each job cell is free, holds a result, or is the job of a worker that has one.
    fn audit_jobs(self, sum: &mut Figures) -> Check {
        for (w, worker) in self.tables.workers.iter().enumerate() {
            let job = if has_job(worker.state()) { worker.job.load(SeqCst) as usize } else { 0 };
            let own = job == 0 || job_cells(WorkerIndex(w)).contains(&(job - 1));
            same(Place::Worker(w), "job cell its own", own, "wanted", true)?;
            for cell in job_cells(WorkerIndex(w)) {
                let state = self.tables.jobs[cell].word.load_seq_cst().state();
                let place = Place::Job(cell);
                none(place, "being joined", state == job_state::WAITED)?;
                let waits = !matches!(state, job_state::FREE | job_state::DONE);
                same(place, "waits for its job's end", waits, "a worker has it", job == cell + 1)?;
                sum.results += usize::from(state == job_state::DONE);
            }
        }
        Ok(())
    }

    /// See [`crate::Crew::audit_busy`].
    pub(super) fn audit_busy(self) -> Check {
        for (p, pool) in self.tables.pools.iter().enumerate() {
            let place = Place::Pool(p);
            let life = pool.word.load_seq_cst();
            let capacity = pool.capacity();
            let (created, idle) = (pool.created.load(SeqCst), pool.idle.count());
            // Only if the slot did not change hands are these one pool's figures.
            if pool.is_live() && pool.word.load_seq_cst() == life {
                at_most(place, "sets created", created, "capacity", capacity)?;
                at_most(place, "idle bits", idle, "capacity", capacity)?;
            }
            let (sets, peers) = (pool.waiting.load(SeqCst), pool.peer_waiting.load(SeqCst));
            at_most(place, "threads waiting for a set", sets, "seats", MAX_WAITERS)?;
            at_most(place, "threads waiting for a peer", peers, "seats", MAX_WAITERS)?;
        }
        for (s, set) in self.tables.sets.iter().enumerate() {
            let (word, place) = (set.word(), Place::Set(s));
            let exclusive = SetWord::LEASED | SetWord::IDLE | SetWord::BUILDING | SetWord::FREEING;
            let states = (word.0 & exclusive).count_ones();
            at_most(place, "states at once", states, "at most", 1u32)?;
            none(place, "unknown bits", word.0 & !SET_BITS)?;
            none(place, "jobs while idle", word.is(SetWord::IDLE) && word.jobs() > 0)?;
            let freed = word.is(SetWord::FREEING);
            none(place, "threads while being freed", freed && word.alive() > 0)?;
            at_most(place, "threads", word.alive(), "roles", MAX_ROLES)?;
        }
        for (w, worker) in self.tables.workers.iter().enumerate() {
            use worker_state::{REAPING, STATE, STOP, WATCHED};
            let (word, place) = (worker.word(), Place::Worker(w));
            none(place, "unknown bits", word & !(STATE | STOP | WATCHED))?;
            at_most(place, "state", word & STATE, "highest", REAPING)?;
        }
        for (cell, job) in self.tables.jobs.iter().enumerate() {
            let state = job.word.load_seq_cst().state();
            at_most(Place::Job(cell), "state", state, "highest", job_state::DETACHED)?;
        }
        // A forged exit call counts for a moment; a count that wrapped is far above.
        let exited = self.tables.exited.load(SeqCst);
        at_most(Place::Process, "threads to be reaped", exited, "twice the table", 2 * MAX_WORKERS)
    }
}
