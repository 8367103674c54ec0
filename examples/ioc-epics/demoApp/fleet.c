/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "iocMain.h"

const char *const iocName = "fleet";
