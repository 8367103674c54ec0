/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The stand-ins for three functions of libCom: epicsThreadCreateOpt, epicsThreadMustJoin, epicsSocketAccept. They ask
 * crewCas.h what to do. How they come in front of libCom's own, in each of the two builds: crewLibCom.h.
 */
#ifndef CREW_INTERPOSE_H
#define CREW_INTERPOSE_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Does nothing, but must be called by the code that turns the drop-in on: a static image then has the stand-ins, for a
 * linker takes an object out of a library only if something that it has taken already names a symbol of it.
 */
void crewInterposeLink(void);

#ifdef __cplusplus
}
#endif

#endif
