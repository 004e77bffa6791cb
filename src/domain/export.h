/* A conversation as the scaffold of a workflow (`.relavium.yaml`): a chain of one agent node per answered turn, and the
 * whole transcript in its metadata. Pure and deterministic: the same log gives the same document, whenever it is made.
 *
 *     input → turn-1 → turn-2 → … → output
 *
 * A turn is what people said together and all that answered it. It is part of the chain when it came to a final text;
 * one that was not answered, interrupted or failed is in the transcript only. */
#ifndef DOMAIN_EXPORT_H
#define DOMAIN_EXPORT_H

#include "domain/change.h"

enum { EXPORT_ID_BYTES = 65 }; /* a slug and its zero byte */

struct export_source {
    const struct session *session;
    struct slice agent;         /* the frozen definition, a JSON object; absent = none was captured */
    const struct event *events; /* in order, of the types below; others are left out */
    size_t count;
};

/* What a transcript is made of; ends with an absent slice. turn.ended tells which turns came to their end. */
extern const enum event_kind export_event_kinds[];
size_t export_event_kind_count(void);

/* May it be exported now? CONFLICT when it is no conversation (`not_a_conversation`) or a turn is under way
 * (`turn_running`). */
MUST_CHECK enum status export_check(const struct session *session, struct failure *failure);
/* Appends the document as JSON, with every secret replaced and without any signature of reasoning. */
MUST_CHECK enum status export_write(struct arena *arena, const struct export_source *source, struct buffer *to,
                                    struct failure *failure);
/* The workflow's id: the title in kebab-case, ASCII letters and digits only; "exported-session" when nothing is left.
 */
void export_id(struct slice title, char out[EXPORT_ID_BYTES]);
/* session.exported {workflow_id, workflow_path, through, bytes} */
struct exported {
    const char *workflow_id;
    struct slice workflow_path;
    int64_t through; /* the last sequence that is in it */
    int64_t bytes;
};
void change_export(struct arena *arena, const struct exported *exported, struct changes *out);

#endif
