/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "linux_shim.h"

#include <errno.h>
#include <objLib.h>
#include <pthread.h>
#include <semLib.h>
#include <string.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sysLib.h>
#include <time.h>
#include <unistd.h>

#define LINUX_MAP_ANONYMOUS 0x20
#define TICK_NS (1000000000 / SHIM_TICKS_PER_SECOND)
#define MAPPINGS_KEPT 64u

/* Their types are those of the libc crate. */
int errnoGet(void);
int errnoSet(int error);
int taskIdSelf(void);
int taskNameSet(int task, char *name);

/* ---- errnoLib, taskLib, sysLib ---- */

int errnoGet(void)
{
    return errno;
}

int errnoSet(int error)
{
    errno = error;
    return OK;
}

int taskIdSelf(void)
{
    return (int)gettid();
}

int sysClkRateGet(void)
{
    return SHIM_TICKS_PER_SECOND;
}

/* ---- threads ---- */

typedef struct thread_looks {
    char name[32];
    int policy;
    int priority;
} thread_looks;

static _Thread_local thread_looks looks;
/* The attributes that this thread has set for the next thread that it makes. */
static _Thread_local thread_looks next_looks;

static void name_copy(thread_looks *to, const char *name)
{
    (void)strncpy(to->name, name, sizeof(to->name) - 1u);
}

int taskNameSet(int task, char *name)
{
    if (task != taskIdSelf()) {
        errno = EINVAL;
        return ERROR;
    }
    name_copy(&looks, name);
    return OK;
}

int pthread_attr_setname(pthread_attr_t *attr, char *name)
{
    (void)attr;
    name_copy(&next_looks, name);
    return 0;
}

const char *shim_name(void)
{
    return looks.name;
}

int shim_policy(void)
{
    return looks.policy;
}

int shim_priority(void)
{
    return looks.priority;
}

/* The scale is VxWorks', and Linux's permission is not the question: nothing of it is passed on. */
int __wrap_pthread_attr_setinheritsched(pthread_attr_t *attr, int inherit);
int __wrap_pthread_attr_setschedpolicy(pthread_attr_t *attr, int policy);
int __wrap_pthread_attr_setschedparam(pthread_attr_t *attr, const struct sched_param *param);
int __wrap_pthread_setschedparam(pthread_t thread, int policy, const struct sched_param *param);
int __wrap_pthread_getschedparam(pthread_t thread, int *policy, struct sched_param *param);

int __wrap_pthread_attr_setinheritsched(pthread_attr_t *attr, int inherit)
{
    (void)attr;
    (void)inherit;
    return 0;
}

int __wrap_pthread_attr_setschedpolicy(pthread_attr_t *attr, int policy)
{
    (void)attr;
    next_looks.policy = policy;
    return 0;
}

int __wrap_pthread_attr_setschedparam(pthread_attr_t *attr, const struct sched_param *param)
{
    (void)attr;
    next_looks.priority = param->sched_priority;
    return 0;
}

int __wrap_pthread_setschedparam(pthread_t thread, int policy, const struct sched_param *param)
{
    if (pthread_equal(thread, pthread_self())) {
        looks.policy = policy;
        looks.priority = param->sched_priority;
    }
    return 0;
}

int __wrap_pthread_getschedparam(pthread_t thread, int *policy, struct sched_param *param)
{
    (void)thread;
    *policy = looks.policy;
    param->sched_priority = looks.priority;
    return 0;
}

/* ---- threads ---- */

typedef struct thread_start {
    void *(*run)(void *);
    void *argument;
    thread_looks looks;
} thread_start;

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
                          void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
                          void *argument);

static size_t threads_made;

static void *thread_begin(void *argument)
{
    thread_start start = *(thread_start *)argument;

    free(argument);
    looks = start.looks;
    return start.run(start.argument);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
                          void *argument)
{
    thread_start *start = (thread_start *)malloc(sizeof(*start));
    int error;

    if (start == NULL) {
        return EAGAIN;
    }
    start->run = run;
    start->argument = argument;
    start->looks = next_looks;
    (void)memset(&next_looks, 0, sizeof(next_looks));
    error = __real_pthread_create(thread, attr, thread_begin, start);
    if (error != 0) {
        free(start);
    } else {
        (void)__atomic_add_fetch(&threads_made, 1u, __ATOMIC_SEQ_CST);
    }
    return error;
}

