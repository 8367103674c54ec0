/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "crewBoot.h"

#include <stdlib.h>

#include "crewPortEpics.h"
#include "crewText.h"

/* Hosts may set the budget here; a crewBudget command goes before it. */
#define BUDGET_VARIABLE "CREW_BUDGET_MIB"

static int booted; /* by a command, or found booted by one */

static int boot(const char *command, const char *mib)
{
    int32_t status;

    if (booted) {
        return 0;
    }
    status = crewPortEpicsBoot(mib != NULL ? mib : getenv(BUDGET_VARIABLE));
    if (status != CREW_OK && status != CREW_ALREADY_BOOTED) {
        return crewFailWith(command, status, NULL, "");
    }
    if (status == CREW_ALREADY_BOOTED && mib != NULL) {
        return crewFail(command, "this program has set the budget already, in its own main");
    }
    booted = 1;
    return 0;
}

int crewShellBoot(const char *command)
{
    return boot(command, NULL);
}

int crewBootWithBudget(const char *command, const char *mib)
{
    return boot(command, mib);
}

int crewBootIsDone(void)
{
    return booted;
}
