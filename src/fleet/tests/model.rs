// SPDX-License-Identifier: MIT OR Apache-2.0
//! Any sequence of operations by two nodes has on the table the effect that it has on a small
//! model.

use super::*;
use crate::fleet::{
    Claim, Counted, CreationBudget, Error, Execution, FleetLease, Id, PENDING, PERMITS,
};
use proptest::prelude::*;
use std::vec;

const KEYS: [Key; 2] = [Key(1), Key(2)];
const GRACE_MS: u32 = 10;

#[derive(Clone, Copy, Debug)]
enum Op {
    Register { key: usize, capacity: u32 },
    Unregister(usize),
    Drain(usize),
    Reserve(usize),
    Accept(usize),
    Complete(usize),
    Reconcile(usize),
    Claim { key: usize, max_live: u32 },
    Finish(usize),
    Pass(u32),
    Sweep,
    Kill,
    Reset,
}

fn ops() -> impl Strategy<Value = Op> {
    prop_oneof![
        3 => (0..2usize, 1..12u32).prop_map(|(key, capacity)| Op::Register { key, capacity }),
        1 => any::<usize>().prop_map(Op::Unregister),
        1 => any::<usize>().prop_map(Op::Drain),
        8 => any::<usize>().prop_map(Op::Reserve),
        6 => any::<usize>().prop_map(Op::Accept),
        5 => any::<usize>().prop_map(Op::Complete),
        2 => any::<usize>().prop_map(Op::Reconcile),
        3 => (0..2usize, 0..5u32).prop_map(|(key, max_live)| Op::Claim { key, max_live }),
        2 => any::<usize>().prop_map(Op::Finish),
        2 => (0..20u32).prop_map(Op::Pass),
        1 => Just(Op::Sweep),
        1 => Just(Op::Kill),
        1 => Just(Op::Reset),
    ]
}

#[derive(Debug)]
struct Resource {
    id: Id,
    key: usize,
    owner: usize,
    capacity: u32,
    draining: bool,
    ended: bool,
    /// The pending leases, each with the time of its reservation.
    pending: Vec<(FleetLease, u32)>,
    active: Vec<Execution>,
}

#[derive(Default)]
struct Model {
    resources: Vec<Resource>,
    leases: Vec<FleetLease>,
    executions: Vec<Execution>,
    claims: Vec<(Claim, usize, usize)>,
    ended_claims: Vec<(Claim, usize)>,
    now: u32,
}

impl Model {
    fn end(&mut self, ends: impl Fn(&Resource) -> bool) {
        for resource in self.resources.iter_mut().filter(|resource| ends(resource)) {
            resource.ended = true;
            resource.pending.clear();
            resource.active.clear();
        }
    }

    fn live(&self, key: usize) -> u32 {
        let live = |r: &&Resource| r.key == key && !r.ended && !r.draining;
        self.resources.iter().filter(live).count() as u32
    }

    fn creating(&self, key: usize) -> u32 {
        self.claims.iter().filter(|claim| claim.1 == key).count() as u32
    }
}

fn pick<T: Copy>(list: &[T], n: usize) -> Option<T> {
    list.get(n % list.len().max(1)).copied()
}

/// The node that does the n-th operation.
fn node_of(n: usize) -> usize {
    n >> 7 & 1
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(often(128)))]

    #[test]
    fn behaves_like_a_model(ops in prop::collection::vec(ops(), 1..120)) {
        run(ops)?;
    }
}

