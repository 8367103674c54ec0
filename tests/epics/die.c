/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * For tests: libdie.so, loaded into an IOC with dlload, lets a CA client end the server's own
 * threads. Two channel filters:
 *
 *   pv.{"dieEvent":{}}    a monitor of it ends the thread that sends it, the client's CAS-event
 *   pv.{"dieClient":{}}   creating the channel ends its thread, the client's CAS-client
 *
 * In this order, each thread ends while it holds no lock of the CA server's. The server loses what
 * it keeps for the client, its socket too.
 */
#include <pthread.h>
#include <stddef.h>

#include <chfPlugin.h>
#include <epicsThread.h>
#include <taskwd.h>

static char settings;

static void *settingsAllocate(void)
{
    return &settings;
}

static void settingsFree(void *own)
{
    (void)own;
}

static void die(void)
{
    taskwdRemove(epicsThreadGetIdSelf()); /* it would go on looking at the thread */
    pthread_exit(NULL);
}

static long dieInCreation(dbChannel *channel, void *own)
{
    (void)channel;
    (void)own;
    die();
    return 0;
}

static db_field_log *dieInUpdate(void *own, dbChannel *channel, db_field_log *update)
{
    (void)own;
    (void)channel;
    die();
    return update;
}

static void standBeforeUpdates(dbChannel *channel, void *own, chPostEventFunc **function,
                               void **argument, db_field_log *probe)
{
    (void)channel;
    (void)own;
    (void)probe;
    *function = dieInUpdate;
    *argument = NULL;
}

static const chfPluginIf dieClient = {
    settingsAllocate, settingsFree, NULL, NULL, dieInCreation, NULL, NULL, NULL, NULL,
};

static const chfPluginIf dieEvent = {
    settingsAllocate, settingsFree, NULL, NULL, NULL, NULL, standBeforeUpdates, NULL, NULL,
};

static const chfPluginArgDef noArguments[] = { chfPluginArgEnd };

static void __attribute__((constructor)) registerBoth(void)
{
    (void)chfPluginRegister("dieClient", &dieClient, noArguments);
    (void)chfPluginRegister("dieEvent", &dieEvent, noArguments);
}
