/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The POSIX port's way to standard error where it is a console, whose driver takes a line in the
   time that its bytes need. Included by port_posix.c only. */
#ifndef CREW_LOG_POSIX_H
#define CREW_LOG_POSIX_H

#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

/* The bytes that were written, or -1. */
static ssize_t log_write(struct iovec *parts, int count)
{
    return writev(STDERR_FILENO, parts, count);
}

#endif
