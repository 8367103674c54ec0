/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The drop-in under a stand-in for the CA server: this program creates, joins and accepts as rsrv
 * does, from a thread called CAS-TCP, and looks at what it gets. One pool of two sets, 300 ms wait,
 * opened after the first test. With the argument "hosts": three sets, two for one host, and clients
 * of two hosts, which takes a system whose loopback interface has more than one address.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <epicsAtomic.h>
#include <epicsEvent.h>
#include <epicsExit.h>
#include <epicsThread.h>
#include <epicsTime.h>
#include <osiSock.h>

#include <crew.h>
#include <crewCas.h>
#include <crewShell.h>

#define WAIT_MS 300
#define HOSTS_WAIT_MS 2000
#define LONG_S 10.0

static int passed;
static int failed;
static const char *current;
static int currentFailed;

#define CHECK(condition) check((condition), #condition, __LINE__)

static void check(int right, const char *what, int line)
{
    if (!right && !currentFailed) {
        printf("FAILED %s: %s:%d: %s\n", current, __FILE__, line, what);
        currentFailed = 1;
    }
}

static void test(const char *name, void (*body)(void))
{
    current = name;
    currentFailed = 0;
    body();
    if (currentFailed) {
        failed++;
    } else {
        printf("ok %s\n", name);
        passed++;
    }
    (void)fflush(stdout);
}

/* ---- the stand-in ---- */

/* One client of the stand-in: what rsrv keeps in struct client and struct event_user. */
typedef struct client {
    epicsEventId leave;     /* the client disconnects */
    epicsEventId leaveEvent;
    epicsEventId gone;
    epicsThreadId event;
    epicsThreadId thread;
    unsigned seenPriority;
    unsigned setPriority;   /* the client's job changes to it; 0: it does not */
    int dies;               /* the client's job ends its thread */
    int suspends;           /* the client's job suspends its thread, as cantProceed does */
    epicsEventId mayEnd;    /* the event job ends no sooner; NULL: at once */
    SOCKET near;            /* its own end of the connection, with serveFrom */
    SOCKET far;             /* the server's */
    char seenName[16];
} client;

static SOCKET listener;
static unsigned short port;
static int threadExits; /* functions run by epicsAtThreadExit */
static int hookRuns;

static void onThreadExit(void *argument)
{
    (void)argument;
    (void)epicsAtomicIncrIntT(&threadExits);
}

static void onThreadStart(epicsThreadId id)
{
    char name[16];

    epicsThreadGetName(id, name, sizeof name);
    if (strcmp(name, "CAS-client") == 0) {
        (void)epicsAtomicIncrIntT(&hookRuns);
    }
}

static void eventTask(void *argument)
{
    client *own = argument;

    (void)epicsEventWaitWithTimeout(own->leaveEvent, LONG_S);
    if (own->mayEnd != NULL) {
        (void)epicsEventWaitWithTimeout(own->mayEnd, LONG_S);
    }
}

static void clientTask(void *argument)
{
    client *own = argument;

    own->seenPriority = epicsThreadGetPrioritySelf();
    epicsThreadGetName(epicsThreadGetIdSelf(), own->seenName, sizeof own->seenName);
    (void)epicsAtThreadExit(onThreadExit, NULL);
    if (own->setPriority > 0) {
        epicsThreadSetPriority(epicsThreadGetIdSelf(), own->setPriority);
    }
    (void)epicsEventWaitWithTimeout(own->leave, LONG_S);
    (void)epicsEventTrigger(own->leaveEvent);
    epicsThreadMustJoin(own->event);
    (void)epicsEventTrigger(own->gone);
    if (own->suspends) {
        epicsThreadSuspendSelf();
    }
    if (own->dies) {
        pthread_exit(NULL);
    }
}

