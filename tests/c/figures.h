/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The figures of a pool and of the account, as every suite reads them. Asking for them is checked,
 * too.
 */
#ifndef FIGURES_H
#define FIGURES_H

#include "check.h"
#include "crew.h"

static inline crew_usage usage_of(crew_pool pool)
{
    crew_usage usage = CREW_USAGE_INIT;

    (void)CHECK_EQ(crew_pool_usage(pool, &usage), CREW_OK);
    return usage;
}

static inline crew_account account_now(void)
{
    crew_account account = CREW_ACCOUNT_INIT;

    (void)CHECK_EQ(crew_account_usage(&account), CREW_OK);
    return account;
}

static inline uint64_t held_bytes(void)
{
    return account_now().held_bytes;
}

#endif
