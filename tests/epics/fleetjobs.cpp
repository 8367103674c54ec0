/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * crewFleetAsk and crewFleetRun in one IOC that is owner and asker: how jobs end, what is refused,
 * and that the unit is back after each. C++, for a job that throws.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

#include <dbAccess.h>
#include <dbStaticLib.h>
#include <epicsEvent.h>
#include <epicsExit.h>
#include <epicsThread.h>
#include <epicsTime.h>
#include <iocInit.h>
#include <iocsh.h>
#include <iocshRegisterCommon.h>

#include <crewFleet.h>
#include <crewRegistrar.h>
#include <crewShell.h>
#include <crew_fleet_shm.h>

#include "check.h"

namespace {

const char *const KEY = "work";
const uint32_t UNITS = 2;
/* Bounds waits that take microseconds; a death is seen within a second or so. */
const double LONG_S = 30.0;
const uint32_t LONG_MS = 30000;
const double LOOK_S = 0.01;

std::string fleetName;
crew_pool pool;

/* One job, and how it was said to have ended. */
struct Job {
    enum Kind { RETURNS, THROWS, ENDS_ITS_THREAD, WAITS } kind;
    epicsEventId go;
    epicsEventId ended;
    int32_t outcome;
    int32_t value;
    int calls;
    char thread[16];

    explicit Job(Kind what)
        : kind(what), go(epicsEventMustCreate(epicsEventEmpty)),
          ended(epicsEventMustCreate(epicsEventEmpty)), outcome(-1), value(0), calls(0), thread()
    {
    }

    ~Job()
    {
        epicsEventDestroy(go);
        epicsEventDestroy(ended);
    }

