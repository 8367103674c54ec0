// SPDX-License-Identifier: MIT OR Apache-2.0
//! `crew-plan`: how many sets fit on a target, whose "no" comes first, and what to change. The
//! arithmetic and the figures are [`crew::plan`]; here are the arguments, and in `text` the tables.

mod text;

use clap::{CommandFactory, Parser, ValueEnum, error::ErrorKind};
use crew::account::verdict::parse_mib;
use crew::plan::figures::{EPICS_STACKS_32, EPICS_STACKS_64, rtems};
use crew::plan::{Descriptors, Memory, PlannedPool, Site, Threads, parse_bytes, parse_roster};
use crew::port::Target;
use crew::table::Bitmap;

/// Says how many thread sets fit on a target, whose "no" comes first, and what to change.
///
/// Sizes are bytes, or have k, M, G (KiB, MiB, GiB) behind them.
#[derive(Parser)]
#[command(
    after_help = "Example, the startup script's \"crewBudget 160\", \"crewCasPool 141\" and \
    one more pool:\n  \
    crew-plan --target rtems --ram 256M --budget 160 --cas 141 --descriptors 150 8 \\\n      \
    --pool stream \"conn:big:20 reader:small:18 writer:small:18\" 8"
)]
struct Arguments {
    /// The system that the IOC runs on
    #[arg(long)]
    target: System,
    /// What makes the threads: C code (an IOC), or Rust's standard library
    #[arg(long, default_value = "c")]
    threads: Maker,
    /// A pointer's width, which decides what small, medium and big are [default: 32 on rtems, else
    /// 64]
    #[arg(long, value_name = "32|64", value_parser = ["32", "64"])]
    bits: Option<String>,
    /// The system's memory; what is left of it for threads follows from an IOC that was measured
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    ram: Option<usize>,
    /// Memory that is free for threads while no client is connected, as seen on your own target
    #[arg(long, value_name = "BYTES", value_parser = bytes, conflicts_with = "ram")]
    free: Option<usize>,
    /// crewBudget [default: the target's]
    #[arg(long, value_name = "MIB", value_parser = budget)]
    budget: Option<u32>,
    /// What fixed threads are charged with, all together
    #[arg(long, value_name = "BYTES", value_parser = bytes, default_value = "0")]
    fixed: usize,
    /// What a connection takes beyond its threads [default: 42659 on rtems, else 0]
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    beyond: Option<usize>,
    /// Descriptors that there are, and those in use while no client is connected
    #[arg(long, num_args = 2, value_names = ["TOTAL", "IDLE"])]
    descriptors: Option<Vec<usize>>,
    /// A pool, as crewPoolOpen takes it; may be given several times
    #[arg(long = "pool", num_args = 3, value_names = ["NAME", "ROLES", "CAPACITY"])]
    pools: Vec<String>,
    /// The CA server's pool, as crewCasPool takes it
    #[arg(long, value_name = "CAPACITY")]
    cas: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum System {
    Host,
    Rtems,
    Vxworks,
}

#[derive(Clone, Copy, ValueEnum)]
enum Maker {
    C,
    Std,
}

/// The roster of crewCasPool where its stacks are the CA server's own.
const CAS_ROLES: &str = "CAS-client:big:20 CAS-event:medium:19";

fn bytes(text: &str) -> Result<usize, String> {
    parse_bytes(text)
        .ok_or_else(|| "give a number of bytes, for example 65536, 64k or 15M".to_owned())
}

fn budget(text: &str) -> Result<u32, String> {
    parse_mib(text).ok_or_else(|| "give a positive whole number of MiB".to_owned())
}

fn pool(
    name: &str,
    roles: &str,
    capacity: &str,
    arguments: &Arguments,
) -> Result<PlannedPool, String> {
    let bits = arguments.bits.as_deref();
    let narrow =
        bits.unwrap_or(if matches!(arguments.target, System::Rtems) { "32" } else { "64" });
    let classes = if narrow == "32" { EPICS_STACKS_32 } else { EPICS_STACKS_64 };
    let roles = parse_roster(roles, classes).map_err(|error| format!("pool {name}: {error}"))?;
    let most = Bitmap::BITS;
    let capacity = capacity.parse().ok().filter(|capacity| (1..=most).contains(capacity));
    let capacity =
        capacity.ok_or_else(|| format!("pool {name}: capacity must be 1 to {most} sets"))?;
    let default = match arguments.target {
        System::Rtems => rtems::IOC_CLIENT_BYTES - rtems::CA_STACKS[0] - rtems::CA_STACKS[1],
        System::Host | System::Vxworks => 0,
    };
    let beyond_threads = arguments.beyond.unwrap_or(default);
    Ok(PlannedPool { name: name.to_owned(), roles, capacity, beyond_threads })
}

fn pools(arguments: &Arguments) -> Result<Vec<PlannedPool>, String> {
    let cas = arguments.cas.iter().map(|capacity| pool("CAS", CAS_ROLES, capacity, arguments));
    let others = arguments.pools.chunks_exact(3).map(|p| pool(&p[0], &p[1], &p[2], arguments));
    let pools = cas.chain(others).collect::<Result<Vec<_>, _>>()?;
    if pools.is_empty() {
        return Err("no pool: give --cas or --pool".to_owned());
    }
    Ok(pools)
}

fn site(arguments: &Arguments) -> Result<Site, String> {
    let fixed = arguments.fixed;
    let memory = match (arguments.target, arguments.ram, arguments.free) {
        (System::Host, Some(_), _) => {
            return Err("what a host leaves of its --ram is not known: give --free".to_owned());
        }
        (System::Vxworks, Some(ram), _) => Some(Memory::vxworks(ram, fixed)),
        (System::Rtems, Some(ram), _) => Some(Memory::rtems(ram)),
        (System::Rtems, None, Some(free)) => Some(Memory::rtems_free(free)),
        (_, None, Some(free)) => Some(Memory { free, one_piece: free, for_one_more: 0 }),
        (_, None, None) => None,
    };
    let descriptors = arguments.descriptors.as_deref();
    Ok(Site {
        target: match arguments.target {
            System::Host => Target::Host,
            System::Rtems => Target::Rtems,
            System::Vxworks => Target::VxWorks,
        },
        threads: match arguments.threads {
            Maker::C => Threads::C,
            Maker::Std => Threads::Std,
        },
        memory,
        budget_mib: arguments.budget,
        fixed,
        descriptors: descriptors.map(|table| Descriptors { total: table[0], idle: table[1] }),
    })
}

fn main() {
    let arguments = Arguments::parse();
    match (site(&arguments), pools(&arguments)) {
        (Ok(site), Ok(pools)) => print!("{}", text::plan(&site, &pools)),
        // Exit status 2, as for what clap itself finds.
        (Err(error), _) | (_, Err(error)) => {
            Arguments::command().error(ErrorKind::ValueValidation, error).exit()
        }
    }
}
