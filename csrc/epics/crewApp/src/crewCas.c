/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "crewCas.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <epicsAtomic.h>
#include <epicsMutex.h>
#include <epicsStdio.h>
#include <epicsTime.h>

#include <epicsExport.h>

#include "crewCasCheck.h"
#include "crewCasSocket.h"
#include "crewLibCom.h"
#include "crewLog.h"
#include "crewPortEpics.h"
#include "crewText.h"

#define POOL_NAME CREW_CAS_POOL_NAME
#define CLIENT_NAME "CAS-client"
#define EVENT_NAME "CAS-event"
#define ACCEPTOR_NAME "CAS-TCP"

enum { CLIENT, EVENT, ROLES }; /* positions in the roster */

#define ACCEPTORS 16u          /* rsrv has one accepting thread per interface */
#define JOIN_SLICE_MS 1000u
#define ADDRESS_BYTES 32u

#define LINE 16u          /* connections that wait for a set, at most */
#define LINE_PER_HOST 8u  /* of these, at most so many of one host */
#define LOOK_MS 2u        /* between two looks at them; an accept comes between */
#define RETRY_MS 20u      /* between two tries that the pool refuses: it counts each */

/* A connection that waits for a set. */
typedef struct waiter {
    SOCKET connection;
    struct sockaddr_in peer;
    uint64_t untilMs; /* then it is tried for the last time */
    uint64_t againMs; /* not tried before: the pool has just refused it */
} waiter;

/* An accepting thread's own state. Only that thread touches all but `thread`. */
typedef struct acceptor {
    EpicsAtomicPtrT thread; /* NULL: free */
    /* Between accept and the two creations. */
    enum { NOTHING, SET, SET_WITH_EVENT } holds;
    crew_lease lease; /* SET_WITH_EVENT: the thread that joins CAS-event gives it back */
    struct sockaddr_in peer;
    SOCKET connection;
    /* Those that wait, the longest first. One more than may stay: the newest is tried once. */
    waiter line[LINE + 1u];
    unsigned inLine;
    uint64_t againMs; /* the pool is not asked before: it has just refused, and not for a host */
} acceptor;

/* A member's present job. Written before crew_run by the thread that has leased the member's
 * set. */
typedef struct cell {
    EPICSTHREADFUNC function;
    void *parameter;
    unsigned priority;
    struct sockaddr_in peer;
    EpicsAtomicPtrT member; /* the member's id while the job runs, else NULL */
    uint32_t role;
    SOCKET connection; /* the client's; rsrv closes it after the join */
    crew_job job;      /* CAS-event only, as are the next two */
    crew_lease lease;  /* given back after the join: until then the member has no other job */
    int toBeJoined;    /* 1: `job` has not been joined; the thread that sets this to 0 joins it */
} cell;

int crewCasClientStack = 0;
epicsExportAddress(int, crewCasClientStack);
int crewCasEventStack = 0;
epicsExportAddress(int, crewCasEventStack);

static crewCasKeepalive keepalive = {30, 5, 3};

static int on; /* set last in crewCasOpen; everything below is ready then */
static crew_pool casPool;
static crewCasConfig configured;
static cell *cells; /* by worker number */
static acceptor acceptors[ACCEPTORS];

static size_t admitted;
static size_t unused;    /* reservations given back because rsrv gave the connection up */
static size_t fallbacks; /* clients that got real threads */
static size_t refusals;
static size_t leavers; /* connections that the client gave up while they waited */
static int waiting;    /* connections in line, of all acceptors */
static int firstWorker = -1; /* the worker number of the pool's first member; -1: not known yet */

static epicsMutexId lastLock;
static struct {
    struct sockaddr_in peer;
    uint64_t atMs; /* 0: none was refused yet */
    char reason[CREW_SENTENCE_BYTES];
} last;

static uint64_t nowMs(void)
{
    return epicsMonotonicGet() / 1000000u;
}

static void addressText(const struct sockaddr_in *peer, char *text)
{
    (void)ipAddrToDottedIP(peer, text, ADDRESS_BYTES);
}

