/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "crewLease.h"

#include <inttypes.h>
#include <string.h>

#include <epicsStdio.h>

#define RESOURCE_BYTES 32u

int32_t crewLeasePrint(const crew_fleet_lease *lease, char *text, size_t bytes)
{
    char resource[RESOURCE_BYTES];
    int length;

    if (crew_resource_print(lease->resource, resource, sizeof resource) != CREW_OK) {
        return CREW_BAD_VALUE;
    }
    length = epicsSnprintf(text, bytes, "%s:%" PRIu64 ":%" PRIu32 ".%" PRIu32, resource,
                           lease->fence, lease->holder.node, lease->holder.incarnation);
    return length > 0 && (size_t)length < bytes ? CREW_OK : CREW_BAD_VALUE;
}

/* A whole number of digits only, up to `most`, that `end` follows. Answers the text after `end`,
 * else NULL. */
static const char *number(const char *text, char end, uint64_t most, uint64_t *value)
{
    uint64_t sum = 0;
    const char *at;

    for (at = text; *at >= '0' && *at <= '9'; at++) {
        const uint64_t digit = (uint64_t)(*at - '0');

        if (sum > (most - digit) / 10u) {
            return NULL;
        }
        sum = sum * 10u + digit;
    }
    if (at == text || *at != end) {
        return NULL;
    }
    *value = sum;
    return end == '\0' ? at : at + 1;
}

int32_t crewLeaseParse(const char *text, crew_fleet_lease *lease)
{
    const char *colon = strchr(text, ':');
    char resource[RESOURCE_BYTES];
    crew_fleet_lease read;
    uint64_t node;
    uint64_t incarnation;
    size_t length;

    if (colon == NULL) {
        return CREW_BAD_TEXT;
    }
    length = (size_t)(colon - text);
    if (length >= sizeof resource) {
        return CREW_BAD_TEXT;
    }
    memcpy(resource, text, length);
    resource[length] = '\0';
    if (crew_resource_parse(resource, &read.resource) != CREW_OK) {
        return CREW_BAD_TEXT;
    }
    text = number(colon + 1, ':', UINT64_MAX, &read.fence);
    text = text != NULL ? number(text, '.', UINT32_MAX, &node) : NULL;
    text = text != NULL ? number(text, '\0', UINT32_MAX, &incarnation) : NULL;
    if (text == NULL) {
        return CREW_BAD_TEXT;
    }
    read.holder.node = (uint32_t)node;
    read.holder.incarnation = (uint32_t)incarnation;
    *lease = read;
    return CREW_OK;
}
