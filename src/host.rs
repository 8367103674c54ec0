// SPDX-License-Identifier: MIT OR Apache-2.0
//! What every service needs from the process: its port, its one account, charges for fixed threads,
//! the guard of administrative calls, the seal, the clock, the log, the boot.

pub(crate) mod charges;
mod line;
mod report;

pub(crate) use line::{Line, Printer};

use crate::account::{
    Account,
    verdict::{self, Verdict},
};
use crate::port::{Member, Port, Severity};
use crate::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
};
use charges::Charges;
use core::any::Any;
use core::fmt::{self, Write};

const MIB: usize = 1 << 20;

/// The process, as a service sees it.
pub(crate) struct Host {
    boot: spin::Once<Boot>,
    /// The try-only guard of administrative calls: 1 while a thread has it.
    pub(crate) admin: AtomicU32,
    sealed: AtomicU32,
    pub(crate) account: Account,
    account_refusals: AtomicU32,
    pub(crate) charges: Charges,
}

struct Boot {
    port: &'static dyn Port,
    workers: &'static (dyn Any + Send + Sync),
    asked_mib: Option<u32>,
    verdict: Verdict,
}

/// How large the budget shall be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget<'a> {
    /// The target's default.
    Default,
    /// An operator's number of MiB, not 0.
    Mib(u32),
    /// An operator's text. What is no positive whole number of MiB is ignored with a log line, and
    /// the default stands.
    Text(&'a str),
}

/// What [`crate::Crew::boot`] needs.
#[derive(Clone, Copy)]
pub struct BootOptions<'a> {
    /// Where threads, events and answers come from.
    pub port: &'static dyn Port,
    /// The budget asked for.
    pub budget: Budget<'a>,
}

/// Why the process did not boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BootError {
    /// It has booted already.
    AlreadyBooted,
    /// Another thread boots it right now, or performs an administrative call.
    Busy,
    /// The target made no kernel object for the waiters; the system's error number.
    Objects(i32),
}

impl fmt::Display for BootError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BootError::AlreadyBooted => f.write_str("booted already"),
            BootError::Busy => f.write_str("another administrative call is under way"),
            BootError::Objects(error) => write!(f, "the target made no event (error {error})"),
        }
    }
}

impl core::error::Error for BootError {}

/// The account's figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccountUsage {
    /// MiB asked for; `None`: no limit.
    pub asked_mib: Option<u32>,
    /// The budget in bytes; `usize::MAX`: no limit.
    pub budget: usize,
    /// Bytes held now, by sets and by fixed threads.
    pub held: usize,
    /// The most that was ever held.
    pub high_water: usize,
    /// Of the bytes held, those of fixed threads.
    pub fixed: usize,
    /// How often the account refused a set.
    pub refusals: u32,
    /// What the target said to the budget.
    pub verdict: Verdict,
}

impl Host {
    /// A process that has not booted.
    pub(crate) const fn new() -> Self {
        Self {
            boot: spin::Once::new(),
            admin: AtomicU32::new(0),
            sealed: AtomicU32::new(0),
            account: Account::new(0),
            account_refusals: AtomicU32::new(0),
            charges: Charges::new(),
        }
    }

