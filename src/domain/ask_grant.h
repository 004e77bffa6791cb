/* What people allow when they allow more than one call: which calls, in which sessions, in one sentence that is shown
 * before. Offers are made of what was seen of the call (domain/call_subject.h), the narrowest first; where nothing was
 * seen there is nothing but "once". Pure. */
#ifndef DOMAIN_ASK_GRANT_H
#define DOMAIN_ASK_GRANT_H

#include "domain/ask.h"

enum { ASK_GRANTS_MAX = 16 };

struct ask_grant {
    struct slice id;         /* "once", or made of the scope and the subject: another subject has another id */
    enum ask_decision scope; /* ONCE, SESSION, ALWAYS */
    struct ask_subject subject;
    struct slice text; /* exactly what will not be asked again */
};

/* The offers of an approval, whatever its state; 0 for other kinds. */
size_t ask_grants(struct arena *arena, const struct ask *ask, struct ask_grant out[ASK_GRANTS_MAX]);
/* The grant that the reply names, or the narrowest of its decision; sets reply->decision. Of a denial, of asks that are
 * not approvals and of a reply that decides nothing: an empty grant. INVALID `grant_not_offered`. */
MUST_CHECK enum status ask_choose_grant(struct arena *arena, const struct ask *ask, struct ask_reply *reply,
                                        struct ask_grant *out, struct failure *failure);
/* Changed arguments are allowed once, or exactly they for longer: no other grant was made of them. */
MUST_CHECK enum status ask_check_edit_of_grant(const struct ask_reply *reply, const struct ask_grant *grant,
                                               struct failure *failure);
/* The same sentence for a rule that stands. */
struct slice ask_rule_text(struct arena *arena, const struct ask_rule *rule);
/* "grants":[{"id","scope","subject","text"}] of an ask that is pending. */
void ask_grants_write(struct json_out *out, const struct ask *ask);
/* {"tool","command","path","host","arguments"}: what is given. */
void ask_subject_write(struct json_out *out, const struct ask_subject *subject);
/* The members command, path and host, as stored. */
void ask_subject_read(struct arena *arena, struct slice stored, struct ask_subject *out);

#endif
