// SPDX-License-Identifier: MIT OR Apache-2.0
//! The fleet's table shared by real processes: this program starts itself as the others. One line per
//! test; `CREW_FLEET_KILLS` is how often a process is killed in the middle of an operation (50 if not
//! set), `CREW_FLEET_SEED` where.

#[cfg(target_os = "linux")]
#[path = "fleet_processes/linux.rs"]
mod linux;

#[cfg(target_os = "linux")]
fn main() {
    linux::main();
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("0 passed, 0 failed");
}
