/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Acquire, for fleet leases: looks, lets a policy choose, and carries out what it chose.
 *
 * In C, because the policy is the caller's: it runs with nothing of the core below it on the stack,
 * and the membership is not held meanwhile. A policy that ends its thread, throws, or takes long
 * loses and keeps nothing; crew_fleet_leave may come in between, and the next step is CREW_STALE
 * then.
 */
#ifndef CREW_FLEET_ACQUIRE_H
#define CREW_FLEET_ACQUIRE_H

#include "crew.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Chooses among the candidates: looks at them with crew_fleet_candidates(view->fleet, view->key,
 * ...), at the budget with crew_fleet_budget, and writes *choice, which comes as CREW_CHOICE_WAIT.
 * Returns CREW_OK, or a status that crew_fleet_acquire then returns. crew_fleet_local_first and
 * crew_fleet_local_only are policies.
 */
typedef int32_t (*crew_fleet_policy)(void *context, const crew_fleet_view *view,
                                     crew_fleet_choice *choice);

/*
 * Looks, asks the policy (NULL: crew_fleet_local_first), and carries out what it chose. A race that
 * was lost is tried again from a fresh look, limits->attempts times in all; after that the plan is
 * CREW_PLAN_WAIT. Any thread.
 *
 * CREW_OK: *plan says what was got. Else as crew_fleet_look and crew_fleet_carry_out, or the
 * policy's status.
 */
int32_t crew_fleet_acquire(crew_fleet fleet, crew_key key, const crew_fleet_limits *limits,
                           crew_fleet_policy policy, void *context, crew_fleet_plan *plan);

#ifdef __cplusplus
}
#endif

#endif
