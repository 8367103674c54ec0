// SPDX-License-Identifier: MIT OR Apache-2.0
//! A port for tests of the core's own words.

use super::{Event, MemoryAnswer, Port, Severity, Target, ThreadSpec};

/// Threads that exist and never run: nothing moves but what the test moves. Calls its function at
/// each look at a thread's stack.
pub struct Still(pub fn());

// SAFETY: its threads never run, and its events are never waited for.
unsafe impl Port for Still {
    fn target(&self) -> Target {
        Target::Host
    }
    fn thread_overhead_bytes(&self) -> usize {
        0
    }
    fn thread_create(&self, spec: &ThreadSpec<'_>) -> Result<usize, i32> {
        Ok(spec.member.index())
    }
    unsafe fn thread_reap(&self, _thread: usize) -> bool {
        true
    }
    unsafe fn stack_used(&self, _thread: usize) -> Option<usize> {
        self.0();
        None
    }
    fn event_create(&self, _event: &'static Event) -> Result<(), i32> {
        Ok(())
    }
    unsafe fn event_wait(&self, _event: &'static Event, _timeout_ms: u32) -> bool {
        false
    }
    unsafe fn event_post(&self, _event: &'static Event) {}
    fn clock_ms(&self) -> u64 {
        0
    }
    fn memory_has(&self, _bytes: usize) -> MemoryAnswer {
        MemoryAnswer::CannotTell
    }
    fn log(&self, _severity: Severity, _text: &str) {}
}
