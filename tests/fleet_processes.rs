// SPDX-License-Identifier: MIT OR Apache-2.0
//! The fleet's table shared by real processes: this program starts itself as the others. It prints
//! one line per test. `CREW_FLEET_KILLS` is the number of processes that are killed in the middle
//! of an operation (50 if not set); `CREW_FLEET_SEED` decides where.

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
