// SPDX-License-Identifier: MIT OR Apache-2.0
//! The plan as an operator reads it.

use crew::account::Account;
use crew::account::verdict::Verdict;
use crew::limits::{MAX_POOLS, MAX_SETS, MAX_WORKERS};
use crew::plan::{Bound, Filled, PlannedPool, Site, Threads};
use crew::port::Target;
use std::fmt::Write;

const MIB: usize = 1 << 20;

/// The whole output.
pub fn plan(site: &Site, pools: &[PlannedPool]) -> String {
    let mut out = String::new();
    // A `String` takes all that is written to it.
    let _ = write_site(&mut out, site);
    for pool in pools {
        let _ = write_pool(&mut out, site, pool);
    }
    let filled = site.fill(pools);
    if pools.len() > 1 {
        let _ = write_together(&mut out, site, pools, &filled);
    }
    let _ = write_changes(&mut out, site, pools, &filled);
    out
}

/// MiB with as many decimals as it takes, two at most.
fn mib(bytes: usize) -> String {
    let text = format!("{:.2}", bytes as f64 / MIB as f64);
    format!("{} MiB", text.trim_end_matches('0').trim_end_matches('.'))
}

fn what_ends(site: &Site, bound: Bound) -> &'static str {
    match (bound, site.target) {
        (Bound::Capacity, _) => "the pool refuses: at capacity",
        (Bound::Account, _) => "the account refuses: out of reservation",
        (Bound::Descriptors, _) => "no descriptor is left for a client that could be told no",
        (Bound::Memory, Target::VxWorks) => {
            "the target's memory ends: a thread fails, or is made and faults"
        }
        (Bound::Memory, _) => "the target's memory ends: a thread fails",
    }
}

fn write_site(out: &mut String, site: &Site) -> std::fmt::Result {
    let system = match site.target {
        Target::Host => "a host",
        Target::Rtems => "RTEMS",
        Target::VxWorks => "VxWorks",
    };
    let maker = match site.threads {
        Threads::C => "C",
        Threads::Std => "Rust's std",
    };
    let cost = match site.overhead_bytes() {
        0 => "cost their stack".to_owned(),
        bytes => format!("cost {} beyond their stack", mib(bytes)),
    };
    writeln!(out, "target       {system}; threads made by {maker} {cost}")?;
    match site.memory {
        Some(memory) => writeln!(
            out,
            "memory       {} for threads while nobody is connected, {} of it in one piece",
            mib(memory.free),
            mib(memory.one_piece)
        )?,
        None => writeln!(out, "memory       not given: its end is not in the tables")?,
    }
    let (budget, verdict) = site.budget();
    let budget = if budget == Account::UNBOUNDED { "none".to_owned() } else { mib(budget) };
    writeln!(out, "budget       {budget}: {}", verdict_text(verdict))?;
    if site.fixed > 0 {
        writeln!(out, "fixed        {} charged before any set", mib(site.fixed))?;
    }
    if let Some(table) = site.descriptors {
        writeln!(
            out,
            "descriptors  {} less {} in use less one to tell a refusal on: {} connections",
            table.total,
            table.idle,
            table.connections()
        )?;
    }
    Ok(())
}

fn verdict_text(verdict: Verdict) -> String {
    match verdict {
        // Nothing was asked: that no memory was given is said above.
        Verdict::Unverifiable { .. } => "not compared with the target's memory".to_owned(),
        verdict => verdict.to_string(),
    }
}

fn write_pool(out: &mut String, site: &Site, pool: &PlannedPool) -> std::fmt::Result {
    let set = pool.set_bytes(site.overhead_bytes());
    let roles: Vec<_> =
        pool.roles.iter().map(|(name, stack)| format!("{name} {}", mib(*stack))).collect();
    let roles = roles.join(" + ");
    let overhead = match site.overhead_bytes() {
        0 => String::new(),
        bytes => format!(" + {} for each thread", mib(bytes)),
    };
    let beyond = match pool.beyond_threads {
        0 => String::new(),
        bytes => format!("; {bytes} B more for each connection, not on the account"),
    };
    writeln!(out, "\npool {}: a set is {} ({roles}{overhead}){beyond}", pool.name, mib(set))?;
    writeln!(
        out,
        "  {:>5}  {:>12}  what ends its growth there, were it alone",
        "sets", "they hold"
    )?;
    for (place, (sets, bound)) in site.bounds(pool).into_iter().enumerate() {
        let mark = if place == 0 { "  <- first" } else { "" };
        let held = mib(sets.saturating_mul(set));
        writeln!(out, "  {sets:>5}  {held:>12}  {}{mark}", what_ends(site, bound))?;
    }
    Ok(())
}

