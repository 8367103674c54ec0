/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "crew_call_cxx.h"

#include <cxxabi.h>

extern "C" void crew_call_cxx(const crew_work *work, int32_t *outcome, int32_t *value)
{
    try {
        *value = work->function(work->argument);
        *outcome = CREW_JOB_RETURNED;
    }
#ifdef __GLIBCXX__
    /* Only libstdc++ names the unwinding of a thread that ends; swallowing it would make glibc
       abort the process. */
    catch (abi::__forced_unwind &) {
        throw;
    }
#endif
    catch (...) {
        *value = 0;
        *outcome = CREW_JOB_FAILED;
    }
}
