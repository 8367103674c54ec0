# SPDX-License-Identifier: MIT OR Apache-2.0
# An IOC's startup script with Crew. The numbers can be set in the environment: SETS=10 make ioc-shell
on error break

crewBudget $(BUDGET=160)
# stack bytes of a CA client's two threads; 0: what the CA server asks for
var crewCasClientStack $(CLIENT_STACK=0)
var crewCasEventStack $(EVENT_STACK=0)
# CA server: sets, at most per client host, wait for a returning set in ms. A display host has one
# client per program that it runs: its limit leaves room for many, and half of the sets to others.
crewCasPool $(SETS=40) $(PERHOST=20) $(WAITMS=100) $(PRESTART=0)
# a client that is silent is asked after 30 s, three times, 5 s apart; then its set comes back
crewCasKeepalive $(KEEPALIVE=30 5 3)
# a driver's pool: capacity, prestart, keep. After crewSeal it lends what it keeps, so that is all.
crewPoolOpen stream "conn:big:20 reader:small:18 writer:small:18" 8 0 8

dbLoadRecords "demo.db", "P=$(P=demo:)"
iocInit

# from here on, no growth
$(SEAL=)crewSeal
crewShow 1
