#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>

static const struct {
    const char *name;
    int http;
} status_table[STATUS_COUNT] = {
    [STATUS_OK] = {"ok", 200},
    [STATUS_INVALID] = {"invalid", 400},
    [STATUS_UNAUTHENTICATED] = {"unauthenticated", 401},
    [STATUS_FORBIDDEN] = {"forbidden", 403},
    [STATUS_NOT_FOUND] = {"not_found", 404},
    [STATUS_NOT_ALLOWED] = {"method_not_allowed", 405},
    [STATUS_CONFLICT] = {"conflict", 409},
    [STATUS_STALE] = {"stale", 409},
    [STATUS_GONE] = {"gone", 410},
    [STATUS_TOO_LARGE] = {"too_large", 413},
    [STATUS_TOO_COSTLY] = {"too_costly", 422},
    [STATUS_UNSUPPORTED] = {"unsupported", 415},
    [STATUS_LIMITED] = {"limited", 429},
    [STATUS_UNAVAILABLE] = {"unavailable", 503},
    [STATUS_UNCERTAIN] = {"uncertain", 503},
    [STATUS_BAD_GATEWAY] = {"bad_gateway", 502},
    [STATUS_TIMEOUT] = {"timeout", 504},
    [STATUS_INTERNAL] = {"internal", 500},
};

enum status failure_set(struct failure *failure, enum status status, const char *code, const char *format, ...)
{
    if (failure) {
        *failure = (struct failure){.status = status};
        snprintf(failure->code, sizeof failure->code, "%s", code);
        va_list args;
        va_start(args, format);
        vsnprintf(failure->detail, sizeof failure->detail, format, args);
        va_end(args);
    }
    return status;
}

void failure_members(struct failure *failure, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int len = vsnprintf(failure->members, sizeof failure->members, format, args);
    va_end(args);
    if (len < 0 || (size_t)len >= sizeof failure->members) {
        failure->members[0] = '\0'; /* half a JSON member is worse than none */
    }
}

const char *status_name(enum status status)
{
    return status_table[status].name;
}

int status_http(enum status status)
{
    return status_table[status].http;
}