/* ---- opening ---- */

static crew_role roleOf(const char *name, int stackSetting, epicsThreadStackSizeClass stackClass,
                        unsigned priority)
{
    crew_role role;

    role.name = name;
    role.stack_bytes = stackSetting > 0 ? (uint32_t)stackSetting
                                        : epicsThreadGetStackSize(stackClass);
    role.priority = priority;
    return role;
}

/* An earlier try's table and lock are kept. */
static int prepare(void)
{
    if (cells == NULL) {
        cells = calloc(CREW_MAX_WORKERS, sizeof *cells);
    }
    if (lastLock == NULL) {
        lastLock = epicsMutexCreate();
    }
    return cells != NULL && lastLock != NULL ? crewCasCheckInit() : -1;
}

int32_t crewCasOpen(const crewCasConfig *config, crew_pool *pool, crew_pool_options *opened)
{
    static crew_role roles[ROLES];
    crew_pool_options options = CREW_POOL_OPTIONS_INIT;
    unsigned eventPriority = epicsThreadPriorityCAServerLow;
    int32_t status;

    if (crewCasIsOn()) {
        return CREW_ALREADY_BOOTED;
    }
    if (prepare() != 0) {
        return CREW_TABLE_FULL;
    }
    /* As rsrv does: the event thread one level below its client. */
    (void)epicsThreadHighestPriorityLevelBelow(epicsThreadPriorityCAServerLow, &eventPriority);
    roles[CLIENT] = roleOf(CLIENT_NAME, crewCasClientStack, epicsThreadStackBig,
                           epicsThreadPriorityCAServerLow);
    roles[EVENT] = roleOf(EVENT_NAME, crewCasEventStack, epicsThreadStackMedium, eventPriority);

    configured = *config;
    options.flags = CREW_POOL_ROLE_NAMES;
    options.name = POOL_NAME;
    options.roles = roles;
    options.role_count = ROLES;
    options.capacity = config->capacity;
    options.prestart = config->prestart;
    options.keep = config->capacity; /* no other pool takes them, and crewSeal makes all of them */
    options.per_peer = config->perHost;
    *opened = options;
    status = crew_pool_open(&options, &casPool);
    if (status != CREW_OK) {
        return status;
    }
    *pool = casPool;
    epicsAtomicSetIntT(&on, 1);
    crewCasCheckArm();
    return CREW_OK;
}

int crewCasKeepaliveSet(unsigned idleS, unsigned intervalS, unsigned count)
{
    if (!crewCasHasKeepalive()) {
        return -1;
    }
    keepalive.idleS = idleS;
    keepalive.intervalS = intervalS;
    keepalive.count = count;
    return 0;
}

int crewCasIsOn(void)
{
    return epicsAtomicGetIntT(&on);
}

/* ---- accept ---- */

static acceptor *ownAcceptor(epicsThreadId self)
{
    unsigned i;

    for (i = 0; i < ACCEPTORS; i++) {
        if (epicsAtomicGetPtrT(&acceptors[i].thread) == (EpicsAtomicPtrT)self) {
            return &acceptors[i];
        }
    }
    return NULL;
}

static int acceptorsAreAllUsed(void)
{
    unsigned i;

    for (i = 0; i < ACCEPTORS; i++) {
        if (epicsAtomicGetPtrT(&acceptors[i].thread) == NULL) {
            return 0;
        }
    }
    return 1;
}

/* The caller's entry, made at its first accept. NULL: not an accepting thread of the CA server. */
static acceptor *ownOrNewAcceptor(SOCKET listener)
{
    epicsThreadId self = epicsThreadGetIdSelf();
    acceptor *own = ownAcceptor(self);
    unsigned i;

    if (own != NULL || strcmp(epicsThreadGetNameSelf(), ACCEPTOR_NAME) != 0) {
        return own;
    }
    for (i = 0; i < ACCEPTORS; i++) {
        if (epicsAtomicCmpAndSwapPtrT(&acceptors[i].thread, NULL, self) == NULL) {
            crewCasAcceptPrepare(listener);
            return &acceptors[i];
        }
    }
    crewLog(errlogMajor,
            "the CA server listens on more than %u interfaces: clients of the others get threads "
            "of their own",
            ACCEPTORS);
    return NULL;
}