size_t shim_threads_made(void)
{
    return __atomic_load_n(&threads_made, __ATOMIC_SEQ_CST);
}

/* ---- semLib ---- */

struct _Vx_semaphore {
    pthread_mutex_t mutex;
    pthread_cond_t given;
    int full;
    /* Counts flushes, so that a waiter sees one. */
    unsigned flushes;
};

static size_t semaphores_left = SHIM_NO_LIMIT;
static size_t semaphores_made;
static _Thread_local uint64_t last_ticks;

uint64_t shim_ticks(void)
{
    return last_ticks;
}

void shim_semaphores_left(size_t count)
{
    __atomic_store_n(&semaphores_left, count, __ATOMIC_SEQ_CST);
}

size_t shim_semaphores_made(void)
{
    return __atomic_load_n(&semaphores_made, __ATOMIC_SEQ_CST);
}

static int semaphore_granted(void)
{
    size_t left = __atomic_load_n(&semaphores_left, __ATOMIC_SEQ_CST);

    do {
        if (left == 0u) {
            return 0;
        }
    } while (left != SHIM_NO_LIMIT &&
             !__atomic_compare_exchange_n(&semaphores_left, &left, left - 1u, 0, __ATOMIC_SEQ_CST,
                                          __ATOMIC_SEQ_CST));
    return 1;
}

SEM_ID semBCreate(int options, SEM_B_STATE initial)
{
    SEM_ID semaphore = semaphore_granted() ? (SEM_ID)calloc(1u, sizeof(*semaphore)) : NULL;
    pthread_condattr_t attr;

    (void)options;
    if (semaphore == NULL) {
        errno = SHIM_NO_SEMAPHORE;
        return NULL;
    }
    (void)pthread_mutex_init(&semaphore->mutex, NULL);
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&semaphore->given, &attr);
    (void)pthread_condattr_destroy(&attr);
    semaphore->full = initial == SEM_FULL;
    (void)__atomic_add_fetch(&semaphores_made, 1u, __ATOMIC_SEQ_CST);
    return semaphore;
}

/* The nth tick from now: the rest of the present one counts as one. */
static struct timespec tick_from_now(_Vx_ticks_t nth)
{
    struct timespec at;
    uint64_t ns;

    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    ns = (uint64_t)at.tv_sec * 1000000000u + (uint64_t)at.tv_nsec;
    ns = (ns / TICK_NS + nth) * TICK_NS;
    at.tv_sec = (time_t)(ns / 1000000000u);
    at.tv_nsec = (long)(ns % 1000000000u);
    return at;
}

/* No cancellation point, as on VxWorks. */
STATUS semTake(SEM_ID semaphore, _Vx_ticks_t timeout)
{
    struct timespec until = tick_from_now(timeout);
    int error = 0;
    unsigned before;
    int taken;
    int state;

    last_ticks = timeout;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    (void)pthread_mutex_lock(&semaphore->mutex);
    before = semaphore->flushes;
    while (!semaphore->full && semaphore->flushes == before && timeout != NO_WAIT && error == 0) {
        error = pthread_cond_timedwait(&semaphore->given, &semaphore->mutex, &until);
    }
    taken = semaphore->full || semaphore->flushes != before;
    semaphore->full = 0;
    (void)pthread_mutex_unlock(&semaphore->mutex);
    (void)pthread_setcancelstate(state, &state);
    return taken ? OK : ERROR;
}

STATUS semGive(SEM_ID semaphore)
{
    int state;

    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    (void)pthread_mutex_lock(&semaphore->mutex);
    semaphore->full = 1;
    (void)pthread_cond_signal(&semaphore->given);
    (void)pthread_mutex_unlock(&semaphore->mutex);
    (void)pthread_setcancelstate(state, &state);
    return OK;
}

STATUS semFlush(SEM_ID semaphore)
{
    (void)pthread_mutex_lock(&semaphore->mutex);
    semaphore->flushes++;
    (void)pthread_cond_broadcast(&semaphore->given);
    (void)pthread_mutex_unlock(&semaphore->mutex);
    return OK;
}

/* Public objects, though of this process only: its threads open them. All are deleted on their
   last close. */
