/* Initialisers of the structs that begin with their size. */
#define CREW_FLEET_GEOMETRY_INIT { (uint32_t)sizeof(crew_fleet_geometry), 1, 16, 64, 256, 64 }
#define CREW_FLEET_OPTIONS_INIT \
    { (uint32_t)sizeof(crew_fleet_options), CREW_FLEET_ANY_NODE, NULL, NULL, 0, NULL, NULL, 0 }
#define CREW_FLEET_LIMITS_INIT { (uint32_t)sizeof(crew_fleet_limits), 1, 4 }
#define CREW_FLEET_VIEW_INIT \
    { (uint32_t)sizeof(crew_fleet_view), 0, { 0 }, { 0, 0 }, 0, 0 }
#define CREW_FLEET_CHOICE_INIT { (uint32_t)sizeof(crew_fleet_choice), CREW_CHOICE_WAIT, { 0 }, 0 }
#define CREW_FLEET_PLAN_INIT \
    { (uint32_t)sizeof(crew_fleet_plan), 0, { { 0 }, 0, { 0, 0 } }, { 0 }, 0, 0 }

#include "crew_fleet_acquire.h"

#endif /* CREW_FLEET_H */
