/* Files of a session that somebody adds. */
#ifndef SERVICE_FILE_H
#define SERVICE_FILE_H

#include "service/session/session.h"

/* Reader: checks the size, sets the checksum, and brings the content to disk; access is checked when it is added. */
MUST_CHECK enum status file_prepare(struct call *call, struct slice session_id, struct blob *file);
/* Writer: the session refers to it (`session.file_added`); *out_new is false when it did already, and *file is then as
 * it was. */
MUST_CHECK enum status file_add(struct call *call, struct slice session_id, struct blob *file, bool *out_new);

#endif
