#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Builds and starts the demonstration IOC and leaves you at its prompt. Its CA server listens on
# this machine only.
set -eu
cd "$(dirname "$0")/.."
ci/ioc-build.sh
export EPICS_CAS_INTF_ADDR_LIST="${EPICS_CAS_INTF_ADDR_LIST:-127.0.0.1}"
export EPICS_CAS_AUTO_BEACON_ADDR_LIST="${EPICS_CAS_AUTO_BEACON_ADDR_LIST:-NO}"
export EPICS_CAS_BEACON_ADDR_LIST="${EPICS_CAS_BEACON_ADDR_LIST:-127.0.0.1}"
cat <<'HELP'
Try: crewShow 2, help crewCasPool, casr 2, dbl, exit.
From another terminal: EPICS_CA_ADDR_LIST=127.0.0.1 EPICS_CA_AUTO_ADDR_LIST=NO build/ioc/caclient hold 3 demo:count
HELP
cd examples/ioc
exec ../../build/ioc/demo-ioc st.cmd