static void makeClient(client *own)
{
    memset(own, 0, sizeof *own);
    own->leave = epicsEventMustCreate(epicsEventEmpty);
    own->leaveEvent = epicsEventMustCreate(epicsEventEmpty);
    own->gone = epicsEventMustCreate(epicsEventEmpty);
}

/* An order to the accepting thread, the only one that may hold reservations. */
enum { ACCEPT_ONLY, ACCEPT_AND_START, START };

static struct {
    epicsEventId go;
    epicsEventId done;
    int what;
    client *who;
    SOCKET accepted;
    struct sockaddr_in peer;
} acceptor;

static void startClient(client *own)
{
    epicsThreadOpts options = EPICS_THREAD_OPTS_INIT;

    options.priority = 19;
    options.joinable = 1;
    own->event = epicsThreadCreateOpt("CAS-event", eventTask, own, &options);
#ifdef CREW_WRAP
    /* In this program only its own calls are wrapped, and epicsThreadCreate calls within libCom. */
    options.priority = 20;
    options.joinable = 0;
    options.stackSize = epicsThreadStackBig;
    own->thread = epicsThreadCreateOpt("CAS-client", clientTask, own, &options);
#else
    own->thread = epicsThreadCreate("CAS-client", 20, epicsThreadGetStackSize(epicsThreadStackBig),
                                    clientTask, own);
#endif
}

static void acceptorTask(void *argument)
{
    (void)argument;
    for (;;) {
        osiSocklen_t length = sizeof acceptor.peer;

        epicsEventMustWait(acceptor.go);
        if (acceptor.what != START) {
            acceptor.accepted =
                epicsSocketAccept(listener, (struct sockaddr *)&acceptor.peer, &length);
        }
        if (acceptor.what != ACCEPT_ONLY) {
            startClient(acceptor.who);
        }
        epicsEventMustTrigger(acceptor.done);
    }
}

static void order(int what, client *who)
{
    acceptor.what = what;
    acceptor.who = who;
    epicsEventMustTrigger(acceptor.go);
}

static int carriedOut(double seconds)
{
    return epicsEventWaitWithTimeout(acceptor.done, seconds) == epicsEventOK;
}

/* From 127.0.0.<host>. */
static SOCKET connectFrom(unsigned host)
{
    SOCKET made = epicsSocketCreate(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address;

    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    if (host != 1) {
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK - 1u + host);
        CHECK(bind(made, (struct sockaddr *)&address, sizeof address) == 0);
    }
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    CHECK(connect(made, (struct sockaddr *)&address, sizeof address) == 0);
    return made;
}

static SOCKET connectOne(void)
{
    return connectFrom(1);
}

/* Whether the connection that was accepted last is this one. */
static int isAccepted(SOCKET connection)
{
    struct sockaddr_in own;
    osiSocklen_t length = sizeof own;

    return getsockname(connection, (struct sockaddr *)&own, &length) == 0 &&
           own.sin_port == acceptor.peer.sin_port &&
           own.sin_addr.s_addr == acceptor.peer.sin_addr.s_addr;
}

/*
 * The connection has been reset by the server, within the time: an orderly close would keep one of
 * its sockets.
 */
static int resetWithin(SOCKET connection, int seconds)
{
    struct timeval limit = {0, 0};
    char byte;

    limit.tv_sec = seconds;
    (void)setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    return recv(connection, &byte, 1, 0) < 0 && SOCKERRNO == SOCK_ECONNRESET;
}

static void serve(client *own)
{
    SOCKET connection;

    makeClient(own);
    connection = connectOne();
    order(ACCEPT_AND_START, own);
    CHECK(carriedOut(LONG_S));
    epicsSocketDestroy(connection);
    epicsSocketDestroy(acceptor.accepted);
}

static void dismiss(client *own)
{
    epicsEventMustTrigger(own->leave);
    CHECK(epicsEventWaitWithTimeout(own->gone, LONG_S) == epicsEventOK);
}

