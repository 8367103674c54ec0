/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Not Wind River's: the host's, with the numbers that VxWorks has for these flags. The shim translates them. */
#ifndef DECLARED_MMAN_H
#define DECLARED_MMAN_H

#include_next <sys/mman.h>

#undef MAP_PRIVATE
#undef MAP_ANONYMOUS
#define MAP_PRIVATE 0x0002
#define MAP_ANONYMOUS 0x0004

#endif
