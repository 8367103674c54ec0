/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A small IOC: base's record types, Crew, a startup script, then the IOC shell until "exit" or the
 * end of the input.
 *
 *   demo-ioc [script]
 *
 * Compiled without WITH_CREW it is a stock IOC that knows nothing of Crew; with RECORDS_DBD it has
 * the records of examples/fleet as well.
 */
#include <stdio.h>

#include <dbAccess.h>
#include <dbStaticLib.h>
#include <epicsExit.h>
#include <iocsh.h>
#include <iocshRegisterCommon.h>

#include "heap.h"

#ifdef WITH_CREW
#include <crewRegistrar.h>
#endif

static int loadDefinitions(void)
{
    /* dlload.dbd: the shell command that loads a shared library. */
    if (dbLoadDatabase("base.dbd", BASE_DBD, NULL) != 0 ||
        dbLoadDatabase("dlload.dbd", BASE_DBD, NULL) != 0) {
        return -1;
    }
#ifdef WITH_CREW
    if (dbLoadDatabase("crew.dbd", CREW_DBD, NULL) != 0) {
        return -1;
    }
    /* crew.dbd's registrar is found by name; calling it as well ties it into the link. */
    crewRegistrar();
#endif
#ifdef RECORDS_DBD
    if (dbLoadDatabase("fleetRecords.dbd", RECORDS_DBD, NULL) != 0) {
        return -1;
    }
#endif
    return registerAllRecordDeviceDrivers(pdbbase) == 0 ? 0 : -1;
}

int main(int argc, char **argv)
{
    iocshRegisterCommon();
    demoHeapRegister();
    if (loadDefinitions() != 0) {
        fprintf(stderr, "demo-ioc: the database definitions could not be loaded\n");
        epicsExit(1);
    }
    if (argc > 1 && iocsh(argv[1]) != 0) {
        fprintf(stderr, "demo-ioc: %s stopped at an error\n", argv[1]);
        epicsExit(1);
    }
    (void)iocsh(NULL);
    epicsExit(0);
    return 0;
}