static crew_usage usage(void)
{
    crew_usage figures = CREW_USAGE_INIT;
    crew_pool pool;

    CHECK(crewPoolFind("CAS", &pool) == CREW_OK && crew_pool_usage(pool, &figures) == CREW_OK);
    return figures;
}

/*
 * Waits, with a bound, until so many sets are busy: a job returns a moment after it has triggered
 * `gone`.
 */
static int busyBecomes(uint32_t sets)
{
    const epicsUInt64 end = epicsMonotonicGet() + (epicsUInt64)(LONG_S * 1e9);

    while (usage().busy != sets) {
        if (epicsMonotonicGet() > end) {
            return 0;
        }
        epicsThreadSleep(0.001);
    }
    return 1;
}

/* ---- tests ---- */

static void beforeConfiguration(void)
{
    client one;

    serve(&one);
    CHECK(one.event != NULL && one.thread != NULL);
    dismiss(&one);
}

static void setsAreReused(void)
{
    client one;
    client two;

    serve(&one);
    CHECK(usage().busy == 1);
    dismiss(&one);
    CHECK(busyBecomes(0));
    serve(&two);
    CHECK(two.event == one.event && two.thread == one.thread);
    dismiss(&two);
    CHECK(busyBecomes(0));
    CHECK(strcmp(two.seenName, "CAS-client") == 0);
    CHECK(usage().threads_created == 2);
}

static void aMemberLooksLikeANewThread(void)
{
    const int exits = epicsAtomicGetIntT(&threadExits);
    const int hooks = epicsAtomicGetIntT(&hookRuns);
    client one;
    client two;

    makeClient(&one);
    serve(&one);
    one.setPriority = 40;
    dismiss(&one);
    CHECK(busyBecomes(0));
    serve(&two);
    dismiss(&two);
    CHECK(busyBecomes(0));
    CHECK(one.seenPriority == 20 && two.seenPriority == 20);
    CHECK(epicsAtomicGetIntT(&threadExits) == exits + 2);
    CHECK(epicsAtomicGetIntT(&hookRuns) == hooks + 2);
}

static void anUnusedReservationIsGivenBack(void)
{
    SOCKET first = connectOne();
    SOCKET second = connectOne();

    order(ACCEPT_ONLY, NULL);
    CHECK(carriedOut(LONG_S));
    epicsSocketDestroy(acceptor.accepted);
    CHECK(usage().busy == 1);
    order(ACCEPT_ONLY, NULL);
    CHECK(carriedOut(LONG_S));
    epicsSocketDestroy(acceptor.accepted);
    CHECK(usage().busy == 1);
    epicsSocketDestroy(first);
    epicsSocketDestroy(second);
}

/* Begins with the reservation that the last test left. */
static void aRefusedConnectionIsClosedAndTheNextAccepted(void)
{
    client one;
    client two;
    client three;
    SOCKET refused;
    SOCKET served;
    const uint32_t before = usage().refused[CREW_REFUSED_AT_CAPACITY];

    serve(&one);
    serve(&two);
    CHECK(usage().busy == 2);
    makeClient(&three);
    refused = connectOne();
    order(ACCEPT_AND_START, &three);
    CHECK(resetWithin(refused, 5));
    CHECK(!carriedOut(0.0));
    CHECK(usage().refused[CREW_REFUSED_AT_CAPACITY] == before + 1);
    dismiss(&one);
    served = connectOne();
    CHECK(carriedOut(LONG_S));
    dismiss(&two);
    dismiss(&three);
    CHECK(busyBecomes(0));
    epicsSocketDestroy(refused);
    epicsSocketDestroy(served);
    epicsSocketDestroy(acceptor.accepted);
}

