/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The parts of the application: each is a command of its console. */
#ifndef APP_H
#define APP_H

#include "crew.h"

/*
 * Suites: one line per test and tables in between. Each returns the number of tests that failed.
 * All need a booted Crew and may run in any order and again.
 */
int threads_suite(crew_sink print, void *context);
int deaths_suite(crew_sink print, void *context);
int memory_suite(crew_sink print, void *context);
int churn_suite(crew_sink print, void *context);
int counts_suite(crew_sink print, void *context);

/* Of the churn, only the part on a borrowed set: for an image with another port. */
int churn_on_a_set(crew_sink print, void *context);

typedef struct churn_result {
    long lost_bytes;
    unsigned wrong; /* calls that did not answer as they must */
} churn_result;

/*
 * Does `cycle`, which returns how many of its calls went wrong, 10,000 times, and prints the heap
 * every 1,000.
 */
void churn_cycles(const char *name, unsigned (*cycle)(void *context), void *context,
                  churn_result *seen);

/*
 * Boots with a budget larger than the board, and tests the verdict. Only the first call tests;
 * later ones do nothing.
 */
int boot_suite(crew_sink print, void *context);

/*
 * POSIX_Init calls this. Returns the exit status. In this image: reads commands from the console
 * until `quit`, or the fixed script when nothing comes.
 */
int console(void);

#endif
