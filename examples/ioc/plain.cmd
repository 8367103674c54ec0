# SPDX-License-Identifier: MIT OR Apache-2.0
# The same IOC without Crew: every CA client gets threads of its own.
on error break

dbLoadRecords "demo.db", "P=$(P=demo:)"
iocInit
