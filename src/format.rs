// SPDX-License-Identifier: MIT OR Apache-2.0
//! `defmt::Format` for the public types whose fields do not derive it.

use crate::{JobResult, Outcome, RefusalKind, RunError, Verdict};
use defmt::{Format, Formatter, write};

impl Format for Verdict {
    fn format(&self, f: Formatter<'_>) {
        match *self {
            Verdict::Clamped { asked_mib, adopted_mib, .. } => {
                write!(f, "clamped {} -> {} MiB", asked_mib, adopted_mib);
            }
            _ => write!(f, "{=str}", self.name()),
        }
    }
}

impl Format for RefusalKind {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "{=str}", self.name());
    }
}

impl Format for Outcome {
    fn format(&self, f: Formatter<'_>) {
        let name = match self {
            Outcome::Returned => "returned",
            Outcome::Failed => "failed",
            Outcome::Died => "died",
            Outcome::NotRun => "not run",
        };
        write!(f, "{=str}", name);
    }
}

impl Format for JobResult {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "{} {}", self.outcome, self.value);
    }
}

impl Format for RunError {
    fn format(&self, f: Formatter<'_>) {
        let name = match self {
            RunError::NotRun => "not run",
            RunError::Busy => "busy",
            RunError::Stale => "stale",
            RunError::Retired => "retired",
            RunError::BadHandle => "bad handle",
            RunError::BadRole => "bad role",
            RunError::NoJobCell => "no job cell",
        };
        write!(f, "{=str}", name);
    }
}
