// SPDX-License-Identifier: MIT OR Apache-2.0
//! The account: never above its budget by reservations, and every byte goes back once.

use super::explore::{explore, join, spawn};
use super::stage::{Script, Stage};
use crate::account::Account;
use crate::host::Budget;
use std::sync::Arc;

#[test]
fn reservations_stay_within_the_budget() {
    explore("reservations_stay_within_the_budget", || {
        let account = Arc::new(Account::new(0));
        account.set_budget(100);
        assert!(account.try_reserve(40).is_ok());
        let part = |bytes| {
            let account = account.clone();
            spawn(move || {
                if account.try_reserve(bytes).is_ok() {
                    assert!(account.held() <= 100, "above the budget");
                    account.release(bytes);
                }
            })
        };
        let parts = [part(60), part(50)];
        account.release(40);
        join(parts);
        assert_eq!(account.held(), 0, "every byte is back");
        assert!((40..=100).contains(&account.high_water()), "within the budget at all times");
    });
}

#[test]
fn a_reservation_that_fits_is_granted() {
    explore("a_reservation_that_fits_is_granted", || {
        let account = Arc::new(Account::new(0));
        account.set_budget(100);
        let part = |bytes| {
            let account = account.clone();
            spawn(move || assert!(account.try_reserve(bytes).is_ok(), "there is room for all"))
        };
        join([part(60), part(40)]);
        assert_eq!(account.held(), 100);
    });
}

#[test]
fn a_charge_is_taken_back_once() {
    explore("a_charge_is_taken_back_once", || {
        Stage::play(Script::default(), Budget::Default, |stage| {
            let charge = stage.crew.host.charge(1000).expect("there is room");
            // Two take the same charge back, and a third uses its slot again if it can.
            let parts = [0, 1].map(|_| {
                spawn(move || {
                    stage.crew.uncharge(charge);
                })
            });
            let next = stage.crew.host.charge(30);
            join(parts);
            let held = stage.crew.host.account.held();
            assert_eq!(held, if next.is_ok() { 30 } else { 0 });
            assert!(!stage.crew.uncharge(charge), "it has ended");
            if let Ok(next) = next {
                assert!(stage.crew.uncharge(next));
            }
        });
    });
}
