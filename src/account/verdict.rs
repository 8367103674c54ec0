// SPDX-License-Identifier: MIT OR Apache-2.0
//! What becomes of the budget that was asked for at boot. A setting is a ceiling which the target
//! has to confirm; it does not add memory. [`judge`] decides by asking, [`Verdict::announcement`]
//! says: two functions, so that a test can state which verdicts are silent.

use crate::port::{MemoryAnswer, Severity};
use core::fmt::{self, Write};

/// No budget is taken below this, in MiB: five connections of the 1.6 MB measured on a Zynq.
pub const FLOOR_MIB: u32 = 8;

/// What the target said to the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No limit was asked for; nothing was asked of the target.
    Unbounded,
    /// The target has it.
    Confirmed,
    /// The target has only this much of what was asked.
    Clamped {
        /// MiB asked for.
        asked_mib: u32,
        /// MiB adopted.
        adopted_mib: u32,
        /// The target's words for what refused.
        basis: &'static str,
    },
    /// Nothing on this target can tell; what was asked stands.
    Unverifiable {
        /// Whether an operator chose the figure. If so it is said.
        chosen: bool,
    },
    /// The target refused even the floor, which is adopted all the same.
    FloorHeld {
        /// MiB asked for.
        asked_mib: u32,
        /// The target's words for what refused.
        basis: &'static str,
    },
}

/// Asks the target for `asked_mib`, then for half of that and so on, never below [`FLOOR_MIB`].
/// Returns the MiB to adopt and the verdict. `chosen`: an operator chose the figure (it is passed,
/// not guessed by comparing with the default: an operator may type the default).
pub fn judge(
    asked_mib: u32,
    chosen: bool,
    mut ask: impl FnMut(u32) -> MemoryAnswer,
) -> (u32, Verdict) {
    let mut mib = asked_mib;
    let mut refusal = None;
    loop {
        match (ask(mib), refusal) {
            (MemoryAnswer::CannotTell, _) => {
                return (asked_mib, Verdict::Unverifiable { chosen });
            }
            (MemoryAnswer::Yes, None) => return (mib, Verdict::Confirmed),
            (MemoryAnswer::Yes, Some(basis)) => {
                return (mib, Verdict::Clamped { asked_mib, adopted_mib: mib, basis });
            }
            (MemoryAnswer::No(basis), _) if mib <= FLOOR_MIB => {
                return (FLOOR_MIB, Verdict::FloorHeld { asked_mib, basis });
            }
            (MemoryAnswer::No(basis), _) => refusal = Some(basis),
        }
        mib = (mib / 2).max(FLOOR_MIB);
    }
}

impl Verdict {
    /// How loudly the verdict is said; `None`: it is silent.
    pub fn announcement(&self) -> Option<Severity> {
        match self {
            Verdict::Unbounded | Verdict::Confirmed => None,
            Verdict::Unverifiable { chosen } => chosen.then_some(Severity::Info),
            Verdict::Clamped { .. } | Verdict::FloorHeld { .. } => Some(Severity::Major),
        }
    }

    /// One word for it, for reports.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Unbounded => "unbounded",
            Verdict::Confirmed => "confirmed",
            Verdict::Clamped { .. } => "clamped",
            Verdict::Unverifiable { .. } => "unverifiable",
            Verdict::FloorHeld { .. } => "floor held",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Unbounded => f.write_str("no budget: this target sets no limit"),
            Verdict::Confirmed => f.write_str("budget confirmed by the target"),
            Verdict::Clamped { asked_mib, adopted_mib, basis } => {
                write!(f, "budget {asked_mib} MiB clamped to {adopted_mib} MiB: the target {basis}")
            }
            Verdict::Unverifiable { .. } => {
                f.write_str("budget taken as set: nothing on this target can confirm it")
            }
            Verdict::FloorHeld { asked_mib, basis } => write!(
                f,
                "budget {asked_mib} MiB: the target {basis}; {FLOOR_MIB} MiB kept as the floor, \
                 expect refusals or failures before it is spent"
            ),
        }
    }
}