/// Does each operation to a table and to a model, and compares all of both after each.
fn run(ops: Vec<Op>) -> Result<(), TestCaseError> {
    let world = World::new(Geometry { nodes: 2, ..SMALL });
    let mut nodes = vec![world.join(), world.join()];
    let mut model = Model::default();
    for (step, op) in ops.into_iter().enumerate() {
        match op {
            Op::Register { key, capacity } => {
                let owner = step & 1;
                let of_owner = |r: &&Resource| r.owner == owner && !r.ended;
                let full = model.resources.iter().filter(of_owner).count() == 4;
                let result = nodes[owner].register(KEYS[key], capacity);
                prop_assert_eq!(result.is_err(), full);
                match result {
                    Err(error) => prop_assert_eq!(error, Error::Full),
                    Ok(id) => {
                        prop_assert!(
                            model.resources.iter().all(|r| r.id != id),
                            "an id comes once"
                        );
                        model.resources.push(Resource {
                            id,
                            key,
                            owner,
                            capacity,
                            draining: false,
                            ended: false,
                            pending: vec![],
                            active: vec![],
                        });
                    }
                }
            }
            Op::Unregister(n) | Op::Drain(n) | Op::Reserve(n) | Op::Reconcile(n) => {
                let count = model.resources.len();
                if count == 0 {
                    continue;
                }
                let now = model.now;
                let r = &mut model.resources[n % count];
                let by = node_of(n);
                let node = &nodes[by];
                let owned = if r.ended {
                    Err(Error::Stale)
                } else if r.owner != by {
                    Err(Error::NotOwner)
                } else {
                    Ok(())
                };
                match op {
                    Op::Unregister(_) => {
                        prop_assert_eq!(node.unregister(r.id), owned);
                        if owned.is_ok() {
                            let id = r.id;
                            model.end(|r| r.id == id);
                        }
                    }
                    Op::Drain(_) => {
                        prop_assert_eq!(node.drain(r.id), owned);
                        r.draining |= owned.is_ok();
                    }
                    Op::Reserve(_) => {
                        let used = (r.pending.len() + r.active.len()) as u32;
                        let expected = if r.ended {
                            Err(Error::Stale)
                        } else if r.draining {
                            Err(Error::Draining)
                        } else if used >= r.capacity || r.pending.len() == PENDING {
                            Err(Error::Busy)
                        } else {
                            Ok(())
                        };
                        let result = node.reserve(r.id);
                        prop_assert_eq!(result.map(|_| ()), expected);
                        if let Ok(lease) = result {
                            prop_assert!(
                                model.leases.iter().all(|l| l.id != r.id || l.fence < lease.fence)
                            );
                            r.pending.push((lease, now));
                            model.leases.push(lease);
                        }
                    }
                    _ => {
                        let counted = Counted { table: 0, really: 0 };
                        let result = node.reconcile(r.id, counted, GRACE_MS);
                        prop_assert_eq!(result.map(|_| ()), owned);
                        if let Ok(done) = result {
                            let before = r.pending.len();
                            r.pending.retain(|(_, then)| now - then <= GRACE_MS);
                            prop_assert_eq!(done.aged as usize, before - r.pending.len());
                            prop_assert_eq!(done.active as usize, r.active.len());
                        }
                    }
                }
            }
            Op::Accept(n) => {
                let Some(lease) = pick(&model.leases, n) else { continue };
                let r = model.resources.iter_mut().find(|r| r.id == lease.id).unwrap();
                let place = r.pending.iter().position(|(pending, _)| *pending == lease);
                prop_assert_eq!(nodes[0].is_current(&lease), place.is_some());
                let by = node_of(n);
                let result = nodes[by].accept(&lease);
                let expected = if r.ended {
                    Err(Error::Stale)
                } else if r.owner != by {
                    Err(Error::NotOwner)
                } else if place.is_none() {
                    Err(Error::NotReserved)
                } else {
                    Ok(())
                };
                if result == Err(Error::TooManyExecutions) {
                    let owner = r.owner;
                    let at_work = model.resources.iter().filter(|r| r.owner == owner);
                    prop_assert_eq!(at_work.map(|r| r.active.len()).sum::<usize>(), 16);
                    continue;
                }
                prop_assert_eq!(result.map(|_| ()), expected);
                if let Ok(execution) = result {
                    r.pending.remove(place.unwrap());
                    r.active.push(execution);
                    model.executions.push(execution);
                }
            }
            Op::Complete(n) => {
                let Some(execution) = pick(&model.executions, n) else { continue };
                let holder = model
                    .resources
                    .iter_mut()
                    .find_map(|r| r.active.iter().position(|e| *e == execution).map(|i| (r, i)));
                let lane = (execution.bits() >> 46 & 0x3ff) as usize;
                let result = nodes[lane].complete(execution);
                prop_assert_eq!(result, holder.as_ref().map(|_| ()).ok_or(Error::Stale));
                if let Some((r, place)) = holder {
                    r.active.remove(place);
                }
            }
            Op::Claim { key, max_live } => {
                let by = step & 1;
                let budget =
                    CreationBudget { live: model.live(key), creating: model.creating(key) };
                let expected = if budget.creating as usize == PERMITS {
                    Err(Error::Busy)
                } else if budget.live + budget.creating >= max_live {
                    Err(Error::BudgetSpent(budget))
                } else {
                    Ok(())
                };
                let result = nodes[by].claim_create(KEYS[key], max_live).map(|p| p.into_claim());
                prop_assert_eq!(result.map(|_| ()), expected);
                if let Ok(claim) = result {
                    model.claims.push((claim, key, by));
                }
            }
            Op::Finish(n) => {
                if let Some((claim, by)) = pick(&model.ended_claims, n) {
                    prop_assert_eq!(nodes[by].finish(claim), Err(Error::Stale));
                }
                if let Some((claim, _, by)) = pick(&model.claims, n) {
                    prop_assert_eq!(nodes[by].finish(claim), Ok(()));
                    model.claims.retain(|other| other.0 != claim);
                    model.ended_claims.push((claim, by));
                }
            }
            Op::Pass(ms) => {
                model.now += ms;
                world.pass_ms(ms);
            }
            Op::Sweep => prop_assert_eq!(nodes[step & 1].sweep().map(|swept| swept.cells), Ok(0)),
            Op::Kill => {
                let dead = step & 1;
                let node = nodes.remove(dead);
                world.kill(node);
                let again = world.table().join(Some(dead as u16)).unwrap();
                nodes.insert(dead, again);
                model.end(|r| r.owner == dead);
                let ended = model.claims.iter().filter(|claim| claim.2 == dead);
                model.ended_claims.extend(ended.map(|(claim, _, by)| (*claim, *by)));
                model.claims.retain(|claim| claim.2 != dead);
                // The table holds a dead life's claims until a look or a sweep finds them.
                nodes[dead].sweep().unwrap();
            }
            Op::Reset => {
                nodes[step & 1].reset_all().unwrap();
                model.end(|_| true);
                let ended = model.claims.drain(..);
                model.ended_claims.extend(ended.map(|(claim, _, by)| (claim, by)));
            }
        }
        // The whole table after every step.
        let figures = world.table().audit().unwrap();
        let going: Vec<_> = model.resources.iter().filter(|r| !r.ended).collect();
        prop_assert_eq!(figures.resources as usize, going.len());
        prop_assert_eq!(
            figures.reserved as usize,
            going.iter().map(|r| r.pending.len()).sum::<usize>()
        );
        prop_assert_eq!(
            figures.active as usize,
            going.iter().map(|r| r.active.len()).sum::<usize>()
        );
        prop_assert_eq!(figures.executions, figures.active);
        prop_assert_eq!(figures.permits as usize, model.claims.len());
        for (n, key) in KEYS.into_iter().enumerate() {
            for candidate in nodes[step & 1].candidates(key) {
                let r = going.iter().find(|r| r.id == candidate.id).expect("it has not ended");
                let used = (r.pending.len() + r.active.len()) as u32;
                let free = if r.draining { 0 } else { r.capacity - used };
                prop_assert_eq!((candidate.capacity, candidate.free), (r.capacity, free));
                prop_assert_eq!((candidate.draining, r.key), (r.draining, n));
                prop_assert_eq!(candidate.local, r.owner == step & 1);
            }
            let budget = CreationBudget { live: model.live(n), creating: model.creating(n) };
            prop_assert_eq!(nodes[0].budget(key), Ok(budget));
        }
    }
    Ok(())
}