static void giveBack(acceptor *own)
{
    if (own->holds == SET) {
        (void)crew_release(own->lease); /* CREW_RETIRED: the set died meanwhile, nothing is held */
    }
    own->holds = NOTHING;
}

static void tellRefusal(const struct sockaddr_in *peer, const crew_refusal *refusal)
{
    char address[ADDRESS_BYTES];
    char reason[CREW_SENTENCE_BYTES];

    addressText(peer, address);
    crewRefusalText(refusal, POOL_NAME, reason, sizeof reason);
    epicsMutexMustLock(lastLock);
    last.peer = *peer;
    last.atMs = nowMs();
    memcpy(last.reason, reason, sizeof last.reason);
    epicsMutexUnlock(lastLock);
    crewLog(errlogMinor, "CA client %s refused: %s", address, reason);
}

/* A full pool may be full of suspended members. Asking for its usage counts and tells them; once a
 * second is enough. */
static void lookForSuspended(void)
{
    static size_t lookedS;
    const size_t nowS = (size_t)(nowMs() / 1000u);
    const size_t before = epicsAtomicGetSizeT(&lookedS);

    if (nowS != before && epicsAtomicCmpAndSwapSizeT(&lookedS, before, nowS) == before) {
        crew_usage usage = CREW_USAGE_INIT;

        (void)crew_pool_usage(casPool, &usage);
    }
}

static void refuse(const waiter *who, const crew_refusal *refusal)
{
    crewCasReset(who->connection);
    (void)epicsAtomicIncrSizeT(&refusals);
    lookForSuspended();
    tellRefusal(&who->peer, refusal);
}

/* ---- the line of those that wait ---- */

enum { BELOW, COMING, FULL };

/*
 * Whether a host is at its limit, and if so, whether a set of its own is known to be coming back:
 * its client has closed the connection, or is being taken down.
 */
static int hostState(const struct sockaddr_in *peer)
{
    unsigned held = 0;
    unsigned connected = 0;
    unsigned worker;

    for (worker = 0; configured.perHost > 0 && worker < CREW_MAX_WORKERS; worker++) {
        cell *its = &cells[worker];
        epicsThreadId id = epicsAtomicGetPtrT(&its->member);

        /* A job whose thread has ended left its cell as it was. */
        if (id == NULL || its->peer.sin_addr.s_addr != peer->sin_addr.s_addr ||
            crewPortEpicsWorker(id) != (int32_t)worker) {
            continue;
        }
        if (its->role == CLIENT) {
            held++;
        } else if (epicsAtomicGetIntT(&its->toBeJoined) && !crewCasHasEnded(its->connection)) {
            connected++;
        }
    }
    if (configured.perHost == 0 || (held < configured.perHost && connected < configured.perHost)) {
        return BELOW;
    }
    return connected < configured.perHost ? COMING : FULL;
}

/*
 * Whether clients run on all sets, by the drop-in's own cells: the pool's figures would cost a look
 * at each thread's stack.
 */
static int isFull(void)
{
    unsigned held = 0;
    unsigned worker;

    for (worker = 0; worker < CREW_MAX_WORKERS; worker++) {
        epicsThreadId id = epicsAtomicGetPtrT(&cells[worker].member);

        held += id != NULL && cells[worker].role == CLIENT &&
                crewPortEpicsWorker(id) == (int32_t)worker;
    }
    return held >= configured.capacity;
}

static void enterLine(acceptor *own, SOCKET connection, const struct sockaddr_in *peer)
{
    waiter *who = &own->line[own->inLine++];

    who->connection = connection;
    who->peer = *peer;
    who->untilMs = nowMs() + configured.waitMs;
    who->againMs = 0;
    (void)epicsAtomicIncrIntT(&waiting);
}

