/* What went wrong, in the caller's words. errno, SQLite codes and SQLSTATE stop at the room that met them. */
#ifndef BASE_STATUS_H
#define BASE_STATUS_H

#include "base/slice.h"

#define MUST_CHECK __attribute__((warn_unused_result))

enum status {
    STATUS_OK = 0,
    STATUS_INVALID,         /* the request is wrong; nothing changed */
    STATUS_UNAUTHENTICATED, /* no or bad credentials */
    STATUS_FORBIDDEN,       /* the caller may know the thing but not do this */
    STATUS_NOT_FOUND,       /* unknown, or not for the caller: the same answer */
    STATUS_NOT_ALLOWED,     /* the method does not exist on this path */
    STATUS_CONFLICT,        /* the state does not allow it */
    STATUS_STALE,           /* a precondition (If-Sequence, lease) no longer holds */
    STATUS_GONE,            /* it was there and is over */
    STATUS_TOO_LARGE,       /* a limit on size */
    STATUS_TOO_COSTLY,      /* a limit on work */
    STATUS_UNSUPPORTED,     /* media type or feature not offered */
    STATUS_LIMITED,         /* a limit on rate or number; retry later */
    STATUS_UNAVAILABLE,     /* temporary; nothing was acknowledged */
    STATUS_UNCERTAIN,       /* temporary, but it may have been done: look before trying again */
    STATUS_BAD_GATEWAY,     /* another server, asked on behalf of the caller, failed */
    STATUS_TIMEOUT,         /* the wait ended before the result */
    STATUS_INTERNAL,        /* our fault */
    STATUS_COUNT
};

/* Text for people and a stable code for programs. `members` holds further JSON members of the problem document
 * (`"limit":10,"active_count":10`), empty when there are none. */
struct failure {
    enum status status;
    char code[48];
    char detail[1000];
    char members[400];
    int retry_after_s; /* 0 = say nothing */
};

/* Fills `failure` (which may be NULL) and returns `status`. */
enum status failure_set(struct failure *failure, enum status status, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void failure_members(struct failure *failure, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *status_name(enum status status);
int status_http(enum status status);

#endif
