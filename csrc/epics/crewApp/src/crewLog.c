/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "crewLog.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <epicsMutex.h>
#include <epicsStdio.h>
#include <epicsTime.h>

#include <epicsExport.h>

#define CAUSES 16u        /* causes told apart at a time */
#define LINE_BYTES 201u   /* with errlog's prefix and ours it stays within errlog's 256 */
#define BEGINNING_BYTES 41u

typedef struct cause {
    uint32_t shape; /* 0: free */
    unsigned heldBack;
    uint64_t lastMs;
    char beginning[BEGINNING_BYTES]; /* of its last line: its name when it leaves the table */
} cause;

int crewLogPeriodMs = 1000;
epicsExportAddress(int, crewLogPeriodMs);

static epicsMutexId lock;
static cause causes[CAUSES];

/* A hash (FNV-1a) of everything but the digits, never 0. */
static uint32_t shapeOf(const char *line)
{
    uint32_t hash = 2166136261u;

    for (; *line != '\0'; line++) {
        if (!isdigit((unsigned char)*line)) {
            hash = (hash ^ (unsigned char)*line) * 16777619u;
        }
    }
    return hash != 0u ? hash : 1u;
}

/* The entry of this shape, else the one that has been silent for longest. */
static cause *entryFor(uint32_t shape)
{
    cause *oldest = &causes[0];
    unsigned i;

    for (i = 0; i < CAUSES; i++) {
        if (causes[i].shape == shape) {
            return &causes[i];
        }
        if (causes[i].lastMs < oldest->lastMs) {
            oldest = &causes[i];
        }
    }
    return oldest;
}

void crewLogInit(void)
{
    if (lock == NULL) {
        lock = epicsMutexMustCreate();
    }
}

void crewLog(errlogSevEnum severity, const char *format, ...)
{
    const uint64_t nowMs = epicsMonotonicGet() / 1000000u;
    char line[LINE_BYTES];
    cause leaving;
    cause *entry;
    uint32_t shape;
    unsigned before = 0;
    int tell = 1;
    va_list arguments;

    va_start(arguments, format);
    (void)epicsVsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    shape = shapeOf(line);
    leaving.heldBack = 0;

    if (lock != NULL) {
        epicsMutexMustLock(lock);
        entry = entryFor(shape);
        if (entry->shape == shape) {
            const uint64_t periodMs = crewLogPeriodMs > 0 ? (uint64_t)crewLogPeriodMs : 0u;

            tell = nowMs - entry->lastMs >= periodMs;
        } else {
            leaving = *entry;
            entry->shape = shape;
            entry->heldBack = 0;
        }
        if (tell) {
            before = entry->heldBack;
            entry->heldBack = 0;
            entry->lastMs = nowMs;
            (void)epicsSnprintf(entry->beginning, sizeof entry->beginning, "%s", line);
        } else {
            entry->heldBack++;
        }
        epicsMutexUnlock(lock);
    }
    if (leaving.heldBack > 0) {
        (void)errlogSevPrintf(severity, "crew: (+%u lines like \"%s...\")\n", leaving.heldBack,
                              leaving.beginning);
    }
    if (tell && before > 0) {
        (void)errlogSevPrintf(severity, "crew: %s (+%u since the last line)\n", line, before);
    } else if (tell) {
        (void)errlogSevPrintf(severity, "crew: %s\n", line);
    }
}

unsigned crewLogHeldBack(void)
{
    unsigned sum = 0;
    unsigned i;

    if (lock != NULL) {
        epicsMutexMustLock(lock);
        for (i = 0; i < CAUSES; i++) {
            sum += causes[i].heldBack;
        }
        epicsMutexUnlock(lock);
    }
    return sum;
}