    bool waitForEnd() { return epicsEventWaitWithTimeout(ended, LONG_S) == epicsEventOK; }
};

extern "C" int32_t run(void *argument)
{
    Job *job = static_cast<Job *>(argument);

    epicsThreadGetName(epicsThreadGetIdSelf(), job->thread, sizeof job->thread);
    switch (job->kind) {
    case Job::THROWS:
        throw std::runtime_error("a defect");
    case Job::ENDS_ITS_THREAD:
        pthread_exit(NULL);
    case Job::WAITS:
        (void)epicsEventWaitWithTimeout(job->go, LONG_S);
        break;
    case Job::RETURNS:
        break;
    }
    return 42;
}

extern "C" int32_t nothing(void *)
{
    return 0;
}

extern "C" void ended(void *argument, const crew_result *result)
{
    Job *job = static_cast<Job *>(argument);

    job->outcome = result->outcome;
    job->value = result->value;
    job->calls++;
    epicsEventMustTrigger(job->ended);
}

uint32_t freeUnits()
{
    uint32_t units = 0;

    return crewFleetUnits(NULL, KEY, &units, NULL) == CREW_OK ? units : 0u;
}

bool unitsBecome(uint32_t wanted)
{
    double waited = 0.0;

    while (freeUnits() != wanted && waited < LONG_S) {
        epicsThreadSleep(LOOK_S);
        waited += LOOK_S;
    }
    return freeUnits() == wanted;
}

std::string lease()
{
    char text[CREW_LEASE_TEXT_BYTES] = "";

    CHECK_EQ(crewFleetAsk(NULL, KEY, 0, text, sizeof text), CREW_OK);
    return text;
}

int32_t start(Job *job)
{
    return crewFleetRun(lease().c_str(), "worker", run, job, ended);
}

void a_job_that_returns_gives_its_unit_back()
{
    Job job(Job::RETURNS);

    REQUIRE_EQ(start(&job), CREW_OK);
    REQUIRE(job.waitForEnd());
    CHECK_EQ(freeUnits(), UNITS); /* before it was told */
    CHECK_EQ(job.outcome, CREW_JOB_RETURNED);
    CHECK_EQ(job.value, 42);
    CHECK_CONTAINS(job.thread, "jobs.");
    CHECK_CONTAINS(job.thread, "-worker");
}

void a_job_that_throws_has_failed()
{
    Job job(Job::THROWS);

    REQUIRE_EQ(start(&job), CREW_OK);
    REQUIRE(job.waitForEnd());
    CHECK_EQ(job.outcome, CREW_JOB_FAILED);
    CHECK_EQ(job.value, 0);
    CHECK_EQ(freeUnits(), UNITS);
}

void a_job_that_ends_its_thread_has_died()
{
    for (int i = 0; i < 3; i++) {
        Job job(Job::ENDS_ITS_THREAD);

        REQUIRE_EQ(start(&job), CREW_OK);
        REQUIRE(job.waitForEnd());
        CHECK_EQ(job.outcome, CREW_JOB_DIED);
        CHECK_EQ(freeUnits(), UNITS);
    }
    a_job_that_returns_gives_its_unit_back();
}

void an_end_is_told_once_and_need_not_be()
{
    Job job(Job::RETURNS);
    const double two_ticks = 2.5;

    REQUIRE_EQ(start(&job), CREW_OK);
    REQUIRE(job.waitForEnd());
    CHECK(epicsEventWaitWithTimeout(job.ended, two_ticks) == epicsEventWaitTimeout);
    CHECK_EQ(job.calls, 1);
    Job untold(Job::RETURNS);
    REQUIRE_EQ(crewFleetRun(lease().c_str(), NULL, run, &untold, NULL), CREW_OK);
    CHECK(unitsBecome(UNITS));
    CHECK_EQ(untold.calls, 0);
}

void as_many_jobs_run_as_there_are_units()
{
    Job first(Job::WAITS);
    Job second(Job::WAITS);
    char text[CREW_LEASE_TEXT_BYTES];

    REQUIRE_EQ(start(&first), CREW_OK);
    REQUIRE_EQ(start(&second), CREW_OK);
    CHECK_EQ(freeUnits(), 0);
    CHECK_EQ(crewFleetAsk(NULL, KEY, 0, text, sizeof text), CREW_TIMED_OUT);
    CHECK_EQ(crewFleetAsk(NULL, KEY, 50, text, sizeof text), CREW_TIMED_OUT);
    epicsEventMustTrigger(first.go);
    epicsEventMustTrigger(second.go);
    CHECK(first.waitForEnd());
    CHECK(second.waitForEnd());
    CHECK_EQ(freeUnits(), UNITS);
}

/*
 * The set is idle before the unit is free: the asker that gets the unit finds a set, at once, every
 * time.
 */
void a_unit_that_is_free_has_a_set()
{
    char text[CREW_LEASE_TEXT_BYTES];

    for (int i = 0; i < 10000; i++) {
        REQUIRE_EQ(crewFleetAsk(NULL, KEY, LONG_MS, text, sizeof text), CREW_OK);
        REQUIRE_EQ(crewFleetRun(text, NULL, nothing, NULL, NULL), CREW_OK);
    }
    CHECK(unitsBecome(UNITS));
}

struct Asker {
    int32_t status;
    epicsEventId done;
    char text[CREW_LEASE_TEXT_BYTES];
};

extern "C" void askAndWait(void *argument)
{
    Asker *asker = static_cast<Asker *>(argument);

    asker->status = crewFleetAsk(NULL, KEY, LONG_MS, asker->text, sizeof asker->text);
    epicsEventMustTrigger(asker->done);
}

void who_waits_is_woken_by_the_end_of_a_job()
{
    Job first(Job::WAITS);
    Job second(Job::WAITS);
    Job third(Job::RETURNS);
    Asker asker = {-1, epicsEventMustCreate(epicsEventEmpty), ""};

    REQUIRE_EQ(start(&first), CREW_OK);
    REQUIRE_EQ(start(&second), CREW_OK);
    REQUIRE(epicsThreadCreate("asker", 50, epicsThreadGetStackSize(epicsThreadStackSmall),
                              askAndWait, &asker) != NULL);
    CHECK(epicsEventWaitWithTimeout(asker.done, 0.2) == epicsEventWaitTimeout);
    epicsEventMustTrigger(first.go);
    REQUIRE(epicsEventWaitWithTimeout(asker.done, LONG_S) == epicsEventOK);
    REQUIRE_EQ(asker.status, CREW_OK);
    CHECK_EQ(crewFleetRun(asker.text, NULL, run, &third, ended), CREW_OK);
    epicsEventMustTrigger(second.go);
    CHECK(first.waitForEnd());
    CHECK(second.waitForEnd());
    CHECK(third.waitForEnd());
    CHECK(unitsBecome(UNITS));
    epicsEventDestroy(asker.done);
}

void a_lease_is_accepted_once()
{
    Job job(Job::RETURNS);
    Job again(Job::RETURNS);
    const std::string text = lease();

    REQUIRE_EQ(crewFleetRun(text.c_str(), NULL, run, &job, ended), CREW_OK);
    CHECK_EQ(crewFleetRun(text.c_str(), NULL, run, &again, ended), CREW_FLEET_NOT_RESERVED);
    CHECK(job.waitForEnd());
    CHECK_EQ(crewFleetRun(text.c_str(), NULL, run, &again, ended), CREW_FLEET_NOT_RESERVED);
    CHECK_EQ(again.calls, 0);
    CHECK_EQ(freeUnits(), UNITS);
}

void what_cannot_be_run_is_told()
{
    Job job(Job::RETURNS);
    const std::string text = lease();
    const std::string other = "1.0.63" + text.substr(5);

    CHECK_EQ(crewFleetRun(NULL, NULL, run, &job, ended), CREW_NULL_ARGUMENT);
    CHECK_EQ(crewFleetRun(text.c_str(), NULL, NULL, &job, ended), CREW_NULL_ARGUMENT);
    CHECK_EQ(crewFleetRun("1.0.0.1", NULL, run, &job, ended), CREW_BAD_TEXT);
    CHECK_EQ(crewFleetRun(other.c_str(), NULL, run, &job, ended), CREW_BAD_HANDLE);
    CHECK_EQ(crewFleetRun(text.c_str(), "cook", run, &job, ended), CREW_BAD_ROLE);
    CHECK_EQ(freeUnits(), UNITS - 1u); /* none of these has spent it */
    CHECK_EQ(crewFleetRun(text.c_str(), "worker", run, &job, ended), CREW_OK);
    CHECK(job.waitForEnd());
    CHECK_EQ(job.calls, 1);
    CHECK_EQ(freeUnits(), UNITS);
}

void a_set_that_another_has_borrowed_spends_the_lease()
{
    Job job(Job::RETURNS);
    crew_lease sets[UNITS];
    uint32_t i;

    for (i = 0; i < UNITS; i++) {
        REQUIRE_EQ(crew_acquire(pool, LONG_MS, &sets[i], NULL), CREW_OK);
    }
    CHECK_EQ(start(&job), CREW_REFUSED_AT_CAPACITY);
    CHECK_EQ(freeUnits(), UNITS);
    for (i = 0; i < UNITS; i++) {
        CHECK_EQ(crew_release(sets[i]), CREW_OK);
    }
    CHECK_EQ(job.calls, 0);
    a_job_that_returns_gives_its_unit_back();
}

void a_lease_that_nobody_brings_is_taken_back()
{
    Job job(Job::RETURNS);
    const std::string first = lease();
    const std::string second = lease();

    CHECK_EQ(freeUnits(), 0);
    crewFleetGraceMs = 100;
    CHECK(unitsBecome(UNITS));
    crewFleetGraceMs = 10000;
    CHECK_EQ(crewFleetRun(first.c_str(), NULL, run, &job, ended), CREW_FLEET_NOT_RESERVED);
    CHECK_EQ(crewFleetRun(second.c_str(), NULL, run, &job, ended), CREW_FLEET_NOT_RESERVED);
}

/* Also with a job at work, whose unit then belongs to no resource. */
void after_a_reset_the_pool_is_published_anew()
{
    Job job(Job::WAITS);
    crew_fleet fleet;
    const std::string old = lease();

    REQUIRE_EQ(start(&job), CREW_OK);
    REQUIRE_EQ(crewFleetFind(NULL, &fleet), CREW_OK);
    REQUIRE_EQ(crew_fleet_reset(fleet), CREW_OK);
    CHECK(unitsBecome(UNITS));
    epicsEventMustTrigger(job.go);
    CHECK(job.waitForEnd());
    CHECK_EQ(job.outcome, CREW_JOB_RETURNED);
    CHECK_EQ(freeUnits(), UNITS);
    CHECK(crewFleetRun(old.c_str(), NULL, run, &job, ended) != CREW_OK);
    a_job_that_returns_gives_its_unit_back();
}

void what_cannot_be_asked_for_is_told()
{
    char text[CREW_LEASE_TEXT_BYTES];

    CHECK_EQ(crewFleetAsk(NULL, "other", 0, text, sizeof text), CREW_NOT_RUN);
    CHECK_EQ(crewFleetAsk("other", KEY, 0, text, sizeof text), CREW_STALE);
    CHECK_EQ(crewFleetAsk(fleetName.c_str(), "", 0, text, sizeof text), CREW_BAD_TEXT);
    CHECK_EQ(crewFleetAsk(fleetName.c_str(), NULL, 0, text, sizeof text), CREW_BAD_TEXT);
    CHECK_EQ(crewFleetAsk(fleetName.c_str(), KEY, 0, NULL, sizeof text), CREW_BAD_VALUE);
    CHECK_EQ(crewFleetAsk(fleetName.c_str(), KEY, 0, text, sizeof text - 1u), CREW_BAD_VALUE);
    CHECK_EQ(freeUnits(), UNITS);
}

bool startIoc()
{
    iocshRegisterCommon();
    if (dbLoadDatabase("base.dbd", BASE_DBD, NULL) != 0 ||
        dbLoadDatabase("crew.dbd", CREW_DBD, NULL) != 0) {
        return false;
    }
    crewRegistrar();
    return registerAllRecordDeviceDrivers(pdbbase) == 0 &&
           crewFleetOpen(fleetName.c_str(), 0, 0, 0, 0) == 0 &&
           crewPoolOpen("jobs", "worker:small:50 other:small:50", (int)UNITS, 0, 0) == 0 &&
           crewPoolFind("jobs", &pool) == CREW_OK && iocInit() == 0 &&
           crewFleetPublish("jobs", KEY, NULL) == 0;
}

} // namespace

int main()
{
    int status;

    fleetName = "crew-jobs-" + std::to_string(getpid());
    (void)setenv("EPICS_CAS_INTF_ADDR_LIST", "127.0.0.1", 1);
    if (!startIoc()) {
        (void)fprintf(stderr, "fleetjobs: the IOC did not start\n");
        epicsExit(1);
    }
    RUN(a_job_that_returns_gives_its_unit_back);
    RUN(a_job_that_throws_has_failed);
    RUN(a_job_that_ends_its_thread_has_died);
    RUN(an_end_is_told_once_and_need_not_be);
    RUN(as_many_jobs_run_as_there_are_units);
    RUN(a_unit_that_is_free_has_a_set);
    RUN(who_waits_is_woken_by_the_end_of_a_job);
    RUN(a_lease_is_accepted_once);
    RUN(what_cannot_be_run_is_told);
    RUN(a_set_that_another_has_borrowed_spends_the_lease);
    RUN(a_lease_that_nobody_brings_is_taken_back);
    RUN(after_a_reset_the_pool_is_published_anew);
    RUN(what_cannot_be_asked_for_is_told);
    status = check_sum();
    (void)crew_fleet_shm_unlink(fleetName.c_str());
    epicsExit(status);
}
