/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Runs the echo example as a client would meet it: echo_test <path of the echo program>. */
#include "check.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *program;
static pid_t server;
static uint16_t port;

/* Starts the server and learns its port from its first line. */
static int start(const char *capacity, const char *connections)
{
    int ends[2];
    char line[100] = "";
    FILE *from;

    if (!CHECK(pipe(ends) == 0)) {
        return 0;
    }
    (void)fflush(stdout);
    server = fork();
    if (server == 0) {
        (void)dup2(ends[1], STDOUT_FILENO);
        (void)close(ends[0]);
        (void)close(ends[1]);
        (void)execl(program, program, "0", capacity, connections, (char *)NULL);
        _exit(127);
    }
    (void)close(ends[1]);
    from = fdopen(ends[0], "r");
    if (!CHECK(from != NULL)) {
        return 0;
    }
    (void)CHECK(fgets(line, (int)sizeof(line), from) != NULL);
    (void)fclose(from);
    if (!CHECK(strncmp(line, "listening on 127.0.0.1:", 23u) == 0)) {
        return 0;
    }
    port = (uint16_t)strtoul(line + 23, NULL, 10);
    return CHECK(port != 0u);
}

/* Exit status, or -1 when a signal ended it. */
static int ended(void)
{
    int status = 0;

    (void)CHECK_EQ(waitpid(server, &status, 0), server);
    server = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int client(void)
{
    struct sockaddr_in address;
    struct timeval patience = { 10, 0 };
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    memset(&address, 0, sizeof(address));
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    (void)CHECK_EQ(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    return fd;
}

/* Reads until `size` bytes are there or the other side ends. */
static size_t receive(int fd, char *to, size_t size)
{
    size_t got = 0u;
    ssize_t now = 1;

    while (got < size && now > 0) {
        now = recv(fd, to + got, size - got, 0);
        got += now > 0 ? (size_t)now : 0u;
    }
    return got;
}

static int echoes(int fd, const char *text)
{
    char back[64];
    size_t length = strlen(text);

    return CHECK_EQ(send(fd, text, length, MSG_NOSIGNAL), length) &&
           CHECK_EQ(receive(fd, back, length), length) && CHECK(memcmp(back, text, length) == 0);
}

static void serves_refuses_and_serves_again(void)
{
    char line[200];
    int fds[2];
    int fd;
    size_t length;

    if (!start("2", "4")) {
        return;
    }
    fds[0] = client();
    (void)CHECK(echoes(fds[0], "first"));
    fds[1] = client();
    (void)CHECK(echoes(fds[1], "second"));
    (void)CHECK(echoes(fds[0], "first again"));
    fd = client();
    length = receive(fd, line, sizeof(line) - 1u);
    line[length] = '\0';
    (void)CHECK(strcmp(line, "refused: all 2 connections are in use\n") == 0);
    (void)close(fd);
    (void)close(fds[0]);
    fd = client();
    (void)CHECK(echoes(fd, "fourth"));
    (void)CHECK(echoes(fds[1], "second again"));
    (void)close(fd);
    (void)close(fds[1]);
    (void)CHECK_EQ(ended(), 0);
}

/* More than the rings hold, sent in one go and read afterwards. */
static void keeps_order_through_full_rings(void)
{
    enum { BYTES = 200000 };
    static char out[BYTES];
    static char back[BYTES];
    pid_t sender;
    int fd;
    size_t i;

    for (i = 0; i < BYTES; i++) {
        out[i] = (char)('a' + i % 23u);
    }
    if (!start("1", "1")) {
        return;
    }
    fd = client();
    sender = fork();
    if (sender == 0) {
        size_t sent = 0u;
        ssize_t now = 1;

        while (sent < BYTES && now > 0) {
            now = send(fd, out + sent, BYTES - sent, MSG_NOSIGNAL);
            sent += now > 0 ? (size_t)now : 0u;
        }
        (void)shutdown(fd, SHUT_WR);
        _exit(0);
    }
    (void)CHECK_EQ(receive(fd, back, BYTES), BYTES);
    (void)CHECK(memcmp(out, back, BYTES) == 0);
    (void)CHECK_EQ(receive(fd, back, 1u), 0);
    (void)waitpid(sender, NULL, 0);
    (void)close(fd);
    (void)CHECK_EQ(ended(), 0);
}

static void signal_ends_it_with_a_client_connected(void)
{
    char byte;
    int fd;

    if (!start("4", "1000")) {
        return;
    }
    fd = client();
    (void)CHECK(echoes(fd, "hello"));
    (void)CHECK_EQ(kill(server, SIGTERM), 0);
    (void)CHECK_EQ(receive(fd, &byte, 1u), 0);
    (void)CHECK_EQ(ended(), 0);
    (void)close(fd);
}

static void many_clients_one_after_the_other(void)
{
    int i;

    if (!start("2", "60")) {
        return;
    }
    for (i = 0; i < 60; i++) {
        int fd = client();

        (void)CHECK(echoes(fd, "again and again"));
        (void)close(fd);
    }
    (void)CHECK_EQ(ended(), 0);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        (void)fprintf(stderr, "usage: echo_test <path of the echo program>\n");
        return 2;
    }
    program = argv[1];
    (void)alarm(120u);
    RUN(serves_refuses_and_serves_again);
    RUN(keeps_order_through_full_rings);
    RUN(signal_ends_it_with_a_client_connected);
    RUN(many_clients_one_after_the_other);
    if (server > 0) {
        (void)kill(server, SIGKILL);
    }
    return check_sum();
}
