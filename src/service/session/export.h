/* A conversation handed out as the scaffold of a workflow (domain/export.h), in YAML. */
#ifndef SERVICE_EXPORT_H
#define SERVICE_EXPORT_H

#include "domain/export.h"
#include "service/session/session.h"

struct export_document {
    char workflow_id[EXPORT_ID_BYTES];
    struct slice yaml;
    int64_t through; /* the last event that is in it */
};

/* Reader. Makes the document, in the call's arena; changes nothing. TOO_LARGE (`export_too_large`) beyond the option.
 */
MUST_CHECK enum status export_make(struct call *call, struct slice session_id, struct export_document *out);
/* Writer. Notes that the document was handed out, to be kept as `path`; the session is exported from now on. */
MUST_CHECK enum status export_note(struct call *call, struct slice session_id, const struct export_document *document,
                                   struct slice path, int64_t *out_sequence);

#endif
