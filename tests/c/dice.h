/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Dice that fall the same way in every run: Marsaglia's xorshift. The state is the seed, and is
 * never 0.
 */
#ifndef DICE_H
#define DICE_H

#include <stdint.h>

static inline uint64_t dice_roll(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

#endif