static waiter leaveLine(acceptor *own, unsigned position)
{
    const waiter who = own->line[position];

    own->inLine--;
    memmove(&own->line[position], &own->line[position + 1u],
            (own->inLine - position) * sizeof own->line[0]);
    (void)epicsAtomicDecrIntT(&waiting);
    return who;
}

/* Asks the pool for a set. 1: the connection may go on to rsrv, with a set or, when there is no
 * telling, as it would without Crew. */
static int admit(acceptor *own, const waiter *who, crew_refusal *refusal)
{
    /* A peer key is not 0. */
    const uint64_t host = (UINT64_C(1) << 32) | ntohl(who->peer.sin_addr.s_addr);
    const int32_t status = crew_acquire_peer(casPool, host, 0, &own->lease, refusal);

    if (status == CREW_OK) {
        crewCasSetKeepalive(who->connection, &keepalive);
        own->holds = SET;
        own->peer = who->peer;
        own->connection = who->connection;
        (void)epicsAtomicIncrSizeT(&admitted);
        return 1;
    }
    if (refusal->kind == status) {
        return 0;
    }
    crewLog(errlogMajor, "the CAS pool answers \"%s\": CA clients get threads of their own",
            crew_status_text(status));
    return 1;
}

/*
 * Looks after those that wait, first come first served: the first that may go on to rsrv leaves the
 * line, and its connection and address are the answer. INVALID_SOCKET: none may. The pool is asked
 * only where it can be expected to give, and for the last time when the waiter's time has come: it
 * counts each refusal.
 */
static SOCKET look(acceptor *own, struct sockaddr *address, osiSocklen_t *length)
{
    const uint64_t now = nowMs();
    unsigned i = 0;
    int hope;

    if (own->inLine == 0) {
        return INVALID_SOCKET;
    }
    hope = now >= own->againMs && !isFull();
    while (i < own->inLine) {
        waiter *who = &own->line[i];
        const int isLast = now >= who->untilMs;
        const int state = hostState(&who->peer);
        crew_refusal refusal = CREW_REFUSAL_INIT;

        if (!isLast && crewCasHasEnded(who->connection)) {
            crewCasReset(leaveLine(own, i).connection);
            (void)epicsAtomicIncrSizeT(&leavers);
        } else if (!isLast &&
                   (state == COMING || now < who->againMs || (state == BELOW && !hope))) {
            i++;
        } else if (admit(own, who, &refusal)) {
            const waiter served = leaveLine(own, i);

            memcpy(address, &served.peer, sizeof served.peer);
            *length = sizeof served.peer;
            return served.connection;
        } else if (isLast || state == FULL || refusal.kind == CREW_REFUSED_SHUTTING_DOWN) {
            const waiter refused = leaveLine(own, i);

            refuse(&refused, &refusal);
        } else {
            who->againMs = now + RETRY_MS;
            if (refusal.kind != CREW_REFUSED_PEER_LIMIT) {
                hope = 0; /* the others would hear the same */
                own->againMs = now + RETRY_MS;
            }
            i++;
        }
    }
    return INVALID_SOCKET;
}

/* Refuses the newest when the line is too long with it. */
static void shortenLine(acceptor *own)
{
    crew_refusal refusal = CREW_REFUSAL_INIT;
    unsigned ofHost = 0;
    unsigned i;

    for (i = 0; i < own->inLine; i++) {
        ofHost += own->line[i].peer.sin_addr.s_addr ==
                  own->line[own->inLine - 1u].peer.sin_addr.s_addr;
    }
    if (own->inLine > LINE || ofHost > LINE_PER_HOST) {
        const waiter newest = leaveLine(own, own->inLine - 1u);

        refusal.kind = CREW_REFUSED_TOO_MANY_WAITERS;
        refusal.capacity = own->inLine == LINE ? LINE : LINE_PER_HOST;
        refuse(&newest, &refusal);
    }
}

