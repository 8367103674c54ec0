// SPDX-License-Identifier: MIT OR Apache-2.0
//! A process in Rust that owns a resource in the shared memory named by its argument, for
//! fleet_processes.c: reads "accept <id> <fence> <node> <incarnation>" and "complete <execution>"
//! from standard input, and answers each with a line. Ends with its input.

#[cfg(target_os = "linux")]
fn main() {
    use crew::fleet::{Execution, FleetLease, Geometry, Id, Key, Life};
    use crew::shim::fleet::Shared;
    use std::io::{BufRead, stdin};

    let name = std::env::args().nth(1).expect("the memory's name");
    // As small_geometry in fleet.h.
    let geometry = Geometry { kind: 7, nodes: 4, resources: 4, executions: 16, keys: 4 };
    let shared = Shared::open(&name, geometry, 0o600).expect("shared memory");
    let table = shared.table().expect("a table");
    let node = table.join_as(None, "rust", std::process::id()).expect("a node");
    let key = Key(u128::from_le_bytes(*b"rust\0\0\0\0\0\0\0\0\0\0\0\0"));
    node.register(key, 2).expect("a resource");
    println!("ready {}", node.life().node);
    for line in stdin().lock().lines() {
        let line = line.expect("a line");
        let words: Vec<&str> = line.split(' ').collect();
        let number = |i: usize| words[i].parse::<u64>().expect("a number");
        match words[0] {
            "accept" => {
                let holder = Life { node: number(3) as u16, incarnation: number(4) as u32 };
                let lease = FleetLease { id: Id::from_bits(number(1)), fence: number(2), holder };
                match node.accept(&lease) {
                    Ok(execution) => println!("accepted {}", execution.bits()),
                    Err(error) => println!("refused {error}"),
                }
            }
            "complete" => match node.complete(Execution::from_bits(number(1))) {
                Ok(()) => println!("completed"),
                Err(error) => println!("refused {error}"),
            },
            word => println!("what is {word}?"),
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {}
