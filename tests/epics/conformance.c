/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The suite of tests/c on the EPICS port: members are threads of libCom, and events are its events.
 */
#include <stdio.h>

#include <crew.h>
#include <crewPortEpics.h>

#include "conformance.h"
#include "host_main.h"

int main(void)
{
    int32_t status;

#ifndef __rtems__ /* there the reader of the console sets the bound */
    host_guard();
#endif
    status = crewPortEpicsBoot("64");
    if (status != CREW_OK) {
        (void)fprintf(stderr, "conformance: boot: %s\n", crew_status_text(status));
        return 1;
    }
    return crew_conformance(crewPortEpics(), host_print, NULL) == 0 ? 0 : 1;
}
