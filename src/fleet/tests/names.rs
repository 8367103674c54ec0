// SPDX-License-Identifier: MIT OR Apache-2.0
//! The nodes' names, the report, and ending a wait.

use super::*;
use crate::fleet::{Error, Life, Peer};
use std::format;
use std::string::{String, ToString};

fn lines(node: &Node<'_>, level: u32) -> Vec<String> {
    let mut lines = Vec::new();
    node.report(level, &mut |line| lines.push(line.to_string()));
    lines
}

fn text_key(text: &str) -> Key {
    Key(text.bytes().rev().fold(0, |key, byte| key << 8 | u128::from(byte)))
}

#[test]
fn a_node_has_the_name_and_the_process_of_its_life() {
    let world = World::new(SMALL);
    let table = world.table();
    let one = table.join_as(Some(2), "ioc:one", 4711).unwrap();
    let long = table.join_as(Some(1), "seventeen letters", u32::MAX).unwrap();
    let peers: Vec<Peer> = table.peers().collect();
    assert_eq!(peers.len(), 2, "lane 0 was never joined");
    assert_eq!((peers[0].life, peers[0].process), (long.life(), u32::MAX));
    assert_eq!(peers[0].name, "seventeen lette", "cut");
    assert_eq!((peers[1].life, peers[1].process), (one.life(), 4711));
    assert_eq!((peers[1].name.as_str(), peers[1].hold), ("ioc:one", Hold::Held));
    let life = one.life();
    world.kill(one);
    let dead = table.peers().find(|peer| peer.life == life).unwrap();
    assert_eq!((dead.name.as_str(), dead.hold), ("ioc:one", Hold::Free));
    // The next process in the lane gives no name: nothing of the last one's stays.
    let next = table.join(Some(2)).unwrap();
    let peer = table.peers().find(|peer| peer.life == next.life()).unwrap();
    assert_eq!((peer.name.as_str(), peer.process), ("", 0));
    assert_eq!(table.peers().count(), 2);
}

#[test]
fn keys_print_as_text_if_they_are() {
    assert_eq!(text_key("scan").to_string(), "scan");
    assert_eq!(text_key("sixteen letters!").to_string(), "sixteen letters!");
    assert_eq!(Key(0).to_string(), format!("{:032x}", 0));
    assert_eq!(Key(0x0061_0062).to_string(), format!("{:032x}", 0x0061_0062), "a hole");
    assert_eq!(Key(0x0a61).to_string(), format!("{:032x}", 0x0a61), "not printable");
    assert_eq!(Key(0xff << 120 | 0x61).to_string(), format!("{:032x}", 0xffu128 << 120 | 0x61));
}

#[test]
fn the_report_says_who_holds_what_since_when() {
    let world = World::new(SMALL);
    let one = world.table().join_as(None, "owner", 11).unwrap();
    let two = world.table().join_as(None, "user", 22).unwrap();
    let id = one.register(text_key("scan"), 3).unwrap();
    let lease = two.reserve(id).unwrap();
    two.reserve(id).unwrap();
    let execution = one.accept(&lease).unwrap();
    let permit = two.claim_create(Key(5), 9).unwrap();
    world.pass_ms(70);
    assert_eq!(
        lines(&one, 2),
        [
            "table 7: 2 of 4 nodes, 1 resources, 1 units reserved, 1 at work, 2 of 4 keys",
            "node 0: owner, process 11, life 1, alive",
            &format!("  resource {id}: key scan, 1 reserved + 1 at work of 3"),
            "    reserved by node 1 life 2, 70 ms ago",
            &format!("    at work: execution {:#x}", execution.bits()),
            "node 1: user, process 22, life 2, alive",
            "key 00000000000000000000000000000005: 0 changes",
            "  permit to create: node 1 life 2",
            "key scan: 1 changes",
        ]
    );
    assert_eq!(lines(&one, 1).len(), 6);
    let since = one.version(text_key("scan"));
    assert_eq!(two.wait(text_key("scan"), since, 1), Ok(crate::fleet::Wait::TimedOut));
    assert_eq!(lines(&one, 1)[5], "key scan: 1 changes, waited for since the last");
    assert_eq!(lines(&one, 0).len(), 3);
    one.drain(id).unwrap();
    assert!(lines(&one, 1)[2].ends_with("of 3, draining"));
    drop(permit);
    world.kill(two);
    assert!(lines(&one, 0)[2].ends_with("life 2, dead"));
    one.sweep().unwrap();
    assert_eq!(lines(&one, 0).len(), 2);
}

#[test]
fn what_was_scribbled_over_a_name_is_shown_as_no_text() {
    let world = World::new(SMALL);
    let node = world.table().join_as(Some(0), "name", 1).unwrap();
    let word = node.region.lane(0, crate::fleet::geometry::NAME);
    word.store(0xff0a_61f0, SeqCst);
    let peer = world.table().peers().next().unwrap();
    assert_eq!(peer.name, "?a??");
    assert_eq!(peer.life, Life { node: 0, incarnation: 1 });
}

#[test]
fn a_wait_ends_when_it_shall_not_go_on() {
    let world = World::new(SMALL);
    let node = world.join();
    node.register(KEY, 1).unwrap();
    let version = node.version(KEY);
    let stop = AtomicU32::new(0);
    std::thread::scope(|scope| {
        let wait = |since, any| {
            let goes_on = || stop.load(SeqCst) == 0;
            match any {
                true => node.wait_any_while(since, LONG_MS, goes_on),
                false => node.wait_while(KEY, since, LONG_MS, goes_on),
            }
        };
        let since = node.watch();
        let waiters = [(version, false), (since, true)]
            .map(|(since, any)| scope.spawn(move || wait(since, any)));
        while world.desk.sleepers.load(SeqCst) < 2 {
            std::thread::yield_now();
        }
        stop.store(1, SeqCst);
        node.wake_waiters();
        for waiter in waiters {
            // Ended by the count that moved, or by `goes_on`.
            let ended = waiter.join().unwrap();
            assert!(matches!(ended, Err(Error::Stale) | Ok(crate::fleet::Wait::Changed(_))));
        }
        assert_eq!(wait(node.version(KEY), false), Err(Error::Stale), "nothing waits afterwards");
    });
}
