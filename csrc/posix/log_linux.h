/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The POSIX port's way to standard error on Linux, without waiting for the other end: a pipe's
 * reader that has stopped reading, a terminal that is held. Standard error's own flags are shared
 * with other processes and stay as they are. So a pipe or a terminal is opened once more, for this
 * line only, since a program may put something else in its place at any time. Included by
 * port_posix.c only.
 */
#ifndef CREW_LOG_LINUX_H
#define CREW_LOG_LINUX_H

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

/* Where standard error cannot be opened again: another user's, or no /proc. Another writer may take
   the room between the two calls. */
static ssize_t log_write_if_ready(const struct iovec *parts, int count)
{
    struct pollfd ready = { STDERR_FILENO, POLLOUT, 0 };

    return poll(&ready, 1, 0) == 1 && (ready.revents & POLLOUT) != 0
               ? writev(STDERR_FILENO, parts, count)
               : -1;
}

static ssize_t log_write_opened_again(const struct iovec *parts, int count)
{
    const int again = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    ssize_t written;

    if (again < 0) {
        return log_write_if_ready(parts, count);
    }
    written = writev(again, parts, count);
    (void)close(again);
    return written;
}

/* The bytes that were written, or -1. Cancellation is off. */
static ssize_t log_write(struct iovec *parts, int count)
{
    struct stat what;
    struct msghdr message;

    if (fstat(STDERR_FILENO, &what) != 0) {
        return -1;
    }
    if (S_ISSOCK(what.st_mode)) {
        memset(&message, 0, sizeof(message));
        message.msg_iov = parts;
        message.msg_iovlen = (size_t)count;
        return sendmsg(STDERR_FILENO, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    if (S_ISFIFO(what.st_mode) || S_ISCHR(what.st_mode)) {
        return log_write_opened_again(parts, count);
    }
    /* A file. Opened once more it would have another place to write to. */
    return writev(STDERR_FILENO, parts, count);
}

#endif
