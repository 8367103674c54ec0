/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef CREW_REGISTRAR_H
#define CREW_REGISTRAR_H

#ifdef __cplusplus
extern "C" {
#endif

/* Registers Crew's commands. EPICS calls it for crew.dbd's registrar(); any number of times, one
 * thread. */
void crewRegistrar(void);

#ifdef __cplusplus
}
#endif

#endif
