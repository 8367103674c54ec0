/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Names that rustc's thread sanitizer calls and GCC's run-time library has under their plain ones,
 * which it intercepts.
 */
#include <string.h>

void *__tsan_memcpy(void *to, const void *from, size_t size);
void *__tsan_memset(void *to, int byte, size_t size);
void *__tsan_memmove(void *to, const void *from, size_t size);

void *__tsan_memcpy(void *to, const void *from, size_t size)
{
    return memcpy(to, from, size);
}

void *__tsan_memset(void *to, int byte, size_t size)
{
    return memset(to, byte, size);
}

void *__tsan_memmove(void *to, const void *from, size_t size)
{
    return memmove(to, from, size);
}
