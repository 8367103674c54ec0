/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * An echo server on Crew's C interface. Each connection borrows a set of three threads: `reader`
 * takes bytes from the socket, `conn` is where a protocol would work on them, `writer` sends them
 * back. When no set is to be had, the client is told why in one line. See README.md.
 */
#include "crew.h"
#include "crew_port_posix.h"
#include "ring.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONN, READER, WRITER, ROLES };
/* A client that says nothing, or takes nothing, for IDLE_S is disconnected: no job waits without an
 * end. */
enum { MAX_CONNECTIONS = 32, IDLE_S = 60 };
/* How long a client may wait for the set of one that is just leaving, and how long the end may
 * take. */
#define ACQUIRE_MS 100u
#define END_MS 10000u

typedef struct connection {
    int taken;
    int socket;
    int users; /* jobs that still use it */
    ring in;
    ring out;
} connection;

static connection connections[MAX_CONNECTIONS];
/* Readable for ever once a signal has asked for the end: every thread that polls sees it. */
static int stop_pipe[2];

static void on_signal(int number)
{
    ssize_t written = write(stop_pipe[1], "", 1u);

    (void)number;
    (void)written;
}

static void check(int ok, const char *what)
{
    if (!ok) {
        (void)fprintf(stderr, "echo: %s\n", what);
        exit(1);
    }
}

/* ---- a connection and its three jobs ---- */

/* The last user closes the socket. The set goes back to the pool once all its jobs have returned,
 * not before. */
static void leave(connection *with)
{
    if (__atomic_sub_fetch(&with->users, 1, __ATOMIC_ACQ_REL) == 0) {
        (void)close(with->socket);
        __atomic_store_n(&with->taken, 0, __ATOMIC_RELEASE);
    }
}

static int32_t job_reader(void *argument)
{
    connection *with = (connection *)argument;
    struct pollfd polled[2] = { { with->socket, POLLIN, 0 }, { stop_pipe[0], POLLIN, 0 } };
    chunk next;
    ssize_t got;

    while (poll(polled, 2u, IDLE_S * 1000) > 0 && polled[1].revents == 0 &&
           (got = recv(with->socket, next.bytes, sizeof(next.bytes), 0)) > 0) {
        next.used = (size_t)got;
        if (!ring_put(&with->in, &next)) {
            break;
        }
    }
    ring_end(&with->in);
    leave(with);
    return 0;
}

static int32_t job_conn(void *argument)
{
    connection *with = (connection *)argument;
    chunk next;

    while (ring_get(&with->in, &next) && ring_put(&with->out, &next)) {
    }
    ring_end(&with->in);
    ring_end(&with->out);
    leave(with);
    return 0;
}

static int sent_all(int socket, const chunk *all)
{
    size_t sent = 0u;
    ssize_t now = 1;

    while (sent < all->used && now > 0) {
        now = send(socket, all->bytes + sent, all->used - sent, MSG_NOSIGNAL);
        sent += now > 0 ? (size_t)now : 0u;
    }
    return sent == all->used;
}

static int32_t job_writer(void *argument)
{
    connection *with = (connection *)argument;
    chunk next;

    while (ring_get(&with->out, &next) && sent_all(with->socket, &next)) {
    }
    ring_end(&with->out);
    /* A reader that is still there is woken by the end of its socket. */
    (void)shutdown(with->socket, SHUT_RDWR);
    leave(with);
    return 0;
}

/* There is one for each set that can be granted, and a set is idle only after its jobs have left
 * theirs. */
static connection *connection_take(int socket)
{
    connection *with = connections;

    while (with < connections + MAX_CONNECTIONS &&
           __atomic_load_n(&with->taken, __ATOMIC_ACQUIRE)) {
        with++;
    }
    check(with < connections + MAX_CONNECTIONS, "more connections than sets");
    with->taken = 1;
    with->socket = socket;
    with->users = ROLES;
    ring_start(&with->in);
    ring_start(&with->out);
    return with;
}

/* Runs the three jobs detached and gives the lease back at once: the set returns when they have
 * ended. */
static void serve(crew_lease lease, connection *with)
{
    static const crew_function jobs[ROLES] = { job_conn, job_reader, job_writer };
    static const char *const labels[ROLES] = { "echo conn", "echo reader", "echo writer" };
    uint32_t role;

    for (role = 0; role < ROLES; role++) {
        int32_t status = crew_run(lease, role, labels[role], jobs[role], with, NULL);

        if (status != CREW_OK) {
            /* The set has died. The jobs that did start end by themselves; this one leaves here. */
            (void)fprintf(stderr, "echo: %s: %s\n", labels[role], crew_status_text(status));
            ring_end(&with->in);
            ring_end(&with->out);
            (void)shutdown(with->socket, SHUT_RDWR);
            leave(with);
        }
    }
    (void)crew_release(lease);
}

