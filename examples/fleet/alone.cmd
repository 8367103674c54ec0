# SPDX-License-Identifier: MIT OR Apache-2.0
# Owner and asker in one IOC: what there is where processes do not share memory, on RTEMS for example.
on error break

epicsEnvSet IOC alone
epicsEnvSet EPICS_CAS_SERVER_PORT $(OWNER_PORT=5064)
epicsEnvSet EPICS_CA_ADDR_LIST 127.0.0.1:$(OWNER_PORT=5064)
epicsEnvSet EPICS_CA_AUTO_ADDR_LIST NO

crewBudget 64
crewFleetOpen $(FLEET=crew-example)
crewPoolOpen scan "scan:medium:40" 2 2 2
var crewFleetGraceMs $(GRACE=10000)

dbLoadRecords owner.db "P=owner:"
dbLoadRecords ownerChannel.db "P=owner:, C=a"
dbLoadRecords ownerChannel.db "P=owner:, C=b"
dbLoadRecords ownerChannel.db "P=owner:, C=c"
dbLoadRecords askerChannel.db "P=asker:, C=a, OWNER=owner:"
dbLoadRecords askerChannel.db "P=asker:, C=b, OWNER=owner:"
dbLoadRecords askerChannel.db "P=asker:, C=c, OWNER=owner:"
iocInit

crewFleetPublish scan scan
