// SPDX-License-Identifier: MIT OR Apache-2.0
//! `crew_fleet.h`: fleet leases, one table of limited things that the processes of a machine share.

// The order of the header's sections; the blank lines keep it.
mod join;

mod image;

mod resource;

mod lease;

mod permit;

mod change;

mod acquire;

mod death;

mod show;

pub use acquire::*;
pub use change::*;
pub use death::*;
pub use join::*;
pub use lease::*;
pub use permit::*;
pub use resource::*;
pub use show::*;

use super::FLEETS;
use super::pointer::give;
use super::status::{
    CREW_BAD_CAPACITY, CREW_BAD_HANDLE, CREW_BAD_PORT, CREW_BUSY, CREW_FLEET_ALIVE,
    CREW_FLEET_BAD_GEOMETRY, CREW_FLEET_BUDGET_SPENT, CREW_FLEET_CORRUPT, CREW_FLEET_DRAINING,
    CREW_FLEET_FULL, CREW_FLEET_KEY_TABLE_FULL, CREW_FLEET_LIFE_ENDED, CREW_FLEET_NO_LANE,
    CREW_FLEET_NO_MORE_LIVES, CREW_FLEET_NOT_A_TABLE, CREW_FLEET_NOT_OWNER,
    CREW_FLEET_NOT_RESERVED, CREW_FLEET_OTHER_BYTE_ORDER, CREW_FLEET_OTHER_GEOMETRY,
    CREW_FLEET_OTHER_VERSION, CREW_FLEET_RESETTING, CREW_FLEET_TOO_MANY_EXECUTIONS,
    CREW_FLEET_TOO_SMALL, CREW_FLEET_WAS_RESET, CREW_NULL_ARGUMENT, CREW_REFUSED_TOO_MANY_WAITERS,
    CREW_STALE,
};
use crate::fleet::membership::{Memberships, No, Visit};
use crate::fleet::{Error, FleetLease, Id, Key, Life, Node, TableError};
use crate::limits::MAX_FLEETS;
use crate::table::{Handle, Kind};
use core::ops::Deref;

/// The image's memberships, and the ports of its own tables.
pub(crate) struct Fleets {
    members: Memberships<Membership, MAX_FLEETS>,
    images: image::Images,
}

impl Fleets {
    pub(crate) const fn new() -> Self {
        Self { members: Memberships::new(), images: image::Images::new() }
    }
}

/// One membership. The fields are dropped in this order: the node leaves, then the port may go.
struct Membership {
    node: Node<'static>,
    _image: Option<image::ImageUse>,
}

/// A call that is under way in a membership.
struct Call {
    visit: Visit<'static, Membership>,
}

impl Deref for Call {
    type Target = Node<'static>;

    fn deref(&self) -> &Node<'static> {
        &self.visit.node
    }
}

/// Begins a call.
fn enter(fleet: crew_fleet) -> Result<Call, i32> {
    let (index, generation) = parts(fleet)?;
    FLEETS.members.enter(index, generation).map(|visit| Call { visit }).map_err(of_no)
}

fn parts(fleet: crew_fleet) -> Result<(usize, u32), i32> {
    Handle::from_bits(fleet.bits).parts(Kind::Fleet, MAX_FLEETS).ok_or(CREW_BAD_HANDLE)
}

fn of_no(no: No) -> i32 {
    match no {
        No::Stale => CREW_STALE,
        No::Busy => CREW_BUSY,
    }
}

/// A caller's buffer, which takes as many values as fit, and how many there were.
struct Buffer<T> {
    place: *mut T,
    room: u32,
    count: u32,
}

impl<T> Buffer<T> {
    fn put(&mut self, value: T) {
        if self.count < self.room {
            // SAFETY: within the buffer, as `give_many` was promised.
            unsafe { self.place.add(self.count as usize).write(value) }
        }
        self.count += 1;
    }
}

/// Lets `fill` put its values into a buffer, and writes how many there were.
///
/// # Safety
/// `place` is NULL or writable for `room` values; `count` is NULL or writable.
unsafe fn give_many<T>(
    place: *mut T,
    room: u32,
    count: *mut u32,
    fill: impl FnOnce(&mut Buffer<T>) -> Result<(), i32>,
) -> i32 {
    let filled = || {
        if place.is_null() && room > 0 {
            return Err(CREW_NULL_ARGUMENT);
        }
        let mut buffer = Buffer { place, room, count: 0 };
        fill(&mut buffer).map(|()| buffer.count)
    };
    // SAFETY: the caller's promise.
    unsafe { give(count, filled) }
}