static void joinsThatAreNotTheServers(void)
{
    epicsThreadOpts options = EPICS_THREAD_OPTS_INIT;
    epicsEventId leave = epicsEventMustCreate(epicsEventFull);
    client one;
    client stranger;
    epicsThreadId other;

    makeClient(&stranger);
    stranger.leaveEvent = leave;
    options.joinable = 1;
    other = epicsThreadCreateOpt("other", eventTask, &stranger, &options);
    epicsThreadMustJoin(other);
    epicsThreadMustJoin(NULL);

    serve(&one);
    /* no caller may join a member: Crew says so, and does not wait */
    epicsThreadMustJoin(one.thread);
    dismiss(&one);
    CHECK(busyBecomes(0));
    epicsThreadMustJoin(one.event); /* idle */
}

static void aDeadMemberRetiresItsSet(void)
{
    const uint32_t made = usage().threads_created;
    client one;
    client two;

    serve(&one);
    one.dies = 1;
    dismiss(&one);
    CHECK(busyBecomes(0));
    CHECK(usage().retirements == 1);
    serve(&two);
    dismiss(&two);
    CHECK(busyBecomes(0));
    CHECK(usage().threads_created >= made);
    CHECK(usage().suspended == 0);
}

static void aSuspendedMemberRetiresItsSet(void)
{
    const uint32_t before = usage().retirements;
    const epicsUInt64 end = epicsMonotonicGet() + (epicsUInt64)(LONG_S * 1e9);
    client one;
    client two;

    serve(&one);
    one.suspends = 1;
    dismiss(&one);
    while (usage().suspended == 0 && epicsMonotonicGet() < end) {
        epicsThreadSleep(0.001);
    }
    CHECK(usage().suspended == 1);
    CHECK(usage().retirements == before + 1);
    serve(&two);
    CHECK(two.thread != one.thread);
    dismiss(&two);
    epicsThreadResume(one.thread);
    CHECK(busyBecomes(0));
    CHECK(usage().suspended == 0);
}

/* ---- tests with several hosts: three sets, two for one host ---- */

static void serveFrom(client *own, unsigned host)
{
    makeClient(own);
    own->near = connectFrom(host);
    order(ACCEPT_AND_START, own);
    CHECK(carriedOut(LONG_S) && isAccepted(own->near));
    own->far = acceptor.accepted;
}

static void dismissFrom(client *own)
{
    dismiss(own);
    epicsSocketDestroy(own->near);
    epicsSocketDestroy(own->far);
}

static double secondsSince(epicsUInt64 start)
{
    return (double)(epicsMonotonicGet() - start) / 1e9;
}

/* While both of its circuits are in use. Another host's client is served. */
static void aHostAtItsLimitIsRefusedAtOnce(void)
{
    const uint32_t before = usage().refused[CREW_REFUSED_PEER_LIMIT];
    client one;
    client two;
    client other;
    SOCKET third;
    epicsUInt64 start;

    serveFrom(&one, 1);
    serveFrom(&two, 1);
    third = connectFrom(1);
    makeClient(&other);
    start = epicsMonotonicGet();
    order(ACCEPT_AND_START, &other);
    CHECK(resetWithin(third, 5));
    CHECK(secondsSince(start) * 1000.0 < HOSTS_WAIT_MS / 2);
    CHECK(usage().refused[CREW_REFUSED_PEER_LIMIT] == before + 1);
    other.near = connectFrom(2);
    CHECK(carriedOut(LONG_S) && isAccepted(other.near));
    other.far = acceptor.accepted;
    dismissFrom(&one);
    dismissFrom(&two);
    dismissFrom(&other);
    epicsSocketDestroy(third);
    CHECK(busyBecomes(0));
}

