/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The job that throws. */
#include "stress.h"

extern "C" int32_t job_throws(void *argument)
{
    token *job = static_cast<token *>(argument);

    (void)__atomic_add_fetch(&job->begun, 1u, __ATOMIC_ACQ_REL);
    throw job->id;
}
