/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef PROC_STATUS_H
#define PROC_STATUS_H

#include <stdio.h>

/* Threads of this process, as Linux sees them; -1: it does not say. */
static inline int threads_alive(void)
{
    char line[128];
    int count = -1;
    FILE *status = fopen("/proc/self/status", "r");

    while (status != NULL && fgets(line, (int)sizeof(line), status) != NULL) {
        if (sscanf(line, "Threads: %d", &count) == 1) {
            break;
        }
    }
    if (status != NULL) {
        (void)fclose(status);
    }
    return count;
}

#endif
