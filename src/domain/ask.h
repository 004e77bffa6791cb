/* An ask: something a turn wants to know from a person. An approval of a tool call, a question, a form. A durable row
 * with a deadline: answered exactly once, offered to every viewer, still there after a restart. */
#ifndef DOMAIN_ASK_H
#define DOMAIN_ASK_H

#include "base/arena.h"
#include "base/json.h"
#include "base/status.h"
#include "base/words.h"
#include "domain/access.h"

enum ask_kind { ASK_APPROVAL, ASK_QUESTION, ASK_ELICITATION, ASK_KIND_COUNT };
enum ask_state { ASK_PENDING, ASK_ANSWERED, ASK_EXPIRED, ASK_CANCELLED, ASK_STATE_COUNT };
enum ask_decision { DECISION_NONE, DECISION_ONCE, DECISION_SESSION, DECISION_ALWAYS, DECISION_DENY, DECISION_COUNT };

extern const struct words ask_kind_words, ask_state_words;
extern const struct words ask_decision_words; /* index 0 is "" */

struct ask {
    struct slice id;
    enum ask_kind kind;
    enum ask_state state;
    int64_t turn;                         /* fence of the turn that asks; 0 = none */
    struct slice tool;                    /* approval: of which tool */
    struct slice call_id;                 /* approval: of which call */
    struct slice arguments;               /* approval: JSON object, as staged */
    struct slice text;                    /* one line for people: what is asked */
    struct slice options;                 /* question: JSON array of strings; absent = free text */
    struct slice schema;                  /* elicitation: JSON Schema of the form */
    struct slice fields;                  /* driver's own JSON, not shown */
    enum access_role role;                /* who may answer: at least this */
    int64_t quorum;                       /* approvals needed; 1 */
    int64_t created_at_ms, expires_at_ms; /* wall; 0 = never */
    /* once answered */
    enum ask_decision decision;
    struct slice answer;      /* JSON: edited arguments, the chosen option, the form, or absent */
    struct slice reason;      /* of a denial */
    struct slice answered_by; /* actor */
    int64_t answered_at_ms;
    struct slice votes; /* JSON array of {"by","decision","at"} while the quorum is not reached */
};

/* Events: ask.requested {ask}, ask.voted, ask.answered {id, kind, turn, decision, answer, reason}, ask.expired {id},
 * ask.cancelled {id, reason}. */

#endif
