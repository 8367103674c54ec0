/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "crew_fleet_acquire.h"

static int32_t attempt(const crew_fleet_view *view, crew_fleet_policy policy, void *context,
                       crew_fleet_plan *plan)
{
    crew_fleet_choice choice = CREW_FLEET_CHOICE_INIT;
    int32_t status = policy(context, view, &choice);

    return status == CREW_OK ? crew_fleet_carry_out(view, &choice, plan) : status;
}

int32_t crew_fleet_acquire(crew_fleet fleet, crew_key key, const crew_fleet_limits *limits,
                           crew_fleet_policy policy, void *context, crew_fleet_plan *plan)
{
    crew_fleet_view view = CREW_FLEET_VIEW_INIT;
    crew_fleet_choice none_left = CREW_FLEET_CHOICE_INIT;
    uint32_t tried = 0u;
    int32_t status;

    do {
        status = crew_fleet_look(fleet, key, limits, tried, &view);
        if (status == CREW_OK) {
            status = attempt(&view, policy != NULL ? policy : crew_fleet_local_first, context,
                             plan);
        }
        tried++;
    } while (status == CREW_FLEET_LOST_RACE && tried < limits->attempts);
    /* A change since the last look ends the wait. */
    return status == CREW_FLEET_LOST_RACE ? crew_fleet_carry_out(&view, &none_left, plan) : status;
}
