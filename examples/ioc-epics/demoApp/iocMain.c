/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * An IOC: its definitions, a startup script, then the IOC shell until "exit" or the end of the
 * input.
 *
 *   demo-ioc [script]
 *
 * On RTEMS there is no script to be named: say iocshLoad st.cmd at the prompt.
 */
#include <stdio.h>

#define USE_TYPED_RSET
#include <dbAccess.h>
#include <epicsExit.h>
#include <epicsStdio.h>
#include <iocsh.h>

#include "heap.h"
#include "iocMain.h"

/* The commands are those that makeBaseApp's startup scripts begin with. */
static int loadDefinitions(void)
{
    char command[300];

    (void)epicsSnprintf(command, sizeof command, "dbLoadDatabase %s%s.dbd", DBD_DIR, iocName);
    if (iocshCmd(command) != 0) {
        return -1;
    }
    (void)epicsSnprintf(command, sizeof command, "%s_registerRecordDeviceDriver pdbbase", iocName);
    return iocshCmd(command);
}

int main(int argc, char **argv)
{
    const char *script = argc > 1 ? argv[1] : NULL;

    demoHeapRegister();
#ifdef __rtems__
    script = NULL; /* base names a directory here */
    consoleRegister();
#endif
    if (loadDefinitions() != 0) {
        fprintf(stderr, "%s: the database definitions could not be loaded\n", iocName);
        epicsExit(1);
    }
    if (script != NULL && iocsh(script) != 0) {
        fprintf(stderr, "%s: %s stopped at an error\n", iocName, script);
        epicsExit(1);
    }
    (void)iocsh(NULL);
    epicsExit(0);
    return 0;
}
