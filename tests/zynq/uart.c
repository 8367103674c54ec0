/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The console on the second UART, and what newlib's stdio asks of a system. A board's boot loader
 * has set the speed.
 */
#include "machine.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/types.h>

#define UART1 0xE0001000u
/* Registers, in words. */
#define CONTROL 0x00u
#define STATUS 0x0Bu
#define FIFO 0x0Cu
#define CONTROL_RX_TX_ENABLE 0x14u
#define STATUS_TX_FULL 0x10u

/* newlib has no header for these. */
int _write(int file, const char *bytes, int count);
int _read(int file, char *bytes, int count);
int _close(int file);
int _fstat(int file, struct stat *status);
int _isatty(int file);
off_t _lseek(int file, off_t offset, int whence);
void *_sbrk(ptrdiff_t bytes);

void uart_write(const char *bytes, size_t count)
{
    volatile uint32_t *uart = (volatile uint32_t *)UART1;
    size_t i;

    uart[CONTROL] = CONTROL_RX_TX_ENABLE;
    for (i = 0; i < count; i++) {
        while ((uart[STATUS] & STATUS_TX_FULL) != 0u) {
        }
        uart[FIFO] = (uint8_t)bytes[i];
    }
}

int _write(int file, const char *bytes, int count)
{
    (void)file;
    uart_write(bytes, (size_t)count);
    return count;
}

int _read(int file, char *bytes, int count)
{
    (void)file;
    (void)bytes;
    (void)count;
    return 0;
}

int _close(int file)
{
    (void)file;
    return 0;
}

int _fstat(int file, struct stat *status)
{
    (void)file;
    status->st_mode = S_IFCHR;
    return 0;
}

int _isatty(int file)
{
    (void)file;
    return 1;
}

off_t _lseek(int file, off_t offset, int whence)
{
    (void)file;
    (void)offset;
    (void)whence;
    return 0;
}

/* Only stdio asks, for its buffers. */
void *_sbrk(ptrdiff_t bytes)
{
    extern char __heap_start[];
    extern char __heap_end[];
    static char *top = __heap_start;
    char *was = top;

    if (bytes > __heap_end - top) {
        errno = ENOMEM;
        return (void *)-1;
    }
    top += bytes;
    return was;
}
