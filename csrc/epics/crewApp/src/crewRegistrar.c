/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The two things that crew.dbd names: the registrar, and a driver whose report is crewShow, for
 * dbior. */
#include "crewRegistrar.h"

#include <stddef.h>

#define USE_TYPED_DRVET
#include <drvSup.h>

#include <epicsExport.h>

#include "crewIocsh.h"
#include "crewLog.h"
#include "crewShell.h"

static long report(int level)
{
    return crewShow(level);
}

static drvet drvCrew = {2, report, NULL};
epicsExportAddress(drvet, drvCrew);

void crewRegistrar(void)
{
    static int done;

    if (!done) {
        done = 1;
        crewLogInit();
        crewIocshRegister();
    }
}
epicsExportRegistrar(crewRegistrar);
