/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* RTEMS: base looks for a network file system unless the image has files of its own. This is none,
 * in that form. */
#include <stddef.h>

#include <epicsMemFs.h>

static const epicsMemFile *const files[] = {NULL};
static const epicsMemFS image = {files};

const epicsMemFS *epicsRtemsFSImage = &image;
