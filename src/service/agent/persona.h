/* Personas: named prompts that a session can be started with, private to their owner or shared in the tenant. And what
 * a user wants of his new sessions. */
#ifndef SERVICE_PERSONA_H
#define SERVICE_PERSONA_H

#include "service/core/transaction.h"

struct persona_request {
    struct slice id; /* absent = a new one is made up */
    struct slice name, prompt;
    int shared; /* -1 = not told */
};

/* Writer. Makes one, or changes the caller's own (an admin changes shared ones too); absent members stay. CONFLICT
 * `id_taken` where another's stands: nobody learns whose. */
MUST_CHECK enum status persona_put(struct call *call, const struct persona_request *request, bool create,
                                   struct persona *out);
MUST_CHECK enum status persona_delete(struct call *call, struct slice id);
/* Reader or writer. NOT_FOUND `persona_not_found` for what the caller may not use, whether it is there or not. */
MUST_CHECK enum status persona_find(struct call *call, struct slice id, struct persona *out);

/* Writer. The caller's own; members that are not told stay. */
MUST_CHECK enum status preferences_update(struct call *call, const struct preferences *told, struct preferences *out);
MUST_CHECK enum status preferences_of(struct call *call, struct preferences *out);

/* Reader. The caller's own and the shared ones, those behind `after` (absent = from the first). */
MUST_CHECK enum status persona_list(struct call *call, struct slice after, int64_t limit, struct persona **out,
                                    size_t *out_count);

#endif
