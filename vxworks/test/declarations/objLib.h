/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Not Wind River's: see vxWorks.h here. The numbers are the shim's. */
#ifndef DECLARED_OBJLIB_H
#define DECLARED_OBJLIB_H

#define OM_CREATE 0x01
#define OM_EXCL 0x02
#define OM_DELETE_ON_LAST_CLOSE 0x04

#define S_objLib_OBJ_NOT_FOUND 4001

#endif