/* The waiting one's set is known to come back: its client has closed, the server works on it. */
static void aConnectionThatWaitsHoldsUpNoOther(void)
{
    client one;
    client two;
    client three;
    client other;

    serveFrom(&one, 1);
    serveFrom(&two, 1);
    epicsSocketDestroy(two.near);
    makeClient(&three);
    three.near = connectFrom(1);
    serveFrom(&other, 2);
    CHECK(usage().busy == 3);
    dismiss(&two);
    CHECK(busyBecomes(2));
    order(ACCEPT_AND_START, &three);
    CHECK(carriedOut(LONG_S) && isAccepted(three.near));
    three.far = acceptor.accepted;
    epicsSocketDestroy(two.far);
    dismissFrom(&one);
    dismissFrom(&other);
    dismissFrom(&three);
    CHECK(busyBecomes(0));
}

/* Here the server begins to take the old client down, and then waits for its event thread. */
static void aSetThatIsBeingTakenDownIsWaitedFor(void)
{
    client one;
    client two;
    client three;
    SOCKET other;

    serveFrom(&one, 1);
    makeClient(&two);
    two.mayEnd = epicsEventMustCreate(epicsEventEmpty);
    two.near = connectFrom(1);
    order(ACCEPT_AND_START, &two);
    CHECK(carriedOut(LONG_S));
    two.far = acceptor.accepted;
    epicsEventMustTrigger(two.leave);
    epicsSocketDestroy(two.near);
    makeClient(&three);
    three.near = connectFrom(1);
    other = connectFrom(2);
    order(ACCEPT_ONLY, NULL);
    CHECK(carriedOut(LONG_S) && isAccepted(other));
    epicsSocketDestroy(acceptor.accepted);
    epicsEventMustTrigger(two.mayEnd);
    CHECK(epicsEventWaitWithTimeout(two.gone, LONG_S) == epicsEventOK);
    order(ACCEPT_AND_START, &three);
    CHECK(carriedOut(LONG_S) && isAccepted(three.near));
    three.far = acceptor.accepted;
    epicsSocketDestroy(two.far);
    epicsSocketDestroy(other);
    dismissFrom(&one);
    dismissFrom(&three);
    CHECK(busyBecomes(0));
}

static void aConnectionThatLeavesWhileItWaitsTakesNoSet(void)
{
    client one;
    client two;
    client four;
    client other;
    SOCKET three;

    serveFrom(&one, 1);
    serveFrom(&two, 1);
    epicsSocketDestroy(two.near);
    three = connectFrom(1);
    serveFrom(&other, 2);
    epicsSocketDestroy(three);
    dismiss(&two);
    CHECK(busyBecomes(2));
    serveFrom(&four, 1);
    epicsSocketDestroy(two.far);
    dismissFrom(&one);
    dismissFrom(&other);
    dismissFrom(&four);
    CHECK(busyBecomes(0));
}

#define OF_ONE_HOST 8 /* the drop-in's LINE_PER_HOST */

static void oneHostDoesNotFillTheLine(void)
{
    client one;
    client two;
    client other;
    SOCKET waiting[OF_ONE_HOST];
    SOCKET tooMany;
    epicsUInt64 start;
    unsigned i;

    serveFrom(&one, 1);
    serveFrom(&two, 1);
    epicsSocketDestroy(two.near);
    makeClient(&other);
    start = epicsMonotonicGet();
    for (i = 0; i < OF_ONE_HOST; i++) {
        waiting[i] = connectFrom(1);
    }
    tooMany = connectFrom(1);
    order(ACCEPT_AND_START, &other);
    CHECK(resetWithin(tooMany, 5));
    CHECK(secondsSince(start) * 1000.0 < HOSTS_WAIT_MS);
    other.near = connectFrom(2);
    CHECK(carriedOut(LONG_S) && isAccepted(other.near));
    other.far = acceptor.accepted;
    for (i = 0; i < OF_ONE_HOST; i++) {
        epicsSocketDestroy(waiting[i]);
    }
    epicsSocketDestroy(tooMany);
    dismiss(&two);
    epicsSocketDestroy(two.far);
    dismissFrom(&one);
    dismissFrom(&other);
    CHECK(busyBecomes(0));
}

#ifdef TCP_KEEPIDLE

