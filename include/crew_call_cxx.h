/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * For images with C++ jobs: a job that throws has failed, and its worker lives on. Without it an
 * exception that leaves a job ends the process (std::terminate). Select it once, before crew_boot,
 * for example with crew_port_posix_use_caller(crew_call_cxx). Needs the C++ runtime at link time;
 * images without it are not affected.
 */
#ifndef CREW_CALL_CXX_H
#define CREW_CALL_CXX_H

#include "crew.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A crew_caller (crew_worker.h). An exception of any type, foreign ones included, gives
 * CREW_JOB_FAILED and 0; it is destroyed here. The unwinding that pthread_exit and cancellation
 * start is passed on, so destructors on the job's stack run and the thread ends.
 */
void crew_call_cxx(const crew_work *work, int32_t *outcome, int32_t *value);

#ifdef __cplusplus
}
#endif

#endif