/* The next look is the last for all that wait. */
static void endWaiting(acceptor *own)
{
    unsigned i;

    for (i = 0; i < own->inLine; i++) {
        own->line[i].untilMs = 0;
    }
}

SOCKET crewCasAccept(SOCKET listener, struct sockaddr *address, osiSocklen_t *length)
{
    acceptor *own = crewCasIsOn() ? ownOrNewAcceptor(listener) : NULL;
    osiSocklen_t room;

    if (own == NULL) {
        return crewRealSocketAccept(listener, address, length);
    }
    crewCasCheckSawAccept();
    if (own->holds != NOTHING) {
        (void)epicsAtomicIncrSizeT(&unused);
        giveBack(own);
    }
    room = *length;
    for (;;) {
        SOCKET made = look(own, address, length);
        int none;

        if (made != INVALID_SOCKET) {
            return made;
        }
        shortenLine(own);
        *length = room;
        made = own->inLine > 0
                   ? crewCasAcceptWithin(listener, LOOK_MS, address, length, &none)
                   : crewCasAcceptOne(listener, address, length, &none);
        if (none) {
            continue;
        }
        if (made == INVALID_SOCKET && own->inLine > 0) {
            endWaiting(own); /* no more files perhaps: theirs come free */
            continue;
        }
        if (made == INVALID_SOCKET || address->sa_family != AF_INET ||
            *length < sizeof(struct sockaddr_in)) {
            return made; /* rsrv has its own answer to these */
        }
        enterLine(own, made, (const struct sockaddr_in *)(const void *)address);
    }
}

/* ---- create ---- */

static void forgetRsrvClient(void)
{
    epicsThreadPrivateId client = crewLibComRsrvClient();

    if (client != NULL && epicsThreadPrivateGet(client) != NULL) {
        epicsThreadPrivateSet(client, NULL); /* rsrv leaves it pointing at freed memory */
    }
}

/* The job: rsrv's thread function, on a member. */
static int32_t runThread(void *argument)
{
    cell *own = argument;
    epicsThreadId self = epicsThreadGetIdSelf();

    if (epicsThreadGetPriority(self) != own->priority) {
        epicsThreadSetPriority(self, own->priority);
    }
    forgetRsrvClient();
    own->function(own->parameter);
    forgetRsrvClient();
    epicsAtomicSetPtrT(&own->member, NULL);
    return 0;
}

/* A CAS-client that died has not joined its CAS-event. The result would stay, and with the next one
 * take both places that the member has for results. */
static void forgetLeftJob(cell *its)
{
    if (epicsAtomicCmpAndSwapIntT(&its->toBeJoined, 1, 0) == 1) {
        (void)crew_join(its->job, 0, NULL); /* its set has been lent anew, so it has ended */
    }
}

/* The lowest idle set is always the one that is lent: the first to be lent is the pool's first. */
static void noteFirstWorker(int worker)
{
    int first = epicsAtomicGetIntT(&firstWorker);

    while (first < 0 || worker < first) {
        first = epicsAtomicCmpAndSwapIntT(&firstWorker, first, worker) == first
                    ? worker
                    : epicsAtomicGetIntT(&firstWorker);
    }
}

/* Gives the thread to the member of that role. NULL: the member has died. */
static epicsThreadId runOnMember(acceptor *own, uint32_t role, const char *name,
                                 EPICSTHREADFUNC function, void *parameter, unsigned priority)
{
    uintptr_t thread;
    epicsThreadId id;
    cell *its;
    crew_job job;

    if (crew_lease_thread(own->lease, role, &thread) != CREW_OK) {
        return NULL;
    }
    id = crewPortEpicsId(thread);
    if (id == NULL) {
        return NULL;
    }
    noteFirstWorker((int)(crewPortEpicsHandleWorker(thread) - role));
    its = &cells[crewPortEpicsHandleWorker(thread)];
    forgetLeftJob(its);
    its->function = function;
    its->parameter = parameter;
    its->priority = priority;
    its->peer = own->peer;
    its->role = role;
    its->connection = own->connection;
    epicsAtomicSetPtrT(&its->member, id);
    if (crew_run(own->lease, role, name, runThread, its, role == EVENT ? &job : NULL) != CREW_OK) {
        epicsAtomicSetPtrT(&its->member, NULL);
        return NULL;
    }
    if (role == EVENT) {
        its->job = job;
        its->lease = own->lease;
        epicsAtomicSetIntT(&its->toBeJoined, 1);
    }
    own->holds = role == EVENT ? SET_WITH_EVENT : NOTHING;
    return id;
}

