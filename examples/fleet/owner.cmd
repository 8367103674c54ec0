# SPDX-License-Identifier: MIT OR Apache-2.0
# The IOC that has the threads: it scans for each IOC that brings a lease.
on error break

epicsEnvSet IOC owner
epicsEnvSet EPICS_CAS_SERVER_PORT $(OWNER_PORT=5064)

crewBudget 64
# the table's name; every IOC of this machine that says the same one is in the fleet
crewFleetOpen $(FLEET=crew-example)
# two scans at a time, their threads made now and kept
crewPoolOpen scan "scan:medium:40" 2 2 2
# how long a lease that its asker does not bring keeps its unit
var crewFleetGraceMs $(GRACE=10000)

dbLoadRecords owner.db "P=owner:"
dbLoadRecords ownerChannel.db "P=owner:, C=a"
dbLoadRecords ownerChannel.db "P=owner:, C=b"
dbLoadRecords ownerChannel.db "P=owner:, C=c"
iocInit

# ready to serve: two units under the key "scan"
crewFleetPublish scan scan
crewFleetShow 1