/// An operator's text as whole MiB. Blanks around the number are allowed; anything that is not a
/// positive whole number that fits 32 bits is `None`.
pub fn parse_mib(text: &str) -> Option<u32> {
    let digits = text.trim_ascii();
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None; // "+5" is a number to Rust, but not what an operator means to type
    }
    digits.parse().ok().filter(|&mib| mib > 0)
}

/// The line for an operator's text that is no budget. It stays one line whatever the text has in
/// it.
pub(crate) fn write_bad_text(out: &mut impl Write, text: &str) -> fmt::Result {
    out.write_str("budget \"")?;
    for c in text.chars() {
        // Not `{:?}`: its tables are 2 KiB of the core's constants.
        out.write_char(if c.is_ascii_graphic() || c == ' ' { c } else { '?' })?;
    }
    out.write_str("\" ignored: give a positive whole number of MiB; default stands")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAP: &str = "has less than that free in the heap";

    /// A target with `has` MiB; returns adopted, verdict and the questions asked.
    fn judged(asked: u32, has: u32) -> (u32, Verdict, Vec<u32>) {
        let mut questions = Vec::new();
        let (adopted, verdict) = judge(asked, true, |mib| {
            questions.push(mib);
            if mib <= has { MemoryAnswer::Yes } else { MemoryAnswer::No(HEAP) }
        });
        (adopted, verdict, questions)
    }

    #[test]
    fn confirmed_asks_once() {
        assert_eq!(judged(160, 200), (160, Verdict::Confirmed, vec![160]));
    }

    #[test]
    fn clamped_by_halving() {
        let clamped =
            |asked_mib, adopted_mib| Verdict::Clamped { asked_mib, adopted_mib, basis: HEAP };
        assert_eq!(judged(320, 192), (160, clamped(320, 160), vec![320, 160]));
        assert_eq!(judged(10, 9), (8, clamped(10, 8), vec![10, 8]));
    }

    #[test]
    fn floor_held_after_the_exact_questions() {
        let held = |asked_mib| Verdict::FloorHeld { asked_mib, basis: HEAP };
        assert_eq!(judged(64, 0), (8, held(64), vec![64, 32, 16, 8]));
        assert_eq!(judged(4, 0), (8, held(4), vec![4]), "below the floor: one question");
    }

    #[test]
    fn unverifiable_keeps_what_was_asked() {
        let (mib, verdict) = judge(160, false, |_| MemoryAnswer::CannotTell);
        assert_eq!((mib, verdict), (160, Verdict::Unverifiable { chosen: false }));
    }

    #[test]
    fn every_verdict_but_confirmation_is_announced_when_an_operator_chose() {
        let loud = [
            (Verdict::Clamped { asked_mib: 2, adopted_mib: 1, basis: HEAP }, Severity::Major),
            (Verdict::FloorHeld { asked_mib: 2, basis: HEAP }, Severity::Major),
            (Verdict::Unverifiable { chosen: true }, Severity::Info),
        ];
        for (verdict, severity) in loud {
            assert_eq!(verdict.announcement(), Some(severity), "{verdict:?}");
        }
        let silent = [
            Verdict::Confirmed,
            Verdict::Unbounded,
            Verdict::Unverifiable { chosen: false }, // the built-in default
        ];
        for verdict in silent {
            assert_eq!(verdict.announcement(), None, "{verdict:?}");
        }
    }

    #[test]
    fn a_text_that_is_no_budget_is_told_in_one_line() {
        let mut line = String::new();
        write_bad_text(&mut line, "1\n2\x1b[2J").unwrap();
        assert!(!line.contains(|c: char| c.is_control()), "{line:?}");
        assert!(line.starts_with(r#"budget "1?2?[2J" ignored"#), "{line}");
    }

    #[test]
    fn budget_text() {
        assert_eq!(parse_mib("160"), Some(160));
        assert_eq!(parse_mib(" 12 "), Some(12));
        for text in ["0", "lots", "", "-3", "+5", "1.5", "12x", "99999999999999999999"] {
            assert_eq!(parse_mib(text), None, "{text:?}");
        }
    }
}
