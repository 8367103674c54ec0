/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The audit: everything that the core counts twice must be the same from both sides. Only in an
 * archive that was built with the feature `audit`; what is counted is told in src/audit.rs.
 */
#ifndef AUDIT_H
#define AUDIT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Call it in a quiet moment: no thread is inside a function of Crew's. `threads`: how many the port
 * has made and not reaped; negative: not known. 1 = everything agrees; 0 = `text`, of `size` bytes,
 * says what does not, with both numbers. Workers run on their own: after a detached job, or a
 * request to stop, ask again for a bounded time.
 */
int32_t crew_audit(int64_t threads, char *text, size_t size);

/* The same for any moment: it checks only bounds, and that each word is a possible one. */
int32_t crew_audit_busy(char *text, size_t size);

#ifdef __cplusplus
}
#endif

/* Notes a failure with the audit's own words. */
#define CHECK_AUDIT(threads) \
    do { \
        char text_[256] = ""; \
        (void)check_true(crew_audit((threads), text_, sizeof(text_)) == 1, text_, __FILE__, \
                         __LINE__); \
    } while (0)

#endif
