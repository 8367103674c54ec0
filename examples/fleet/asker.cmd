# SPDX-License-Identifier: MIT OR Apache-2.0
# The IOC that wants scans done. It has no threads for them.
on error break

epicsEnvSet IOC asker
epicsEnvSet EPICS_CAS_SERVER_PORT $(ASKER_PORT=5066)
# where the owner's PVs are
epicsEnvSet EPICS_CA_ADDR_LIST 127.0.0.1:$(OWNER_PORT=5064)
epicsEnvSet EPICS_CA_AUTO_ADDR_LIST NO

crewFleetOpen $(FLEET=crew-example)

dbLoadRecords askerChannel.db "P=asker:, C=a, OWNER=owner:"
dbLoadRecords askerChannel.db "P=asker:, C=b, OWNER=owner:"
dbLoadRecords askerChannel.db "P=asker:, C=c, OWNER=owner:"
iocInit
