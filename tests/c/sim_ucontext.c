/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "port_sim.h"
#include "sim_context.h"

#include <errno.h>
#include <stdlib.h>
#include <ucontext.h>

static ucontext_t contexts[1 + PORT_SIM_THREADS];
static unsigned char stacks[PORT_SIM_THREADS][PORT_SIM_STACK_BYTES];

int32_t sim_context_make(size_t number, void (*entry)(void))
{
    ucontext_t *made = &contexts[number];

    if (getcontext(made) != 0) {
        return errno;
    }
    made->uc_stack.ss_sp = stacks[number - 1u];
    made->uc_stack.ss_size = PORT_SIM_STACK_BYTES;
    made->uc_link = NULL;
    makecontext(made, entry, 0);
    return 0;
}

void sim_context_switch(size_t from, size_t to)
{
    if (swapcontext(&contexts[from], &contexts[to]) != 0) {
        abort();
    }
}
