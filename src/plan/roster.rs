// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads what an operator types: a roster as `crewPoolOpen` takes it, and sizes.

use crate::limits::{MAX_ROLES, NAME_BYTES, PRIORITY_MAX, STACK_MAX, STACK_MIN};

/// Bytes: a whole number, and `k`, `KiB`, `M`, `MiB`, `G` or `GiB` behind it or nothing. `None`: it
/// is not that, or too large.
pub fn parse_bytes(text: &str) -> Option<usize> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let shift = match unit.trim_start().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kib" => 10,
        "m" | "mib" => 20,
        "g" | "gib" => 30,
        _ => return None,
    };
    number.parse::<usize>().ok()?.checked_mul(1 << shift)
}

/// The roles of `"conn:big:20 reader:64k:18"`: names and stacks in bytes. `classes` are the stacks
/// that EPICS calls small, medium and big on the target.
///
/// # Errors
/// Which role and which part of it is wrong, and what may stand there.
pub fn parse_roster(text: &str, classes: [usize; 3]) -> Result<Vec<(String, usize)>, String> {
    let roles = text.split([' ', '\t', ',']).filter(|role| !role.is_empty());
    let roles = roles.map(|role| parse_role(role, classes)).collect::<Result<Vec<_>, _>>()?;
    match roles.len() {
        0 => Err("no roles: say name:stack:priority, for example \"conn:big:20\"".to_owned()),
        count if count > MAX_ROLES => Err(format!("{count} roles: a set has at most {MAX_ROLES}")),
        _ => Ok(roles),
    }
}

fn parse_role(text: &str, [small, medium, big]: [usize; 3]) -> Result<(String, usize), String> {
    let [name, stack, priority] = text.split(':').collect::<Vec<_>>()[..] else {
        return Err(format!("role \"{text}\" is not name:stack:priority"));
    };
    let printable = name.bytes().all(|byte| byte.is_ascii_graphic());
    if !(1..NAME_BYTES).contains(&name.len()) || !printable {
        let most = NAME_BYTES - 1;
        return Err(format!("role \"{text}\": its name must be 1 to {most} printable characters"));
    }
    let digits = priority.bytes().all(|byte| byte.is_ascii_digit());
    if !digits || !priority.parse::<u32>().is_ok_and(|priority| priority <= PRIORITY_MAX) {
        return Err(format!(
            "role \"{text}\": priority \"{priority}\" must be 0 to {PRIORITY_MAX}, EPICS' scale"
        ));
    }
    let bytes = match stack {
        "small" => Some(small),
        "medium" => Some(medium),
        "big" => Some(big),
        _ => parse_bytes(stack),
    };
    match bytes.filter(|bytes| (STACK_MIN..=STACK_MAX).contains(bytes)) {
        Some(bytes) => Ok((name.to_owned(), bytes)),
        None => Err(format!(
            "role \"{text}\": stack \"{stack}\" must be small, medium, big, or {STACK_MIN} to \
             {STACK_MAX} bytes (65536, 64k, 1M)"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::figures::EPICS_STACKS_32;

    #[test]
    fn sizes() {
        for (text, bytes) in [
            ("65536", 65_536),
            ("64k", 65_536),
            ("64KiB", 65_536),
            (" 15 MiB ", 15 << 20),
            ("2M", 2 << 20),
            ("1G", 1 << 30),
        ] {
            assert_eq!(parse_bytes(text), Some(bytes), "{text:?}");
        }
        for text in ["", "k", "-1", "1.5M", "12x", "1 0", "99999999999999999999", "99999999999G"] {
            assert_eq!(parse_bytes(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_roster_is_read_as_the_shell_reads_it() {
        let roles = parse_roster("conn:big:20, reader:small:18\twriter:64k:0", EPICS_STACKS_32);
        let expected = [("conn", 1 << 20), ("reader", 256 << 10), ("writer", 64 << 10)];
        assert_eq!(roles, Ok(expected.map(|(name, stack)| (name.to_owned(), stack)).to_vec()));
    }

    #[test]
    fn an_error_says_which_role_and_what_may_stand_there() {
        for (text, part) in [
            ("", "no roles"),
            ("conn:big", "not name:stack:priority"),
            ("conn:big:20:1", "not name:stack:priority"),
            (":big:20", "name must be 1 to 15"),
            ("sixteen-letters!:big:20", "name must be 1 to 15"),
            ("conn:huge:20", "stack \"huge\" must be"),
            ("conn:1k:20", "stack \"1k\" must be"),
            ("conn:2G:20", "stack \"2G\" must be"),
            ("conn:big:100", "priority \"100\" must be 0 to 99"),
            ("conn:big:-1", "priority \"-1\" must be"),
            ("a:1M:0 b:1M:0 c:1M:0 d:1M:0 e:1M:0 f:1M:0 g:1M:0 h:1M:0 i:1M:0", "9 roles"),
        ] {
            let error = parse_roster(text, EPICS_STACKS_32).unwrap_err();
            assert!(error.contains(part), "{text:?}: {error}");
        }
    }
}
