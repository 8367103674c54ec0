// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a report says of the account.

use super::{Host, Printer};
use crate::account::Account;

impl Host {
    /// A line for the account, at level 1 another one. False: not booted, and nothing more to say.
    pub(crate) fn report(&self, out: &mut Printer<'_>, level: u32) -> bool {
        let Some(account) = self.account_usage() else {
            out.print(format_args!("not booted"));
            return false;
        };
        let held = account.held;
        let sealed = if self.is_sealed() { ", sealed" } else { "" };
        if account.budget == Account::UNBOUNDED {
            out.print(format_args!("account: {held} B held, no limit{sealed}"));
        } else {
            // No product of 64 bits: to divide one takes a function of 500 B on a Cortex-A9.
            let percent = match held.checked_mul(100) {
                Some(hundredfold) => hundredfold / account.budget.max(1),
                None => held / (account.budget / 100).max(1),
            };
            out.print(format_args!(
                "account: {held} B of {} B held ({percent} %), budget {}{sealed}",
                account.budget,
                account.verdict.name()
            ));
        }
        if level >= 1 {
            out.print(format_args!(
                "  high water {} B, {} B in {} fixed threads, {} sets refused",
                account.high_water,
                account.fixed,
                self.charges.count(),
                account.refusals
            ));
        }
        true
    }
}