/* Which "no" it was decides what an operator can do about it, so the client's line says it. */
static void refuse(int socket, const crew_refusal *refusal)
{
    char line[200];
    int length;

    if (refusal->kind == CREW_REFUSED_AT_CAPACITY) {
        length = snprintf(line, sizeof(line), "refused: all %u connections are in use\n",
                          (unsigned)refusal->capacity);
    } else if (refusal->kind == CREW_REFUSED_OUT_OF_RESERVATION) {
        length = snprintf(line, sizeof(line),
                          "refused: %llu bytes needed, %llu of %llu are in use\n",
                          (unsigned long long)refusal->bytes_requested,
                          (unsigned long long)refusal->bytes_held,
                          (unsigned long long)refusal->bytes_budget);
    } else {
        length = snprintf(line, sizeof(line), "refused: %s\n", crew_status_text(refusal->kind));
    }
    (void)send(socket, line, (size_t)length, MSG_NOSIGNAL);
    (void)close(socket);
}

static void accept_one(int listener, crew_pool pool)
{
    struct timeval patience = { IDLE_S, 0 };
    crew_refusal refusal = CREW_REFUSAL_INIT;
    crew_lease lease;
    int socket = accept(listener, NULL, NULL);

    if (socket < 0) {
        return;
    }
    (void)setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    if (crew_acquire(pool, ACQUIRE_MS, &lease, &refusal) == CREW_OK) {
        serve(lease, connection_take(socket));
    } else {
        refuse(socket, &refusal);
    }
}

/* ---- start and end ---- */

static int listen_on(uint16_t port)
{
    struct sockaddr_in address;
    socklen_t length = sizeof(address);
    int on = 1;
    int listener = socket(AF_INET, SOCK_STREAM, 0);

    memset(&address, 0, sizeof(address));
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    check(listener >= 0 && setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0,
          "cannot make a socket");
    check(bind(listener, (struct sockaddr *)&address, sizeof(address)) == 0 &&
              listen(listener, 8) == 0 &&
              getsockname(listener, (struct sockaddr *)&address, &length) == 0,
          "cannot listen: choose a port that is free");
    (void)printf("listening on 127.0.0.1:%u\n", (unsigned)ntohs(address.sin_port));
    (void)fflush(stdout);
    return listener;
}

/* Boots Crew and opens the pool. Every number that a site may want to change is here. */
static crew_pool pool_start(uint32_t capacity)
{
    static const crew_role roles[ROLES] = { { "conn", 65536u, 20u },
                                            { "reader", 32768u, 20u },
                                            { "writer", 32768u, 18u } };
    crew_boot_options boot = CREW_BOOT_OPTIONS_INIT;
    crew_pool_options options = CREW_POOL_OPTIONS_INIT;
    crew_pool pool;
    int32_t status;

    boot.port = crew_port_posix();
    boot.budget_text = getenv("ECHO_BUDGET_MIB");
    status = crew_boot(&boot);
    check(status == CREW_OK, crew_status_text(status));
    options.name = "echo";
    options.roles = roles;
    options.role_count = ROLES;
    options.capacity = capacity;
    status = crew_pool_open(&options, &pool);
    check(status == CREW_OK, crew_status_text(status));
    return pool;
}

/* Waits, with a bound, until the last connection has ended, and then for the threads. */
static void pool_end(crew_pool pool)
{
    struct timespec step = { 0, 10000000L };
    crew_usage usage = CREW_USAGE_INIT;
    uint32_t waited_ms;

    for (waited_ms = 0;
         crew_pool_usage(pool, &usage) == CREW_OK && usage.busy > 0u && waited_ms < END_MS;
         waited_ms += 10u) {
        (void)nanosleep(&step, NULL);
    }
    check(crew_pool_close(pool, END_MS) == CREW_OK, "a connection does not end");
}

int main(int argc, char **argv)
{
    long capacity = argc > 2 ? strtol(argv[2], NULL, 10) : 8;
    long left = argc > 3 ? strtol(argv[3], NULL, 10) : -1;
    struct sigaction action;
    struct pollfd polled[2];
    crew_pool pool;
    size_t i;

    check(argc > 1 && capacity >= 1 && capacity <= MAX_CONNECTIONS,
          "usage: echo port [connections at a time, 1 to 32] [connections until it ends]");
    for (i = 0; i < MAX_CONNECTIONS; i++) {
        ring_init(&connections[i].in);
        ring_init(&connections[i].out);
    }
    memset(&action, 0, sizeof(action));
    action.sa_handler = on_signal;
    check(pipe(stop_pipe) == 0 && sigaction(SIGINT, &action, NULL) == 0 &&
              sigaction(SIGTERM, &action, NULL) == 0,
          "cannot prepare for signals");
    pool = pool_start((uint32_t)capacity);
    polled[0].fd = listen_on((uint16_t)strtoul(argv[1], NULL, 10));
    polled[1].fd = stop_pipe[0];
    polled[0].events = polled[1].events = POLLIN;
    while (left != 0) {
        int ready = poll(polled, 2u, IDLE_S * 1000);

        if (ready > 0 && polled[1].revents != 0) {
            break;
        }
        if (ready > 0) {
            accept_one(polled[0].fd, pool);
            left -= left > 0;
        } else if (ready == 0) {
            /* Quiet for a while: threads that are not needed go back to the system. */
            (void)crew_pool_trim(pool, 1u);
        }
    }
    (void)close(polled[0].fd);
    pool_end(pool);
    return 0;
}
