/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Preloaded into an IOC: counts the threads that it makes, and prints "threads made: N" when it ends. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*create_function)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

static unsigned long made;

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
    void *symbol = dlsym(RTLD_NEXT, "pthread_create");
    create_function create;
    int error;

    if (symbol == NULL) {
        (void)fprintf(stderr, "count_threads: no pthread_create behind this one\n");
        abort();
    }
    memcpy(&create, &symbol, sizeof create); /* ISO C has no conversion from an object pointer to a function */
    error = create(thread, attributes, start, argument);
    if (error == 0) {
        (void)__atomic_fetch_add(&made, 1ul, __ATOMIC_RELAXED);
    }
    return error;
}

__attribute__((destructor)) static void tell(void)
{
    (void)printf("threads made: %lu\n", __atomic_load_n(&made, __ATOMIC_RELAXED));
    (void)fflush(stdout);
}