fn write_together(
    out: &mut String,
    site: &Site,
    pools: &[PlannedPool],
    filled: &[Filled],
) -> std::fmt::Result {
    writeln!(out, "\nall pools, growing in turn")?;
    writeln!(
        out,
        "  {:<15}  {:>5}  {:>12}  what ends its growth there",
        "pool", "sets", "they hold"
    )?;
    for (pool, &Filled { sets, ended_by }) in pools.iter().zip(filled) {
        let held = mib(sets * pool.set_bytes(site.overhead_bytes()));
        writeln!(out, "  {:<15}  {sets:>5}  {held:>12}  {}", pool.name, what_ends(site, ended_by))?;
    }
    Ok(())
}

fn write_changes(
    out: &mut String,
    site: &Site,
    pools: &[PlannedPool],
    filled: &[Filled],
) -> std::fmt::Result {
    let ends_at = |bound| filled.iter().any(|filled| filled.ended_by == bound);
    writeln!(out, "\nwhat to change")?;
    if ends_at(Bound::Memory) {
        let held: usize = pools
            .iter()
            .zip(filled)
            .map(|(pool, filled)| pool.set_bytes(site.overhead_bytes()) * filled.sets)
            .sum();
        writeln!(
            out,
            "  - Nobody refuses before the memory ends: a budget of at most {} MiB does, or \
             lower\n    \
             capacities. More sets take smaller stacks or more memory.",
            (site.fixed + held) / MIB
        )?;
    }
    if ends_at(Bound::Descriptors) {
        let sets: usize = pools.iter().map(|pool| pool.capacity).sum();
        let table = site.descriptors.map_or(0, |table| table.idle + 1 + sets);
        let fit: usize = filled.iter().map(|filled| filled.sets).sum();
        writeln!(
            out,
            "  - Descriptors end before the capacities: {table} of them serve all {sets} sets, or \
             lower\n    \
             the capacities to {fit} sets in all."
        )?;
    }
    if ends_at(Bound::Account) {
        let wanted = site.budget_for_all(pools);
        let asked = Site { budget_mib: u32::try_from(wanted).ok(), ..*site };
        write!(out, "  - A budget of {wanted} MiB would admit every set")?;
        match asked.budget().1 {
            Verdict::Clamped { .. } | Verdict::FloorHeld { .. } => writeln!(
                out,
                ", but this target would not\n    \
                 confirm it: smaller stacks, lower capacities, or more memory."
            )?,
            _ if asked.fill(pools).iter().any(|filled| filled.ended_by == Bound::Memory) => {
                writeln!(
                    out,
                    ", but then the memory ends\n    \
                     first: smaller stacks, lower capacities, or more memory."
                )?
            }
            _ => writeln!(out, "; otherwise the refusal is the limit.")?,
        }
        if let [pool] = pools {
            let (budget, _) = site.budget();
            let set = budget.saturating_sub(site.fixed) / pool.capacity;
            writeln!(
                out,
                "  - In this budget all {} sets fit if a set is at most {} KiB (it is {} KiB).",
                pool.capacity,
                set >> 10,
                pool.set_bytes(site.overhead_bytes()) >> 10
            )?;
        }
    }
    if ends_at(Bound::Capacity) {
        let names: Vec<_> = pools
            .iter()
            .zip(filled)
            .filter(|(_, filled)| filled.ended_by == Bound::Capacity)
            .map(|(pool, _)| pool.name.as_str())
            .collect();
        writeln!(
            out,
            "  - All sets fit in {}: its capacity is the limit of connections, or can be raised.",
            names.join(", ")
        )?;
    }
    write_tables(out, pools)
}

/// What the library's own tables must hold.
fn write_tables(out: &mut String, pools: &[PlannedPool]) -> std::fmt::Result {
    let sets = pools.iter().map(|pool| pool.capacity).sum();
    let workers = pools.iter().map(|pool| pool.capacity * pool.roles.len()).sum();
    for (name, needed, default) in [
        ("CREW_MAX_POOLS", pools.len(), MAX_POOLS),
        ("CREW_MAX_SETS", sets, MAX_SETS),
        ("CREW_MAX_WORKERS", workers, MAX_WORKERS),
    ] {
        if needed > default {
            writeln!(
                out,
                "  - The library must be built with {name}={needed} or more (here it is {default})."
            )?;
        }
    }
    Ok(())
}
