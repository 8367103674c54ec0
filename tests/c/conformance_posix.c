/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "conformance.h"
#include "crew_port_posix.h"
#include "host_main.h"

int main(void)
{
    host_guard();
    return crew_conformance(crew_port_posix(), host_print, NULL) == 0 ? 0 : 1;
}