epicsThreadId crewCasCreate(const char *name, EPICSTHREADFUNC function, void *parameter,
                            const epicsThreadOpts *options)
{
    const int joinable = options != NULL && options->joinable;
    uint32_t role = ROLES;
    acceptor *own;
    epicsThreadId id;

    if (name != NULL && joinable && strcmp(name, EVENT_NAME) == 0) {
        role = EVENT;
    } else if (name != NULL && options != NULL && !joinable && strcmp(name, CLIENT_NAME) == 0) {
        role = CLIENT;
    } else if (name != NULL) {
        crewCasCheckSawThread(name);
    }
    if (role == ROLES || !crewCasIsOn()) {
        return crewRealThreadCreateOpt(name, function, parameter, options);
    }
    own = ownAcceptor(epicsThreadGetIdSelf());
    if (own == NULL && strcmp(epicsThreadGetNameSelf(), ACCEPTOR_NAME) == 0) {
        if (!acceptorsAreAllUsed()) {
            crewCasCheckSawClientWithoutAccept();
        } else if (role == EVENT) {
            (void)epicsAtomicIncrSizeT(&fallbacks); /* it is an interface too many, and was told */
        }
    }
    if (own == NULL || own->holds != (role == EVENT ? SET : SET_WITH_EVENT)) {
        return crewRealThreadCreateOpt(name, function, parameter, options);
    }
    id = runOnMember(own, role, name, function, parameter, options->priority);
    if (id == NULL) {
        giveBack(own);
        (void)epicsAtomicIncrSizeT(&fallbacks);
        crewLog(errlogMinor,
                "a member of the CAS pool has died: this CA client gets threads of its own");
        id = crewRealThreadCreateOpt(name, function, parameter, options);
    }
    return id;
}

/* ---- join ---- */

void crewCasJoin(epicsThreadId id)
{
    const int32_t worker = crewCasIsOn() && id != NULL ? crewPortEpicsWorker(id) : -1;
    crew_job job;
    crew_lease lease;

    if (worker < 0) {
        crewRealThreadMustJoin(id);
        return;
    }
    job = cells[worker].job;
    lease = cells[worker].lease;
    if (epicsAtomicCmpAndSwapIntT(&cells[worker].toBeJoined, 1, 0) != 1) {
        /* libCom would suspend the caller for ever. The member's own end is joined by the pool. */
        crewLog(errlogMajor, "epicsThreadMustJoin of a pooled thread that nobody has to join");
        return;
    }
    while (crew_join(job, JOIN_SLICE_MS, NULL) == CREW_TIMED_OUT) {
        /* the caller waits for the end of this job, however long that takes, as it would for a
         * thread's */
    }
    (void)crew_release(lease);
}

/* ---- report ---- */

static void printLastRefusal(void)
{
    char address[ADDRESS_BYTES];
    char reason[CREW_SENTENCE_BYTES];
    struct sockaddr_in peer;
    uint64_t atMs;

    epicsMutexMustLock(lastLock);
    atMs = last.atMs;
    peer = last.peer;
    memcpy(reason, last.reason, sizeof reason);
    epicsMutexUnlock(lastLock);
    if (atMs != 0) {
        addressText(&peer, address);
        epicsStdoutPrintf("  last refusal: %s, %.0f s ago: %s\n", address,
                          (double)(nowMs() - atMs) / 1000.0, reason);
    }
}

