/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The agreement of owner and asker. */
#ifndef FLEET_H
#define FLEET_H

/* The key under which pools of scanning threads are published. */
#define FLEET_KEY "scan"

/*
 * A request is "<lease> <points>", its answer "<lease> done <sum> <thread>", "<lease> died",
 * "<lease> failed", or "<lease> refused: <why>". Both fit into so many characters.
 */
#define FLEET_TEXT_BYTES 160

#endif
