// SPDX-License-Identifier: MIT OR Apache-2.0
//! The command `crew-plan`, run as an operator runs it, against what was measured
//! (`crew::plan::figures`).

use crew::plan::figures::{rtems, vxworks};
use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_crew-plan"));
    command.args(arguments).output().expect("runs")
}

fn plan(arguments: &[&str]) -> String {
    let output = run(arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// The lines of a pool's table: sets, and what is said there.
fn table(text: &str, pool: &str) -> Vec<(usize, String)> {
    let start = format!("pool {pool}:");
    let lines = text.lines().skip_while(|line| !line.starts_with(&start)).skip(2);
    let row = |line: &str| {
        let (sets, rest) = line.trim_start().split_once(' ')?;
        let (_, said) = rest.split_once("MiB")?;
        Some((sets.parse().ok()?, said.trim().to_owned()))
    };
    lines.map_while(row).collect()
}

const VXWORKS: &[&str] =
    &["--target", "vxworks", "--threads", "std", "--ram", "958M", "--descriptors", "150", "8"];

// Source: vxworks::REFUSED_AFTER_SETS, DIED_AT_SET, WALLS.
#[test]
fn vxworks_with_320_mib_asked_refuses_at_32_before_its_wall() {
    let text = plan(&[VXWORKS, &["--budget", "320", "--cas", "141"]].concat());
    assert!(text.contains("budget 320 MiB clamped to 160 MiB"), "{text}");
    let rows = table(&text, "CAS");
    let (first, said) = &rows[0];
    assert_eq!(*first, vxworks::REFUSED_AFTER_SETS, "{text}");
    assert!(said.contains("the account refuses") && said.ends_with("<- first"), "{text}");
    assert!(rows[1].1.contains("memory ends") && rows[1].0 >= vxworks::DIED_AT_SET, "{text}");
    assert_eq!((rows[2].0, rows[3].0), (141, 141));

    // Beside the fixed threads of the measured image the wall is where that image met it.
    let text = plan(&[VXWORKS, &["--fixed", "15M", "--cas", "141"]].concat());
    let rows = table(&text, "CAS");
    assert_eq!((rows[0].0, rows[1].0), (29, vxworks::WALLS[0].1), "{text}");
}

// Source: vxworks::WALLS; 1 MiB for a thread places them within 2.1 %.
#[test]
fn vxworks_walls_of_three_stack_sizes() {
    for (declared, clients) in vxworks::WALLS {
        let roles = format!("client:{0}:20 event:{0}:19", declared / 2);
        let pool = ["--fixed", "15M", "--pool", "three", &roles, "141"];
        let text = plan(&[VXWORKS, &pool].concat());
        let rows = table(&text, "three");
        assert!(rows[0].1.contains("the account refuses"), "{text}");
        assert!(rows[1].1.contains("memory ends"), "{text}");
        assert!(rows[1].0.abs_diff(clients) * 1000 <= clients * 21, "{clients}: {text}");
    }
}

// Source: rtems::SERVER_FREE_BYTES, SERVER_CLIENT_BYTES, SERVER_CLIENTS, SERVER_DESCRIPTORS.
#[test]
fn zynq_admits_its_141_clients_by_count_or_refuses_by_the_account() {
    let free = rtems::SERVER_FREE_BYTES.to_string();
    let beyond =
        (rtems::SERVER_CLIENT_BYTES - rtems::CA_STACKS[0] - rtems::CA_STACKS[1]).to_string();
    // 212 MiB is the least budget that holds all 141.
    for (budget, first, who) in [("160", 106, "account"), ("212", rtems::SERVER_CLIENTS, "pool")] {
        let text = plan(&[
            "--target",
            "rtems",
            "--threads",
            "std",
            "--free",
            &free,
            "--beyond",
            &beyond,
            "--budget",
            budget,
            "--cas",
            "141",
            "--descriptors",
            "150",
            "8",
        ]);
        let rows = table(&text, "CAS");
        assert_eq!(rows[0].0, first, "{text}");
        assert!(rows[0].1.starts_with(&format!("the {who} refuses")), "{text}");
        let (wall, _) = rows.iter().find(|(_, said)| said.contains("memory ends")).unwrap();
        assert!(*wall > rtems::SERVER_CLIENTS, "{text}");
    }
}

// Source: rtems::IOC_FULL_HOUSES. The stock IOC has no account: where no budget refuses, this says
// so.
#[test]
fn a_budget_that_is_believed_too_long_is_found() {
    let text = plan(&["--target", "rtems", "--ram", "256M", "--budget", "213", "--cas", "142"]);
    let rows = table(&text, "CAS");
    let seen = rtems::IOC_FULL_HOUSES[0];
    assert!(rows[0].1.contains("memory ends") && rows[0].0 + 1 == seen, "{text}");
    assert!(text.contains("Nobody refuses before the memory ends: a budget of at most 205 MiB"));
    let text = plan(&["--target", "rtems", "--ram", "256M", "--budget", "205", "--cas", "142"]);
    assert!(table(&text, "CAS")[0].1.contains("the account refuses"), "{text}");
}

#[test]
fn several_pools_share_the_account_and_are_told_what_to_change() {
    let stream = ["stream", "conn:big:20 reader:small:18 writer:small:18", "8"];
    let pools = [&["--cas", "40", "--pool"], &stream[..]].concat();
    let rtems = ["--target", "rtems", "--ram", "256M", "--descriptors", "64", "10"];
    let text = plan(&[&rtems, &pools[..], &["--budget", "60"]].concat());
    let rows: Vec<Vec<_>> = text
        .lines()
        .skip_while(|line| !line.starts_with("all pools"))
        .skip(2)
        .take(2)
        .map(|line| line.split_whitespace().take(3).collect())
        .collect();
    assert_eq!(rows, [["CAS", "32", "48"], ["stream", "8", "12"]], "{text}");
    assert!(text.contains("A budget of 72 MiB would admit every set; otherwise"), "{text}");
    assert!(text.contains("All sets fit in stream"), "{text}");

    let text = plan(&[&rtems, &pools[..], &["--budget", "72"]].concat());
    assert!(text.contains("All sets fit in CAS, stream"), "{text}");
    // With one descriptor fewer, one client could not be told.
    let text = plan(
        &[&["--target", "rtems", "--descriptors", "58", "10", "--budget", "72"], &pools[..]]
            .concat(),
    );
    assert!(text.contains("59 of them serve all 48 sets"), "{text}");
}

#[test]
fn a_host_has_no_wall_and_no_budget_unless_one_is_given() {
    let pool = ["--target", "host", "--pool", "p", "a:64k:20,b:1MiB:20", "300"];
    let text = plan(&pool);
    assert_eq!(table(&text, "p").len(), 1, "{text}");
    assert!(text.contains("budget       none: no budget: this target sets no limit"), "{text}");
    assert!(text.contains("a set is 1.06 MiB (a 0.06 MiB + b 1 MiB)"), "{text}");
    assert!(text.contains("built with CREW_MAX_SETS=300 or more"), "{text}");
    let text = plan(&[&pool[..], &["--budget", "100"]].concat());
    assert_eq!(table(&text, "p")[0].0, 94, "{text}");
}

#[test]
fn the_example_in_the_docs_is_what_is_printed() {
    let docs = include_str!("../docs/planning.md");
    let mut lines = docs.lines().skip_while(|line| !line.starts_with("    make plan ARGS='"));
    let call = lines.next().unwrap();
    let arguments: Vec<_> = call.split('\'').nth(1).unwrap().split(' ').collect();
    let printed: Vec<_> = lines
        .skip(1)
        .take_while(|line| line.is_empty() || line.starts_with("    "))
        .map(|line| line.strip_prefix("    ").unwrap_or(line))
        .collect();
    assert_eq!(printed.join("\n").trim_end(), plan(&arguments).trim_end());
    assert!(include_str!("../README.md").contains(call.trim()), "the README calls it the same way");
}

#[test]
fn the_help_names_the_figure_that_is_used() {
    let beyond = rtems::IOC_CLIENT_BYTES - rtems::CA_STACKS[0] - rtems::CA_STACKS[1];
    assert!(plan(&["--help"]).contains(&format!("default: {beyond} on rtems")));
    let text = plan(&["--target", "rtems", "--cas", "4"]);
    assert!(text.contains(&format!("{beyond} B more for each connection")), "{text}");
}

#[test]
fn bad_input_ends_with_2_and_says_what_may_stand_there() {
    let rtems = ["--target", "rtems"];
    for (arguments, part) in [
        (&["--cas", "0"][..], "capacity must be 1 to 1024 sets"),
        (&["--cas", "many"], "capacity must be 1 to 1024 sets"),
        (&["--pool", "p", "a:huge:20", "4"], "stack \"huge\" must be small, medium, big"),
        (&["--pool", "p", "a:big:20"], "3 values required"),
        (&["--pool", "p", "", "4"], "no roles"),
        (&["--cas", "4", "--budget", "0"], "positive whole number of MiB"),
        (&["--cas", "4", "--budget", "lots"], "positive whole number of MiB"),
        (&["--cas", "4", "--ram", "12x"], "a number of bytes"),
        (&["--cas", "4", "--ram", "1M", "--free", "1M"], "cannot be used with"),
        (&["--cas", "4", "--descriptors", "150"], "2 values required"),
        (&[], "give --cas or --pool"),
    ] {
        let output = run(&[&rtems, arguments].concat());
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(errors.contains(part), "{arguments:?}: {errors}");
        assert!(output.stdout.is_empty());
    }
    assert_eq!(run(&["--cas", "4"]).status.code(), Some(2), "no target");
    assert_eq!(run(&["--target", "host", "--cas", "4", "--ram", "1G"]).status.code(), Some(2));
}