/* The job of that member of the pool's set; NULL: it has none. */
static const cell *jobOf(unsigned set, unsigned role, epicsThreadId *id)
{
    const int first = epicsAtomicGetIntT(&firstWorker);
    const unsigned worker = (unsigned)first + set * ROLES + role;

    if (first < 0 || worker >= CREW_MAX_WORKERS) {
        return NULL;
    }
    *id = epicsAtomicGetPtrT(&cells[worker].member);
    /* A job whose thread has ended left its cell as it was. */
    return *id != NULL && crewPortEpicsWorker(*id) == (int32_t)worker ? &cells[worker] : NULL;
}

int crewCasReportLine(const char *line)
{
    char state[CREW_SENTENCE_BYTES];
    char address[ADDRESS_BYTES];
    char threads[2][48] = {"", ""};
    static const char *const names[ROLES] = {CLIENT_NAME, EVENT_NAME};
    const cell *any = NULL;
    unsigned long long key;
    struct sockaddr_in peer;
    unsigned set;
    unsigned age;
    unsigned role;

    if (strncmp(line, "    ", 4) == 0) {
        return 1; /* what a member runs is in its set's line */
    }
    if (sscanf(line, "  set %u: %100[^0-9]%u s, peer %llx", &set, state, &age, &key) != 4) {
        return 0;
    }
    for (role = 0; role < ROLES; role++) {
        epicsThreadId id;
        const cell *its = jobOf(set, role, &id);

        if (its != NULL) {
            (void)epicsSnprintf(threads[role], sizeof threads[role], " %s %p", names[role],
                                (void *)id);
            any = its;
        }
    }
    if (any != NULL) {
        addressText(&any->peer, address);
    } else {
        memset(&peer, 0, sizeof peer);
        peer.sin_family = AF_INET;
        peer.sin_addr.s_addr = htonl((epicsUInt32)key);
        addressText(&peer, address);
        *strchr(address, ':') = '\0'; /* only the host is known */
    }
    epicsStdoutPrintf("  set %u: %s%u s, for %s%s%s%s\n", set, state, age, address,
                      any != NULL ? "," : "", threads[CLIENT], threads[EVENT]);
    return 1;
}

void crewCasReport(unsigned level)
{
    if (!crewCasIsOn()) {
        if (level > 0) {
            epicsStdoutPrintf("CA server: not pooled (no crewCasPool), each client gets threads "
                              "of its own\n");
        }
        return;
    }
    if (level == 0) {
        return;
    }
    epicsStdoutPrintf("CA server on pool %s: %u sets, per host ", POOL_NAME, configured.capacity);
    if (configured.perHost > 0) {
        epicsStdoutPrintf("%u", configured.perHost);
    } else {
        epicsStdoutPrintf("unlimited");
    }
    epicsStdoutPrintf(", a connection waits at most %u ms for one\n", configured.waitMs);
    epicsStdoutPrintf("  clients: %lu on sets, %lu on threads of their own, %lu refused, %lu left "
                      "while they waited (since boot); %d wait; %lu reservations not used\n",
                      (unsigned long)epicsAtomicGetSizeT(&admitted),
                      (unsigned long)epicsAtomicGetSizeT(&fallbacks),
                      (unsigned long)epicsAtomicGetSizeT(&refusals),
                      (unsigned long)epicsAtomicGetSizeT(&leavers),
                      epicsAtomicGetIntT(&waiting), (unsigned long)epicsAtomicGetSizeT(&unused));
    if (!crewCasHasKeepalive()) {
        epicsStdoutPrintf("  keepalive: the system's own\n");
    } else {
        epicsStdoutPrintf("  keepalive: a client that is silent for %u s is asked, at most %u "
                          "times, %u s apart, then cut off\n",
                          keepalive.idleS, keepalive.count, keepalive.intervalS);
    }
    printLastRefusal();
    crewCasCheckReport();
    if (acceptorsAreAllUsed()) {
        epicsStdoutPrintf("  of the server's interfaces %u are served; clients of any others get "
                          "threads of their own\n",
                          ACCEPTORS);
    }
}