    /// Opens the account, asks the target about the budget and says what there is to say. `workers`
    /// is what threads made by the port report to. `prepare` makes what the services need made at
    /// boot; its error number ends the boot.
    pub(crate) fn boot(
        &self,
        options: &BootOptions<'_>,
        workers: &'static (dyn Any + Send + Sync),
        prepare: impl FnOnce(&dyn Port) -> Result<(), i32>,
    ) -> Result<(), BootError> {
        let _admin = self.admin().ok_or(BootError::Busy)?;
        if self.boot.get().is_some() {
            return Err(BootError::AlreadyBooted);
        }
        let port = options.port;
        prepare(port).map_err(BootError::Objects)?;

        let chosen = match options.budget {
            Budget::Default => None,
            Budget::Mib(mib) => Some(mib),
            Budget::Text(text) => verdict::parse_mib(text).or_else(|| {
                let mut line = Line::new();
                // A line that is full is cut, not lost.
                let _ = verdict::write_bad_text(&mut line, text);
                port.log(Severity::Minor, line.text());
                None
            }),
        };
        let asked_mib = chosen.or(port.target().default_budget_mib());
        let verdict = match asked_mib {
            None => {
                self.account.set_budget(Account::UNBOUNDED);
                Verdict::Unbounded
            }
            Some(asked) => {
                let (mib, verdict) = verdict::judge(asked, chosen.is_some(), |mib| {
                    port.memory_has((mib as usize).saturating_mul(MIB))
                });
                self.account.set_budget((mib as usize).saturating_mul(MIB));
                verdict
            }
        };
        if let Some(severity) = verdict.announcement() {
            say(port, severity, format_args!("{verdict}"));
        }
        self.boot.call_once(|| Boot { port, workers, asked_mib, verdict });
        Ok(())
    }

    /// The port, once booted.
    pub(crate) fn port(&self) -> Option<&'static dyn Port> {
        self.boot.get().map(|boot| boot.port)
    }

    /// The port of a process that must have booted: pools, workers and jobs exist only then.
    pub(crate) fn booted_port(&self) -> &'static dyn Port {
        match self.port() {
            Some(port) => port,
            None => unreachable!("no pool is open before boot"),
        }
    }

    /// The worker with this number, for the thread that it is to be. Needs: booted.
    pub(crate) fn member(&self, worker: usize) -> Member {
        match self.boot.get() {
            Some(boot) => Member { process: boot.workers, worker },
            None => unreachable!("no thread is made before boot"),
        }
    }

    /// The guard of administrative calls, or `None` while another thread has it: those calls answer
    /// *busy* and never wait (P6).
    pub(crate) fn admin(&self) -> Option<Admin<'_>> {
        let won = self.admin.compare_exchange(0, 1, Acquire, Relaxed).is_ok();
        won.then_some(Admin(&self.admin))
    }

    pub(crate) fn is_sealed(&self) -> bool {
        self.sealed.load(Acquire) != 0
    }

    pub(crate) fn seal(&self) {
        self.sealed.store(1, Release);
    }

    /// Says one line to the operator. Needs: booted.
    pub(crate) fn say(&self, severity: Severity, text: fmt::Arguments<'_>) {
        say(self.booted_port(), severity, text);
    }

    /// The port's clock in steps of 1,024 ms, which takes no division on the path of each lease.
    /// Needs: booted.
    pub(crate) fn moment(&self) -> u32 {
        (self.booted_port().clock_ms() >> 10) as u32
    }

    pub(crate) fn count_account_refusal(&self) {
        self.account_refusals.fetch_add(1, Relaxed);
    }

    /// The account's figures; `None` before boot.
    pub(crate) fn account_usage(&self) -> Option<AccountUsage> {
        let boot = self.boot.get()?;
        Some(AccountUsage {
            asked_mib: boot.asked_mib,
            budget: self.account.budget(),
            held: self.account.held(),
            high_water: self.account.high_water(),
            fixed: self.charges.bytes(),
            refusals: self.account_refusals.load(Relaxed),
            verdict: boot.verdict,
        })
    }
}

/// Whole seconds between two of [`Host::moment`]: a step is 1 + 3/125 s. Two divisions of 32 bits,
/// as one of 64 bits is a function of 500 B on a Cortex-A9.
pub(crate) fn seconds_between(since: u32, now: u32) -> u32 {
    let steps = now.wrapping_sub(since);
    steps.wrapping_add(steps / 125 * 3).wrapping_add(steps % 125 * 3 / 125)
}

fn say(port: &dyn Port, severity: Severity, text: fmt::Arguments<'_>) {
    let mut line = Line::new();
    // A line that is full is cut, not lost.
    let _ = line.write_fmt(text);
    port.log(severity, line.text());
}

/// Held during an administrative call.
pub(crate) struct Admin<'a>(&'a AtomicU32);

impl Drop for Admin<'_> {
    fn drop(&mut self) {
        self.0.store(0, Release);
    }
}
