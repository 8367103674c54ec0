/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "app.h"
#include "check_suites.h"
#include "conformance.h"
#include "crew_port_posix.h"
#include "heap.h"

#include <rtems.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define LINE_BYTES 64u
/*
 * How long the console may be silent before the fixed script is run instead, in tenths of a second.
 */
#define SILENT_DS 20u

static check_suites all;

/* Collects a line; its beginning stays when a read ends before the line does. */
static char typed[LINE_BYTES];

static void print_line(void *context, const char *line)
{
    (void)context;
    (void)puts(line);
}

static void boot(void) { (void)boot_suite(check_suites_line, &all); }
static void threads(void) { (void)threads_suite(check_suites_line, &all); }
static void deaths(void) { (void)deaths_suite(check_suites_line, &all); }
static void memory(void) { (void)memory_suite(check_suites_line, &all); }
static void churn(void) { (void)churn_suite(check_suites_line, &all); }
static void counts(void) { (void)counts_suite(check_suites_line, &all); }
static void conformance(void)
{
    (void)crew_conformance(crew_port_posix(), check_suites_line, &all);
}

static void report(void)
{
    (void)crew_report(2u, print_line, NULL);
}

static void show_heap(void)
{
    const heap now = heap_now();

    (void)printf("heap: %ld B free, largest block %ld B\n", now.free_bytes, now.largest_bytes);
}

static void everything(void)
{
    boot();
    threads();
    deaths();
    memory();
    churn();
    counts();
    conformance(); /* last: it seals */
}

static const struct {
    const char *name;
    void (*function)(void);
    const char *what;
} commands[] = {
    { "boot", boot,
      "boots Crew with more than the board has (the first command for all the others)" },
    { "threads", threads, "names, priorities, stacks, protection" },
    { "deaths", deaths, "threads that end, by each of the means" },
    { "memory", memory, "a full house, refusals, a full heap" },
    { "churn", churn, "10,000 connections one after the other, and what each leaves behind" },
    { "counts", counts, "instructions of each call, under -icount shift=0" },
    { "conformance", conformance, "what every port must pass; seals" },
    { "all", everything, "all of these" },
    { "heap", show_heap, "free bytes and largest block" },
    { "report", report, "who holds what" },
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void help(void)
{
    size_t i;

    for (i = 0; i < COMMANDS; i++) {
        (void)printf("%-12s %s\n", commands[i].name, commands[i].what);
    }
    (void)printf("%-12s ends the application\n", "quit");
}

static void execute(void)
{
    size_t i;

    for (i = 0; i < COMMANDS; i++) {
        if (strcmp(typed, commands[i].name) == 0) {
            commands[i].function();
            return;
        }
    }
    help();
}

/* A read ends after SILENT_DS without a character. */
static void bound_reads(void)
{
    struct termios mode;

    if (tcgetattr(STDIN_FILENO, &mode) == 0) {
        mode.c_lflag &= (tcflag_t)~(tcflag_t)(ICANON | ECHO);
        mode.c_cc[VMIN] = 0;
        mode.c_cc[VTIME] = SILENT_DS;
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &mode);
    }
}

/* One line, cut to LINE_BYTES. 0: nothing came within the time. */
static int read_line(void)
{
    static size_t length;
    char c;

    while (read(STDIN_FILENO, &c, 1u) == 1) {
        if (c == '\n' || c == '\r') {
            if (length > 0u) {
                typed[length] = '\0';
                length = 0u;
                return 1;
            }
        } else if (length < LINE_BYTES - 1u) {
            typed[length++] = c;
        }
    }
    return 0;
}

static void prompt(void)
{
    (void)printf("crew> ");
    (void)fflush(stdout);
}

int console(void)
{
    int talks = 0;

    help();
    bound_reads();
    prompt();
    for (;;) {
        if (read_line()) {
            talks = 1;
            (void)printf("%s\n", typed);
            if (strcmp(typed, "quit") == 0) {
                return check_suites_sum(&all);
            }
            execute();
            prompt();
        } else if (!talks) {
            (void)printf("\nnobody types: all, and the end\n");
            everything();
            return check_suites_sum(&all);
        }
    }
}