static int option(SOCKET connection, int name)
{
    int value = -1;
    osiSocklen_t length = sizeof value;

    (void)getsockopt(connection, IPPROTO_TCP, name, (char *)&value, &length);
    return value;
}

static void aSilentClientIsAskedInTime(void)
{
    client one;

    serveFrom(&one, 1);
    CHECK(option(one.far, TCP_KEEPIDLE) == 30 && option(one.far, TCP_KEEPINTVL) == 5 &&
          option(one.far, TCP_KEEPCNT) == 3);
    dismissFrom(&one);
    CHECK(crewCasKeepaliveSay(7, 2, 4) == 0);
    CHECK(crewCasKeepaliveSay(7, 2, 0) != 0 && crewCasKeepaliveSay(-1, 2, 4) != 0);
    serveFrom(&one, 1);
    CHECK(option(one.far, TCP_KEEPIDLE) == 7 && option(one.far, TCP_KEEPINTVL) == 2 &&
          option(one.far, TCP_KEEPCNT) == 4);
    dismissFrom(&one);
    CHECK(busyBecomes(0));
}

#endif

static void testHosts(void)
{
    current = "crewCasPool";
    CHECK(crewCasPool(3, 2, HOSTS_WAIT_MS, 0) == 0);
    test("a host at its limit is refused at once", aHostAtItsLimitIsRefusedAtOnce);
    test("a connection that waits holds up no other", aConnectionThatWaitsHoldsUpNoOther);
    test("a set that is being taken down is waited for", aSetThatIsBeingTakenDownIsWaitedFor);
    test("a connection that leaves while it waits takes no set",
         aConnectionThatLeavesWhileItWaitsTakesNoSet);
    test("one host does not fill the line", oneHostDoesNotFillTheLine);
#ifdef TCP_KEEPIDLE
    test("a silent client is asked in time whether it is there", aSilentClientIsAskedInTime);
#endif
}

static void testServer(void)
{
    test("before crewCasPool all is libCom's", beforeConfiguration);
    current = "crewCasPool";
    CHECK(crewCasPool(2, 0, WAIT_MS, 0) == 0);
    CHECK(crewCasPool(2, 0, WAIT_MS, 0) != 0);
    test("sequential clients reuse one set", setsAreReused);
    test("to a job its member looks like a new thread", aMemberLooksLikeANewThread);
    test("an unused reservation is given back", anUnusedReservationIsGivenBack);
    test("a refused connection is closed and the next one accepted",
         aRefusedConnectionIsClosedAndTheNextAccepted);
    test("joins that are not the server's", joinsThatAreNotTheServers);
    test("a dead member retires its set", aDeadMemberRetiresItsSet);
    test("a suspended member retires its set", aSuspendedMemberRetiresItsSet);
}

int main(int argc, char **argv)
{
    struct sockaddr_in address;
    osiSocklen_t length = sizeof address;

    (void)osiSockAttach();
    (void)epicsThreadHookAdd(onThreadStart);
    listener = epicsSocketCreate(AF_INET, SOCK_STREAM, 0);
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, 20) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &length) != 0) {
        printf("FAILED setup: no port on the loopback interface\n0 passed, 1 failed\n");
        return 1;
    }
    port = ntohs(address.sin_port);
    acceptor.go = epicsEventMustCreate(epicsEventEmpty);
    acceptor.done = epicsEventMustCreate(epicsEventEmpty);
    (void)epicsThreadMustCreate("CAS-TCP", 16, epicsThreadGetStackSize(epicsThreadStackMedium),
                                acceptorTask, NULL);

    if (argc > 1 && strcmp(argv[1], "hosts") == 0) {
        testHosts();
    } else {
        testServer();
    }

    printf("%d passed, %d failed\n", passed, failed);
    (void)fflush(stdout);
    epicsExit(failed == 0 ? 0 : 1);
    return 0;
}
