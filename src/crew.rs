// SPDX-License-Identifier: MIT OR Apache-2.0
//! The process: its port, its one account, its tables. An image has one [`Crew`]; tests have many.

use crate::account::{
    Account, Shortfall,
    verdict::{self, Verdict},
};
use crate::limits::{JOBS_PER_WORKER, MAX_CHARGES, MAX_POOLS, MAX_SETS, MAX_WORKERS, TEXT_BYTES};
use crate::port::{Member, Port, Severity};
use crate::sets::slot::{JobCell, PoolSlot, Set, Worker};
use crate::sync::atomic::{
    AtomicU32, AtomicUsize,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};
use crate::table::{Handle, Kind, Waiters};
use core::fmt::{self, Write};

const MIB: usize = 1 << 20;

/// The process: everything that Crew owns. Put it in a `static`, boot it once.
pub struct Crew {
    boot: spin::Once<Boot>,
    /// The try-only guard of administrative calls.
    pub(crate) admin: AtomicU32,
    sealed: AtomicU32,
    pub(crate) account: Account,
    account_refusals: AtomicU32,
    pub(crate) fixed_bytes: AtomicUsize,
    pub(crate) charges: [ChargeSlot; MAX_CHARGES],
    pub(crate) pools: [PoolSlot; MAX_POOLS],
    pub(crate) sets: [Set; MAX_SETS],
    pub(crate) workers: [Worker; MAX_WORKERS],
    pub(crate) jobs: [JobCell; MAX_WORKERS * JOBS_PER_WORKER],
    pub(crate) waiters: Waiters,
    /// Threads whose exit hook has run and that nobody has reaped yet.
    pub(crate) exited: AtomicU32,
}

struct Boot {
    port: &'static dyn Port,
    asked_mib: Option<u32>,
    verdict: Verdict,
}

/// `generation:30 state:2`, and the bytes, which are written before the state says taken.
pub(crate) struct ChargeSlot {
    pub(crate) word: AtomicU32,
    pub(crate) bytes: AtomicUsize,
}

pub(crate) const CHARGE_FREE: u32 = 0;
const CHARGE_CHANGING: u32 = 1;
pub(crate) const CHARGE_TAKEN: u32 = 2;
pub(crate) const CHARGE_STATE: u32 = 3;

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

/// What [`Crew::boot`] needs.
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

/// The memory of a fixed thread on the account. Dropping it takes the charge back.
#[derive(Debug)]
#[must_use = "dropping a charge takes it back"]
pub struct Charge {
    crew: &'static Crew,
    handle: Handle,
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.crew.uncharge(self.handle);
    }
}

impl Crew {
    /// A process that has not booted.
    #[allow(clippy::new_without_default)] // A `Crew` is a static; nothing should make one by default.
    pub const fn new() -> Self {
        Self {
            boot: spin::Once::new(),
            admin: AtomicU32::new(0),
            sealed: AtomicU32::new(0),
            account: Account::new(0),
            account_refusals: AtomicU32::new(0),
            fixed_bytes: AtomicUsize::new(0),
            charges: [const { ChargeSlot { word: AtomicU32::new(0), bytes: AtomicUsize::new(0) } };
                MAX_CHARGES],
            pools: [const { PoolSlot::new() }; MAX_POOLS],
            sets: [const { Set::new() }; MAX_SETS],
            workers: [const { Worker::new() }; MAX_WORKERS],
            jobs: [const { JobCell::new() }; MAX_WORKERS * JOBS_PER_WORKER],
            waiters: Waiters::new(),
            exited: AtomicU32::new(0),
        }
    }

    /// Opens the account, asks the target about the budget and says what there is to say. Once, by
    /// the thread that starts the process up.
    ///
    /// # Errors
    /// See [`BootError`]; nothing was changed, and after [`BootError::Objects`] it may be tried again.
    pub fn boot(&'static self, options: &BootOptions<'_>) -> Result<(), BootError> {
        let _admin = self.admin().ok_or(BootError::Busy)?;
        if self.boot.get().is_some() {
            return Err(BootError::AlreadyBooted);
        }
        let port = options.port;
        self.waiters.prepare(port).map_err(BootError::Objects)?;

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
            self.say(port, severity, format_args!("{verdict}"));
        }
        self.boot.call_once(|| Boot { port, asked_mib, verdict });
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

