/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Words for operators: what was refused, with its numbers, and what to change. Used by the log and
 * by the commands. */
#ifndef CREW_TEXT_H
#define CREW_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include <compilerDependencies.h>

#include <crew.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CREW_SENTENCE_BYTES 176u

/* Writes one line, cut to `bytes`, about a refusal by the pool called `pool`. Any thread. */
void crewRefusalText(const crew_refusal *refusal, const char *pool, char *text, size_t bytes);

/*
 * Likewise about an administrative call's status: a refusal (numbers from `refusal`, which may be
 * NULL when the call gives none), or an argument that the call did not accept. Any thread.
 */
void crewStatusSentence(int32_t status, const crew_refusal *refusal, const char *pool, char *text,
                        size_t bytes);

/*
 * For a command that fails: prints to stderr what to change, after the command's name. -1, which
 * the command answers.
 */
int crewFail(const char *command, const char *format, ...) EPICS_PRINTF_STYLE(2, 3);

/* The same with crewStatusSentence's words. */
int crewFailWith(const char *command, int32_t status, const crew_refusal *refusal,
                 const char *pool);

/* For a command that must come before iocInit: 0, or -1 after having said that it comes too
 * late. */
int crewIsLate(const char *command);

/*
 * After a call that was to make `sets` sets of a pool has answered `status`: when that is a
 * refusal, fills `refusal` with the numbers that can be known from outside, because such a call
 * gives none.
 * Of `options` the roles, extra_bytes and capacity count. What the call had made is taken back by
 * now, or else not among `sets`. Any thread.
 */
void crewRefusalOfGrowth(const crew_pool_options *options, uint32_t sets, int32_t status,
                         crew_refusal *refusal);

/* For a command that goes on all the same: prints to stderr, after the command's name. */
void crewTell(const char *command, const char *format, ...) EPICS_PRINTF_STYLE(2, 3);

/* Tells, with both numbers, when the budget can never hold all sets of the pool. */
void crewTellBudget(const char *command, const crew_pool_options *options);

#ifdef __cplusplus
}
#endif

#endif
