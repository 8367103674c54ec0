// SPDX-License-Identifier: MIT OR Apache-2.0
//! Crew beside what people use today, side by side in one process. One question per run:
//!
//! ```text
//! crew-bench lease
//! crew-bench refusal
//! crew-bench round-trip posix|epics one|two
//! crew-bench connection posix|epics one|any
//! crew-bench fleet
//! ```
//! Prints one JSON object per case and contestant; `report.py` makes the tables. How much is
//! measured can be scaled: `BENCH_SCALE=0.1` for a look.

mod connection;
mod drivers;
mod fleet;
mod lease;
mod locked;
mod peers;
mod place;
mod refusal;
mod round_trip;
mod runner;

use crate::place::Placement;
use crew::{BootOptions, Budget, Crew, shim};

/// Every contestant's threads have this priority: on EPICS' scale, where 0 is the lowest of 99.
pub const PRIORITY: u32 = 20;

/// Crew as a Rust program has it: on the port of `std::thread`.
pub static CREW: Crew = Crew::new();

/// Which port Crew's C interface runs on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Port {
    /// POSIX threads and futexes.
    Posix,
    /// EPICS threads and events, as in an IOC; libCom's own pool and threads are measured too.
    Epics,
}

impl Port {
    /// What kind of process the figures are of.
    pub fn process(self) -> &'static str {
        match self {
            Port::Posix => "POSIX port",
            Port::Epics => "EPICS port",
        }
    }
}

fn boot(port: Port) {
    CREW.boot(&BootOptions { port: &shim::PORT, budget: Budget::Default }).expect("boots once");
    drivers::boot(port);
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["lease"] => {
            boot(Port::Posix);
            lease::measure();
        }
        ["refusal"] => {
            boot(Port::Posix);
            refusal::measure();
        }
        ["round-trip", port, cpus] => {
            let placement = match cpus {
                "one" => Placement::one_cpu(),
                _ => Placement::two_cpus(),
            };
            placement.for_making();
            round_trip::measure(start(port), &placement);
        }
        ["connection", port, cpus] => {
            if cpus == "one" {
                Placement::one_cpu().for_making();
            }
            let placement = if cpus == "one" { "one CPU" } else { "any CPU" };
            connection::measure(start(port), placement);
        }
        ["fleet"] => fleet::measure(),
        _ => {
            eprintln!(
                "usage: crew-bench lease | refusal | fleet | round-trip posix|epics one|two | \
                 connection posix|epics one|any"
            );
            std::process::exit(2);
        }
    }
}

/// Boots on the named port, with the calling thread at the contestants' priority.
fn start(port: &str) -> Port {
    let port = if port == "epics" { Port::Epics } else { Port::Posix };
    if !place::real_time() {
        eprintln!("bench: no permission for SCHED_FIFO: measured under the default policy");
    }
    boot(port);
    port
}
