/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The shell command demoConsole: a program at the other end of the console wants answers only, not
 * its own words. */
#include <stdio.h>
#include <termios.h>
#include <unistd.h>

#include <epicsStdio.h>
#include <iocsh.h>

#include "iocMain.h"

static const iocshFuncDef consoleDef = {"demoConsole", 0, NULL,
                                        "No echo on the console: a program reads it.\n"};

static void callConsole(const iocshArgBuf *args)
{
    struct termios settings;

    (void)args;
    if (tcgetattr(STDIN_FILENO, &settings) == 0) {
        settings.c_lflag &= ~(tcflag_t)ECHO;
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &settings);
    }
}

void consoleRegister(void)
{
    iocshRegister(&consoleDef, callConsole);
}
