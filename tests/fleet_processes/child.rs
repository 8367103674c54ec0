// SPDX-License-Identifier: MIT OR Apache-2.0
//! The other processes: their environment tells them their role, and the parent, line by line, what
//! to do.

use super::{GEOMETRY, KEY};
use crew::fleet::{FleetLease, Geometry, Id};
use crew::shim::fleet::Shared;
use std::io::stdin;

pub const ROLE: &str = "CREW_FLEET_ROLE";
pub const NAME: &str = "CREW_FLEET_NAME";

/// The next line from the parent. This process ends if the parent has.
fn read() -> String {
    let mut line = String::new();
    match stdin().read_line(&mut line) {
        Ok(1..) => line.trim().to_owned(),
        _ => std::process::exit(0),
    }
}

pub fn run(role: &str) {
    let name = std::env::var(NAME).expect("a name");
    if role == "other geometry" {
        let other = Geometry { keys: GEOMETRY.keys * 2, ..GEOMETRY };
        match Shared::open(&name, other, 0o600) {
            Err(error) if error.to_string().ends_with("other keys") => println!("other keys"),
            other => println!("{other:?}"),
        }
        return;
    }
    let shared = Shared::open(&name, GEOMETRY, 0o600).expect("opens");
    let table = shared.table().expect("the same geometry");
    if let Some(operation) = role.strip_prefix("die in ") {
        return super::kill::die_in(&table, operation);
    }
    let node = table.join(None).expect("a lane");
    match role {
        "reserve" => {
            println!("ready");
            let id: Id = read().parse().expect("an id");
            let mut granted = 0;
            while node.reserve(id).is_ok() {
                granted += 1;
            }
            println!("{granted}");
            read();
        }
        "owner" => {
            let id = node.register(KEY, 1).expect("room");
            println!("ready");
            loop {
                let line = read();
                let (text, fence) = line.split_once(' ').expect("a lease");
                assert_eq!(text.parse(), Ok(id));
                let lease =
                    FleetLease { id, fence: fence.parse().expect("a number"), holder: node.life() };
                let execution = node.accept(&lease).expect("reserved");
                println!("accepted");
                assert_eq!(read(), "complete");
                node.complete(execution).expect("active");
                println!("completed");
            }
        }
        "claim" => {
            println!("ready");
            loop {
                assert_eq!(read(), "claim");
                let claims: Vec<_> =
                    (0..4).filter_map(|_| node.claim_create(KEY, 3).ok()).collect();
                println!("{}", claims.len());
                assert_eq!(read(), "finish");
                drop(claims);
                println!("finished");
            }
        }
        other => panic!("no such role: {other}"),
    }
}
