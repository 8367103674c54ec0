/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * CA clients that connect, wait for the server's first byte, and close.
 *
 *   first-byte <port> <clients at once> <cycles>
 *
 * Prints a line for each cycle: microseconds from the first connect to the last close, then for each client those from
 * its connect to its first byte. Exit status 1, with the reason on standard error, when a client was not served.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MOST 256
#define BOUND_MS 20000

static double now_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int failed(const char *what)
{
    (void)fprintf(stderr, "first-byte: %s: %s\n", what, errno != 0 ? strerror(errno) : "the server closed it");
    return -1;
}

/* Begins to connect; the socket, or -1. */
static int begin(const struct sockaddr_in *server)
{
    const int made = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

    if (made < 0) {
        return failed("socket");
    }
    if (connect(made, (const struct sockaddr *)server, sizeof *server) != 0 && errno != EINPROGRESS) {
        (void)close(made);
        return failed("connect");
    }
    return made;
}

/* Waits until every client has had its first byte; how long each waited goes to `waited`, which holds its start. */
static int wait_for_bytes(struct pollfd *clients, double *waited, nfds_t count)
{
    nfds_t left = count;

    while (left > 0) {
        nfds_t i;

        if (poll(clients, count, BOUND_MS) <= 0) {
            return failed("no byte in time");
        }
        for (i = 0; i < count; i++) {
            if (clients[i].events != 0 && clients[i].revents != 0) {
                char bytes[64];

                errno = 0;
                if (recv(clients[i].fd, bytes, sizeof bytes, 0) <= 0) {
                    return failed("not served");
                }
                waited[i] = now_us() - waited[i];
                clients[i].events = 0;
                left--;
            }
        }
    }
    return 0;
}

static int cycle(const struct sockaddr_in *server, nfds_t count)
{
    struct pollfd clients[MOST];
    double waited[MOST];
    const double start = now_us();
    nfds_t made;
    nfds_t i;
    int result = 0;

    for (made = 0; made < count && result == 0; made++) {
        waited[made] = now_us();
        clients[made].fd = begin(server);
        clients[made].events = POLLIN;
        result = clients[made].fd < 0 ? -1 : 0;
    }
    if (result == 0) {
        result = wait_for_bytes(clients, waited, count);
    }
    for (i = 0; i < made; i++) {
        (void)close(clients[i].fd);
    }
    if (result == 0) {
        (void)printf("%.1f", now_us() - start);
        for (i = 0; i < count; i++) {
            (void)printf(" %.1f", waited[i]);
        }
        (void)printf("\n");
    }
    return result;
}

int main(int argc, char **argv)
{
    const long port = argc == 4 ? strtol(argv[1], NULL, 10) : 0;
    const long count = argc == 4 ? strtol(argv[2], NULL, 10) : 0;
    long cycles = argc == 4 ? strtol(argv[3], NULL, 10) : 0;
    struct sockaddr_in server;

    if (port <= 0 || port > 65535 || count <= 0 || count > MOST) {
        (void)fprintf(stderr, "usage: first-byte <port> <clients at once, at most %d> <cycles>\n", MOST);
        return 2;
    }
    memset(&server, 0, sizeof server);
    server.sin_family = AF_INET;
    server.sin_port = htons((unsigned short)port);
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (; cycles > 0; cycles--) {
        if (cycle(&server, (nfds_t)count) != 0) {
            return 1;
        }
    }
    return 0;
}
