/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The parts of the application: each is a command of its console. */
#ifndef APP_H
#define APP_H

#include "crew.h"

/* Suites: one line per test and tables in between. Each returns the number of tests that failed. All need a booted Crew
   and may run in any order and again. */
int threads_suite(crew_sink print, void *context);
int deaths_suite(crew_sink print, void *context);
int memory_suite(crew_sink print, void *context);
int churn_suite(crew_sink print, void *context);
int counts_suite(crew_sink print, void *context);

/* Boots with more than the board has, and tests what becomes of it. The first call does; later ones test nothing. */
int boot_suite(crew_sink print, void *context);

/* Reads commands from the console until `quit`, or the fixed script when nothing comes. Returns the exit status. */
int console(void);

#endif