static struct object {
    char name[256];
    SEM_ID semaphore;
    unsigned opens;
} objects[16];
static pthread_mutex_t objects_lock = PTHREAD_MUTEX_INITIALIZER;

static SEM_ID object_open(const char *name, int mode)
{
    struct object *free_one = NULL;
    size_t i;

    for (i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
        if (objects[i].opens == 0u) {
            free_one = &objects[i];
        } else if (strcmp(objects[i].name, name) == 0) {
            if ((mode & OM_EXCL) != 0) {
                errno = EEXIST;
                return NULL;
            }
            objects[i].opens++;
            return objects[i].semaphore;
        }
    }
    if ((mode & OM_CREATE) == 0 || free_one == NULL) {
        errno = S_objLib_OBJ_NOT_FOUND;
        return NULL;
    }
    free_one->semaphore = semBCreate(SEM_Q_FIFO, SEM_EMPTY);
    if (free_one->semaphore != NULL) {
        (void)snprintf(free_one->name, sizeof(free_one->name), "%s", name);
        free_one->opens = 1u;
    }
    return free_one->semaphore;
}

SEM_ID semOpen(const char *name, SEM_TYPE type, int initial, int options, int mode, void *context)
{
    SEM_ID semaphore;

    (void)type;
    (void)initial;
    (void)options;
    (void)context;
    (void)pthread_mutex_lock(&objects_lock);
    semaphore = object_open(name, mode);
    (void)pthread_mutex_unlock(&objects_lock);
    return semaphore;
}

STATUS semClose(SEM_ID semaphore)
{
    size_t i;

    (void)pthread_mutex_lock(&objects_lock);
    for (i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
        if (objects[i].semaphore == semaphore && objects[i].opens > 0u &&
            --objects[i].opens == 0u) {
            free(semaphore);
        }
    }
    (void)pthread_mutex_unlock(&objects_lock);
    return OK;
}

/* ---- mappings ---- */

void *__real_mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset);
int __real_munmap(void *address, size_t bytes);
void *__wrap_mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset);
int __wrap_munmap(void *address, size_t bytes);

static size_t largest_mapping = SHIM_NO_LIMIT;
static size_t mappings_asked;
static size_t mappings[MAPPINGS_KEPT];
static size_t mapped_bytes;
static size_t odd_mappings;

void shim_largest_mapping(size_t bytes)
{
    __atomic_store_n(&largest_mapping, bytes, __ATOMIC_SEQ_CST);
}

size_t shim_mappings_asked(void)
{
    return __atomic_load_n(&mappings_asked, __ATOMIC_SEQ_CST);
}

size_t shim_mapping_asked(size_t nth)
{
    return nth < MAPPINGS_KEPT ? mappings[nth] : 0u;
}

size_t shim_mapped_bytes(void)
{
    return __atomic_load_n(&mapped_bytes, __ATOMIC_SEQ_CST);
}

size_t shim_odd_mappings(void)
{
    return __atomic_load_n(&odd_mappings, __ATOMIC_SEQ_CST);
}

/* The flags are VxWorks'. */
void *__wrap_mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset)
{
    size_t nth = __atomic_fetch_add(&mappings_asked, 1u, __ATOMIC_SEQ_CST);
    void *range;

    if (nth < MAPPINGS_KEPT) {
        mappings[nth] = bytes;
    }
    if (address != NULL || protection != PROT_NONE || flags != (MAP_PRIVATE | MAP_ANONYMOUS) ||
        file != -1) {
        (void)__atomic_add_fetch(&odd_mappings, 1u, __ATOMIC_SEQ_CST);
    }
    if (bytes > __atomic_load_n(&largest_mapping, __ATOMIC_SEQ_CST)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    if ((flags & MAP_ANONYMOUS) != 0) {
        flags = (flags & ~MAP_ANONYMOUS) | LINUX_MAP_ANONYMOUS;
    }
    range = __real_mmap(address, bytes, protection, flags, file, offset);
    if (range != MAP_FAILED) {
        (void)__atomic_add_fetch(&mapped_bytes, bytes, __ATOMIC_SEQ_CST);
    }
    return range;
}

int __wrap_munmap(void *address, size_t bytes)
{
    (void)__atomic_sub_fetch(&mapped_bytes, bytes, __ATOMIC_SEQ_CST);
    return __real_munmap(address, bytes);
}
