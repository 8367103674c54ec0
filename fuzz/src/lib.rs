// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hostile callers of the C interface. One input is one process: from boot, through calls of every
//! function with arguments of every kind, to the moment when each byte must be back on the account.
//!
//! - `tape`: the input as decisions.
//! - `block`: arguments in memory, each of exactly its size.
//! - `port`: a port without threads. Its workers take a step when the tape says so; where the core
//!   calls the port, the tape may let others run first, as if the calling thread were preempted
//!   there. Everything is one thread of execution, so an input always does the same.
//! - `world`: what is known from outside, in ledgers that the core does not see.
//! - `handles`: handles that are valid, stale, of another kind, forged.
//! - `calls`: the calls, and what each may answer.
//! - `laws`: what holds at every moment, and at the end.
//!
//! A law that is broken is a panic, which the fuzzer counts as a crash.

mod block;
mod calls;
mod handles;
mod laws;
mod port;
mod tape;
mod world;

use std::sync::Mutex;

/// The C interface has one process, so inputs take turns.
static TURN: Mutex<()> = Mutex::new(());

/// What an input did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Calls of the C interface.
    pub calls: u32,
    /// Leases granted.
    pub leases: u32,
    /// Jobs that were begun.
    pub jobs: u32,
    /// Worker threads that ended without being asked to.
    pub deaths: u32,
}

/// Plays one input.
///
/// # Panics
/// When a law is broken.
pub fn run(input: &[u8]) -> Done {
    // A find in one input is not a find in the next.
    let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    // SAFETY: inputs take turns, and a port's threads are played by `run` itself.
    unsafe { crew::ffi::crew_restart() };
    world::begin(input);
    calls::play();
    laws::check_end();
    world::with(|w| w.done.get())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every input that ever found something, and those that reach what others do not. Slow tools
    /// take only every n-th, with CREW_FUZZ_EVERY=n.
    #[test]
    fn the_corpus_breaks_no_law() {
        let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/abi");
        let every = std::env::var("CREW_FUZZ_EVERY").map_or(1, |n| n.parse().expect("a number"));
        let mut files: Vec<_> = std::fs::read_dir(corpus)
            .expect("the corpus is there")
            .map(|file| file.expect("a file").path())
            .collect();
        files.sort();
        let mut inputs = 0;
        let mut sum = Done::default();
        for file in files.into_iter().step_by(every) {
            let input = std::fs::read(file).expect("can be read");
            let done = run(&input);
            assert_eq!(done, run(&input), "an input always does the same");
            inputs += 1;
            sum.calls += done.calls;
            sum.leases += done.leases;
            sum.jobs += done.jobs;
            sum.deaths += done.deaths;
        }
        println!("{inputs} inputs: {sum:?}");
        assert!(inputs > 0 && sum.leases > 0 && sum.jobs > 0 && sum.deaths > 0, "{sum:?}");
    }
}
