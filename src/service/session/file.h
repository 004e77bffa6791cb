/* Files of a session that somebody adds. */
#ifndef SERVICE_FILE_H
#define SERVICE_FILE_H

#include "service/session/session.h"

/* Reader: checks the size, sets the checksum, and brings the content to disk; access is checked when it is added. */
MUST_CHECK enum status file_prepare(struct call *call, struct slice session_id, struct blob *file);
/* Writer: the session refers to it (`session.file_added`); *out_new is false when it did already, and *file is then as
 * it was. */
MUST_CHECK enum status file_add(struct call *call, struct slice session_id, struct blob *file, bool *out_new);

/* Reader. The files of a session, oldest first. */
MUST_CHECK enum status file_list(struct call *call, struct slice session_id, int64_t limit, struct blob **out,
                                 size_t *out_count);
/* Reader. One of them with its content, by its handle. */
MUST_CHECK enum status file_read(struct call *call, struct slice session_id, struct slice handle, struct blob *out);
/* The name of a file in the API. */
struct slice file_handle(const struct blob *file, struct arena *arena);
/* Reader. What the work changed in its workspace, by path, behind `after` (absent = from the first). */
MUST_CHECK enum status file_change_list(struct call *call, struct slice session_id, struct slice after, int64_t limit,
                                        struct changed_file **out, size_t *out_count);

#endif
