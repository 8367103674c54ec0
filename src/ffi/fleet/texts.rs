// SPDX-License-Identifier: MIT OR Apache-2.0
//! The texts of a fleet's statuses.

use super::status::{FLEET_TEXTS, FleetTexts, UNKNOWN};
use super::*;
use crate::sync::atomic::Ordering::Release;

/// To be called by whatever can be a caller's first call of a fleet.
pub(super) fn bring_texts() {
    FLEET_TEXTS.store((&raw const TEXTS).cast_mut(), Release);
}

static TEXTS: FleetTexts = {
    let mut texts: FleetTexts = [UNKNOWN; size_of::<FleetTexts>() / size_of::<&CStr>()];
    let mut index = 0;
    while index < texts.len() {
        texts[index] = text(CREW_FLEET_DRAINING + index as i32);
        index += 1;
    }
    texts
};

const fn text(status: i32) -> &'static CStr {
    match status {
        CREW_FLEET_DRAINING => c"draining: the resource takes no new leases",
        CREW_FLEET_NOT_RESERVED => c"not reserved: the lease was accepted before, or is too old",
        CREW_FLEET_FULL => c"full: the node has all the resources it may, a larger geometry",
        CREW_FLEET_KEY_TABLE_FULL => c"key table full: a larger geometry, or reset the table",
        CREW_FLEET_TOO_MANY_EXECUTIONS => {
            c"too many executions: complete one, or a larger geometry"
        }
        CREW_FLEET_BUDGET_SPENT => {
            c"creation budget spent: as many live or are being created as may"
        }
        CREW_FLEET_NO_LANE => c"no lane: every node of the table is taken",
        CREW_FLEET_NO_MORE_LIVES => c"no more lives: reset the table",
        CREW_FLEET_LIFE_ENDED => c"this node's life was ended: leave and join again",
        CREW_FLEET_ALIVE => c"alive: the node that was reported dead",
        CREW_FLEET_RESETTING => c"the table is being reset: try again",
        CREW_FLEET_WAS_RESET => c"the table was reset meanwhile: look again",
        CREW_FLEET_LOST_RACE => c"another one was faster: look again",
        CREW_FLEET_SYSTEM => c"the system refused shared memory, a descriptor or a thread",
        CREW_FLEET_NOT_OWNER => c"not owner: only the owner may",
        CREW_FLEET_BAD_GEOMETRY => c"bad geometry: a number is out of its bounds",
        CREW_FLEET_TOO_SMALL => c"too small: the memory is smaller than such a table",
        CREW_FLEET_NOT_A_TABLE => c"not a table: the memory holds something else",
        CREW_FLEET_OTHER_BYTE_ORDER => c"a table of the other byte order",
        CREW_FLEET_OTHER_VERSION => c"a table of another version of Crew",
        CREW_FLEET_OTHER_GEOMETRY => c"a table of another geometry",
        CREW_FLEET_CORRUPT => c"corrupt: somebody writes into the table who should not",
        _ => UNKNOWN,
    }
}
