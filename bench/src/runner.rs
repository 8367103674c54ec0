// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interleaved rounds: in each round every contestant of a case has one turn, so that whatever else
//! the machine does hits all of them. `report.py` compares within a round.

use crate::place;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

/// How much is measured, from the environment; 1 is what the published figures used.
fn scale() -> f64 {
    std::env::var("BENCH_SCALE").ok().and_then(|text| text.parse().ok()).unwrap_or(1.0)
}

/// `n`, scaled, and at least `least`.
pub fn scaled(n: u32, least: u32) -> u32 {
    ((f64::from(n) * scale()) as u32).max(least)
}

/// One contestant: does its operation so many times and says how long that took.
pub struct Contestant<'a> {
    pub who: String,
    pub turn: Box<dyn FnMut(u32) -> Duration + 'a>,
}

impl<'a> Contestant<'a> {
    /// A contestant that is timed from outside.
    pub fn new(who: impl Into<String>, mut operate: impl FnMut(u32) + 'a) -> Self {
        Self::timing_itself(who, move |count| {
            let start = Instant::now();
            operate(count);
            start.elapsed()
        })
    }

    /// A contestant that takes the time itself.
    pub fn timing_itself(who: impl Into<String>, turn: impl FnMut(u32) -> Duration + 'a) -> Self {
        Self { who: who.into(), turn: Box::new(turn) }
    }
}

/// A contestant whose `count` operations are shared by so many threads, spread over the CPUs. The
/// time is from the first one's start, all being ready, to the last one's end.
pub fn together<'a>(
    who: &str,
    threads: usize,
    operate: impl Fn(u32) + Sync + 'a,
) -> Contestant<'a> {
    let cpus = place::allowed_cpus();
    Contestant::timing_itself(who, move |count| {
        let share = count / threads as u32;
        let ready = Barrier::new(threads);
        let timed = |index: usize| {
            place::pin(&[cpus[cpus.len() - 1 - index % cpus.len()]]);
            ready.wait();
            let start = Instant::now();
            operate(share);
            (start, Instant::now())
        };
        let times: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..threads)
                .map(|i| {
                    scope.spawn({
                        let timed = &timed;
                        move || timed(i)
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().expect("does not panic")).collect()
        });
        let start = times.iter().map(|&(start, _)| start).min().expect("a thread");
        let end = times.iter().map(|&(_, end)| end).max().expect("a thread");
        end - start
    })
}

/// Measures one case: `rounds` turns of `count` operations each, after one turn that does not
/// count. Prints the nanoseconds per operation of every turn.
pub fn contest(
    question: &str,
    case: &str,
    rounds: u32,
    count: u32,
    contestants: &mut [Contestant<'_>],
) {
    let rounds = scaled(rounds, 3);
    let mut ns: Vec<Vec<f64>> = contestants.iter().map(|_| Vec::new()).collect();
    for round in 0..=rounds as usize {
        for i in 0..contestants.len() {
            // Each round begins with another one, so that none always follows the same neighbour.
            let turn = (i + round) % contestants.len();
            let took = (contestants[turn].turn)(count);
            if round > 0 {
                ns[turn].push(took.as_nanos() as f64 / f64::from(count));
            }
        }
    }
    for (contestant, ns) in contestants.iter().zip(ns) {
        let who = &contestant.who;
        let row = format!(r#""question":"{question}","case":"{case}","who":"{who}","unit":"ns""#);
        println!(r#"{{{row},"rounds":{ns:?}}}"#);
    }
}
