/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A CA client on libca for the demonstration. Every connection is a context of its own, so a TCP
 * circuit of its own.
 *
 *   caclient cycle <count> <pv>   connect, read, monitor, disconnect, one after the other
 *   caclient hold <count> <pv>    so many connections at once, held until the standard input ends
 *
 * Prints "cycle <done> <slowest ms>" after every 100 and at the end; "holding <count>" once all are
 * connected, read and monitored. Exit status 0, or 1 with the reason on stderr.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cadef.h>
#include <epicsEvent.h>
#include <epicsTime.h>

#define TIMEOUT_S 100.0
#define REPORT_EVERY 100

typedef struct connection {
    struct ca_client_context *context;
    chid channel;
    epicsEventId updated;
} connection;

static void onUpdate(struct event_handler_args args)
{
    connection *own = args.usr;

    if (args.status == ECA_NORMAL) {
        (void)epicsEventTrigger(own->updated);
    }
}

static int failed(const char *what, int status)
{
    fprintf(stderr, "caclient: %s: %s\n", what, ca_message(status));
    return -1;
}

/* Leaves the context attached to the calling thread. */
static int openConnection(connection *own, const char *pv)
{
    double value;
    evid subscription;
    int status = ca_context_create(ca_enable_preemptive_callback);

    if (status != ECA_NORMAL) {
        return failed("no context", status);
    }
    own->context = ca_current_context();
    status = ca_create_channel(pv, NULL, NULL, CA_PRIORITY_DEFAULT, &own->channel);
    if (status != ECA_NORMAL || (status = ca_pend_io(TIMEOUT_S)) != ECA_NORMAL) {
        return failed("connect", status);
    }
    status = ca_get(DBR_DOUBLE, own->channel, &value);
    if (status != ECA_NORMAL || (status = ca_pend_io(TIMEOUT_S)) != ECA_NORMAL) {
        return failed("read", status);
    }
    status = ca_create_subscription(DBR_DOUBLE, 1, own->channel, DBE_VALUE, onUpdate, own,
                                    &subscription);
    if (status != ECA_NORMAL || (status = ca_flush_io()) != ECA_NORMAL) {
        return failed("monitor", status);
    }
    if (epicsEventWaitWithTimeout(own->updated, TIMEOUT_S) != epicsEventOK) {
        return failed("monitor", ECA_TIMEOUT);
    }
    return 0;
}

static int cycle(long count, const char *pv)
{
    connection own;
    double slowest = 0.0;
    long i;

    own.updated = epicsEventMustCreate(epicsEventEmpty);
    for (i = 1; i <= count; i++) {
        const epicsUInt64 start = epicsMonotonicGet();
        double ms;

        if (openConnection(&own, pv) != 0) {
            fprintf(stderr, "caclient: connection %ld of %ld\n", i, count);
            return -1;
        }
        ca_context_destroy();
        ms = (double)(epicsMonotonicGet() - start) / 1e6;
        slowest = ms > slowest ? ms : slowest;
        if (i % REPORT_EVERY == 0 || i == count) {
            printf("cycle %ld %.1f\n", i, slowest);
            (void)fflush(stdout);
        }
    }
    return 0;
}

static int hold(long count, const char *pv)
{
    connection *all = calloc((size_t)count, sizeof *all);
    long i;

    if (all == NULL) {
        fprintf(stderr, "caclient: no memory for %ld connections\n", count);
        return -1;
    }
    for (i = 0; i < count; i++) {
        all[i].updated = epicsEventMustCreate(epicsEventEmpty);
        if (openConnection(&all[i], pv) != 0) {
            fprintf(stderr, "caclient: connection %ld of %ld\n", i + 1, count);
            return -1;
        }
        ca_detach_context();
    }
    printf("holding %ld\n", count);
    (void)fflush(stdout);
    while (getchar() != EOF) {
        /* held until then */
    }
    for (i = 0; i < count; i++) {
        (void)ca_attach_context(all[i].context);
        ca_context_destroy();
    }
    free(all);
    return 0;
}

int main(int argc, char **argv)
{
    const long count = argc == 4 ? strtol(argv[2], NULL, 10) : 0;
    int result = -1;

    if (count > 0 && strcmp(argv[1], "cycle") == 0) {
        result = cycle(count, argv[3]);
    } else if (count > 0 && strcmp(argv[1], "hold") == 0) {
        result = hold(count, argv[3]);
    } else {
        fprintf(stderr, "usage: caclient cycle|hold <count> <pv>\n");
    }
    return result == 0 ? 0 : 1;
}