    /// The guard of administrative calls, or `None` while another thread has it: those calls answer
    /// *busy* and never wait (P6).
    pub(crate) fn admin(&self) -> Option<Admin<'_>> {
        let won = self.admin.compare_exchange(0, 1, Acquire, Relaxed).is_ok();
        won.then_some(Admin(&self.admin))
    }

    pub(crate) fn is_sealed(&self) -> bool {
        self.sealed.load(Acquire) != 0
    }

    pub(crate) fn set_sealed(&self) {
        self.sealed.store(1, Release);
    }

    /// Member `index` of this process, for ports whose threads start with a number; `None`: there is
    /// no such worker.
    pub fn member(&'static self, index: usize) -> Option<Member> {
        (index < MAX_WORKERS).then_some(Member { crew: self, worker: index })
    }

    /// Says one line.
    pub(crate) fn say(&self, port: &dyn Port, severity: Severity, text: fmt::Arguments<'_>) {
        let mut line = Line::new();
        // A line that is full is cut, not lost.
        let _ = line.write_fmt(text);
        port.log(severity, line.text());
    }

    pub(crate) fn count_account_refusal(&self) {
        self.account_refusals.fetch_add(1, Relaxed);
    }

    /// Puts the memory of a fixed thread (a scan band, an acceptor) on the account for as long as
    /// the charge lives. It cannot be refused for the budget. Any thread.
    ///
    /// # Errors
    /// `None`: all [`MAX_CHARGES`] are taken.
    /// `Some`: no address space holds that much.
    pub fn charge(&'static self, bytes: usize) -> Result<Charge, Option<Shortfall>> {
        self.charge_handle(bytes).map(|handle| Charge { crew: self, handle })
    }

    pub(crate) fn charge_handle(&self, bytes: usize) -> Result<Handle, Option<Shortfall>> {
        // Charged first: a charge that is taken back at once has its bytes on the account.
        self.account.charge(bytes).map_err(Some)?;
        let taken = self.charges.iter().enumerate().find_map(|(index, slot)| {
            let word = slot.word.load(Relaxed);
            let changing = word.wrapping_add(CHARGE_CHANGING);
            let free = word & CHARGE_STATE == CHARGE_FREE;
            (free && slot.word.compare_exchange(word, changing, AcqRel, Relaxed).is_ok())
                .then_some((index, slot, word >> 2))
        });
        let Some((index, slot, generation)) = taken else {
            self.account.release(bytes);
            return Err(None);
        };
        self.fixed_bytes.fetch_add(bytes, Relaxed);
        slot.bytes.store(bytes, Relaxed);
        slot.word.store(generation << 2 | CHARGE_TAKEN, Release);
        Ok(Handle::new(Kind::Charge, index, generation))
    }

    /// Whether the handle is, or once was, or will be, a charge's.
    pub(crate) fn is_charge(&self, handle: Handle) -> bool {
        handle.parts(Kind::Charge, MAX_CHARGES).is_some()
    }

    /// False: the charge has ended before, or is none.
    pub(crate) fn uncharge(&'static self, handle: Handle) -> bool {
        let Some((index, generation)) = handle.parts(Kind::Charge, MAX_CHARGES) else {
            return false;
        };
        let slot = &self.charges[index];
        let taken = slot.word.load(Acquire);
        // The generation is compared as it stands in the handle: it may be forged, with bits that a
        // shift into the word would lose.
        if taken & CHARGE_STATE != CHARGE_TAKEN || taken >> 2 != generation {
            return false;
        }
        let bytes = slot.bytes.load(Relaxed);
        // Of two who take the same charge back, this decides; it also begins the next generation.
        let free = generation.wrapping_add(1) << 2 | CHARGE_FREE;
        if slot.word.compare_exchange(taken, free, AcqRel, Relaxed).is_err() {
            return false;
        }
        self.fixed_bytes.fetch_sub(bytes, Relaxed);
        self.account.release(bytes);
        self.bytes_came_free();
        true
    }

    /// How many fixed threads are charged.
    pub fn charges(&self) -> usize {
        let taken = |slot: &&ChargeSlot| slot.word.load(Relaxed) & CHARGE_STATE == CHARGE_TAKEN;
        self.charges.iter().filter(taken).count()
    }

    /// The account's figures; `None` before boot. Any thread.
    pub fn account_usage(&self) -> Option<AccountUsage> {
        let boot = self.boot.get()?;
        Some(AccountUsage {
            asked_mib: boot.asked_mib,
            budget: self.account.budget(),
            held: self.account.held(),
            high_water: self.account.high_water(),
            fixed: self.fixed_bytes.load(Relaxed),
            refusals: self.account_refusals.load(Relaxed),
            verdict: boot.verdict,
        })
    }
}

/// Held during an administrative call.
pub(crate) struct Admin<'a>(&'a AtomicU32);

impl Drop for Admin<'_> {
    fn drop(&mut self) {
        self.0.store(0, Release);
    }
}

/// One line of text, on the stack. What does not fit is cut.
pub(crate) struct Line(heapless::String<{ TEXT_BYTES * 2 }>);

impl Line {
    pub(crate) const fn new() -> Self {
        Self(heapless::String::new())
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    fn clear(&mut self) {
        self.0.clear();
    }
}

/// Where a report's lines go, one by one, without newline.
pub(crate) struct Printer<'a> {
    sink: &'a mut dyn FnMut(&str),
    line: Line,
}

impl<'a> Printer<'a> {
    pub(crate) fn new(sink: &'a mut dyn FnMut(&str)) -> Self {
        Self { sink, line: Line::new() }
    }

    pub(crate) fn print(&mut self, text: fmt::Arguments<'_>) {
        self.line.clear();
        // A line that is full is cut, not lost.
        let _ = self.line.write_fmt(text);
        (self.sink)(self.line.text());
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            self.0.push(c).map_err(|_| fmt::Error)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Crew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Crew").field("account", &self.account).finish_non_exhaustive()
    }
}
