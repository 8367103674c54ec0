/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Not Wind River's: only what Crew uses of it, written from the public documentation of VxWorks 7, to compile on Linux. */
#ifndef DECLARED_VXWORKS_H
#define DECLARED_VXWORKS_H

#define OK 0
#define ERROR (-1)
#define NO_WAIT 0

typedef int STATUS;
typedef unsigned int _Vx_ticks_t;

#endif
