// SPDX-License-Identifier: MIT OR Apache-2.0
//! The std port's log, while nothing reads standard error. A program of its own: it puts a pipe in
//! standard error's place.

#![cfg(target_os = "linux")]

use crew::port::{Port, Severity};
use crew::shim::PORT;
use std::io::Read;
use std::os::fd::FromRawFd;
use std::sync::mpsc::channel;
use std::time::Duration;

/// What is in the pipe now.
fn drained(pipe: &mut std::fs::File) -> Vec<u8> {
    let mut all = Vec::new();
    let _ = pipe.read_to_end(&mut all); // ends with "would block"
    all
}

#[test]
fn a_line_waits_for_no_reader_and_the_next_one_tells_of_it() {
    let mut ends = [0; 2];
    // SAFETY: plain calls on descriptors of ours.
    let (mut reader, own) = unsafe {
        assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
        for end in ends {
            libc::fcntl(end, libc::F_SETFL, libc::O_NONBLOCK);
        }
        for piece in [4096, 1] {
            while libc::write(ends[1], [b'x'; 4096].as_ptr().cast(), piece) > 0 {}
        }
        libc::fcntl(ends[1], libc::F_SETFL, 0);
        let own = libc::dup(libc::STDERR_FILENO);
        assert!(libc::dup2(ends[1], libc::STDERR_FILENO) >= 0);
        (std::fs::File::from_raw_fd(ends[0]), own)
    };
    let (said, heard) = channel();
    std::thread::spawn(move || {
        PORT.log(Severity::Major, "unread");
        PORT.log(Severity::Major, "unread too");
        let _ = said.send(());
    });
    let in_time = heard.recv_timeout(Duration::from_secs(30));
    let before = drained(&mut reader);
    PORT.log(Severity::Info, "read");
    let after = String::from_utf8(drained(&mut reader)).unwrap();
    // SAFETY: as above.
    unsafe { libc::dup2(own, libc::STDERR_FILENO) };

    assert!(in_time.is_ok(), "the log waited for a reader");
    assert!(!before.is_empty() && before.iter().all(|&byte| byte == b'x'));
    assert_eq!(after, "crew: minor: lines lost before this one: 2\ncrew: info: read\n");
}