fn of_error(error: Error) -> i32 {
    match error {
        Error::Busy => CREW_BUSY,
        Error::Draining => CREW_FLEET_DRAINING,
        Error::Stale => CREW_STALE,
        Error::BadHandle => CREW_BAD_HANDLE,
        Error::NotOwner => CREW_FLEET_NOT_OWNER,
        Error::NotReserved => CREW_FLEET_NOT_RESERVED,
        Error::BadCapacity => CREW_BAD_CAPACITY,
        Error::Full => CREW_FLEET_FULL,
        Error::KeyTableFull => CREW_FLEET_KEY_TABLE_FULL,
        Error::TooManyExecutions => CREW_FLEET_TOO_MANY_EXECUTIONS,
        Error::BudgetSpent(_) => CREW_FLEET_BUDGET_SPENT,
        Error::NoLane => CREW_FLEET_NO_LANE,
        Error::NoMoreLives => CREW_FLEET_NO_MORE_LIVES,
        Error::Ended => CREW_FLEET_LIFE_ENDED,
        Error::Alive => CREW_FLEET_ALIVE,
        Error::TooManyWaiters => CREW_REFUSED_TOO_MANY_WAITERS,
        Error::Resetting => CREW_FLEET_RESETTING,
        Error::Reset => CREW_FLEET_WAS_RESET,
        Error::Corrupt => CREW_FLEET_CORRUPT,
    }
}

fn of_table_error(error: TableError) -> i32 {
    match error {
        TableError::BadGeometry(_) => CREW_FLEET_BAD_GEOMETRY,
        TableError::TooSmall { .. } => CREW_FLEET_TOO_SMALL,
        TableError::NotATable => CREW_FLEET_NOT_A_TABLE,
        TableError::OtherByteOrder => CREW_FLEET_OTHER_BYTE_ORDER,
        TableError::OtherVersion => CREW_FLEET_OTHER_VERSION,
        TableError::OtherGeometry(_) => CREW_FLEET_OTHER_GEOMETRY,
        TableError::CannotWait => CREW_BAD_PORT,
    }
}

/// A membership of this process in one fleet's table.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct crew_fleet {
    /// Crew's own.
    pub bits: u64,
}

/// A digest, made by the caller, of what a resource is usable for. Equal keys mean interchangeable
/// resources. Text of up to 16 printable characters may be its own digest: the first character in
/// the lowest byte of `low`, zeros behind the last; reports show it as text then.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct crew_key {
    /// The lower 64 bits, which must be spread well.
    pub low: u64,
    /// The upper 64 bits.
    pub high: u64,
}

/// Names a registered resource, in any process of the fleet. Zero names nothing.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct crew_resource {
    /// Prints with crew_resource_print; may be sent as it is.
    pub bits: u64,
}

/// One process in one node of the table, from its join to its end.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct crew_life {
    /// The node: a lane of the table.
    pub node: u32,
    /// The life in it, from 1 up.
    pub incarnation: u32,
}

/// The right to ask a resource's owner to use it: a value that the holder brings to the owner in
/// whatever way the two speak.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct crew_fleet_lease {
    /// The reserved resource.
    pub resource: crew_resource,
    /// Strictly increasing for a resource: tells this reservation from every other one.
    pub fence: u64,
    /// The life that reserved it.
    pub holder: crew_life,
}

/// A unit at work.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct crew_execution {
    /// Crew's own.
    pub bits: u64,
}

/// The right to create one resource under a key.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct crew_permit {
    /// Crew's own.
    pub bits: u64,
}

impl From<crew_key> for Key {
    fn from(key: crew_key) -> Self {
        Key(u128::from(key.high) << 64 | u128::from(key.low))
    }
}

impl From<crew_resource> for Id {
    fn from(resource: crew_resource) -> Self {
        Id::from_bits(resource.bits)
    }
}

impl From<Id> for crew_resource {
    fn from(id: Id) -> Self {
        Self { bits: id.bits() }
    }
}

impl From<Life> for crew_life {
    fn from(life: Life) -> Self {
        Self { node: life.node.into(), incarnation: life.incarnation }
    }
}

impl TryFrom<crew_life> for Life {
    type Error = i32;

    fn try_from(life: crew_life) -> Result<Self, i32> {
        let node = u16::try_from(life.node).map_err(|_| CREW_BAD_HANDLE)?;
        Ok(Life { node, incarnation: life.incarnation })
    }
}

impl From<FleetLease> for crew_fleet_lease {
    fn from(lease: FleetLease) -> Self {
        Self { resource: lease.id.into(), fence: lease.fence, holder: lease.holder.into() }
    }
}

impl TryFrom<crew_fleet_lease> for FleetLease {
    type Error = i32;

    fn try_from(lease: crew_fleet_lease) -> Result<Self, i32> {
        let holder = lease.holder.try_into()?;
        Ok(FleetLease { id: lease.resource.into(), fence: lease.fence, holder })
    }
}
