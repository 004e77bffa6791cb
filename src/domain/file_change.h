/* Files that a session's work changed. Events of type agent.files_changed (whoever runs the turn) and
 * external.files_changed tell {"files": [{path, status, additions, deletions, previous_path}]}; a path alone may stand
 * for its object. The newest that is told of a path is what counts. */
#ifndef DOMAIN_FILE_CHANGE_H
#define DOMAIN_FILE_CHANGE_H

#include "base/json.h"
#include "domain/event_kind.h"
#include "base/status.h"
#include "base/enum_names.h"

enum file_status { FILE_ADDED, FILE_MODIFIED, FILE_DELETED, FILE_RENAMED, FILE_STATUS_COUNT };
extern const struct enum_names file_status_enum;

enum { FILES_PER_EVENT_MAX = 1000, FILE_PATH_BYTES_MAX = 1024 };

struct file_change {
    struct slice path;
    struct slice previous_path; /* absent if not given */
    enum file_status status;
    int64_t additions, deletions; /* lines */
};

bool file_change_is_told_by(enum event_kind kind);
/* Reads one of `files`; INVALID with what is accepted. */
MUST_CHECK enum status file_change_read(const struct json *file, struct file_change *out, struct failure *failure);
/* For the table of event types. */
MUST_CHECK enum status payload_check_files_changed(const struct json *content, const struct json *metadata,
                                                   struct failure *failure);

#endif
