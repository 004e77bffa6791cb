/* An ask: something a turn wants to know from a person. An approval of a tool call, a question, a form. A durable row
 * with a deadline: answered exactly once, offered to every viewer, still there after a restart.
 *
 *     pending ─→ answered    a person's (or a standing rule's) decision
 *        ├─────→ expired     not answered in time: the turn gets a denial
 *        └─────→ cancelled   the answer is no longer needed
 */
#ifndef DOMAIN_ASK_H
#define DOMAIN_ASK_H

#include "base/arena.h"
#include "base/json.h"
#include "base/status.h"
#include "base/enum_names.h"
#include "domain/access.h"
#include "domain/change.h"

enum ask_kind { ASK_APPROVAL, ASK_QUESTION, ASK_ELICITATION, ASK_KIND_COUNT };
enum ask_state { ASK_PENDING, ASK_ANSWERED, ASK_EXPIRED, ASK_CANCELLED, ASK_STATE_COUNT };
enum ask_decision { DECISION_NONE, DECISION_ONCE, DECISION_SESSION, DECISION_ALWAYS, DECISION_DENY, DECISION_COUNT };

extern const struct enum_names ask_kind_enum, ask_state_enum;
extern const struct enum_names ask_decision_enum; /* index 0 is "" */
/* What can be chosen: the decisions without DECISION_NONE, so index 0 is DECISION_ONCE; those that allow; the states
 * with "all" behind them. */
extern const struct enum_names ask_choice_enum, ask_allow_enum, ask_state_filter_enum;

/* Forms are checked on the writer, member against member: both sides are kept small. */
enum { ASK_SCHEMA_BYTES_MAX = 32 * 1024, ASK_FORM_BYTES_MAX = 64 * 1024 };
enum { ASK_ID_BYTES_MAX = 200, ASK_TEXT_CHARS_MAX = 4000, ASK_OPTIONS_MAX = 100, ASK_QUORUM_MAX = 100 };

struct ask {
    struct slice id;
    enum ask_kind kind;
    enum ask_state state;
    int64_t turn;                         /* fence of the turn that asks; 0 = none */
    struct slice tool;                    /* approval: of which tool; absent = of what `arguments` hold as output */
    struct slice call_id;                 /* approval: of which call */
    struct slice arguments;               /* approval: JSON object, as staged */
    bool editable;                        /* approval: may the arguments be changed by who approves? */
    struct slice text;                    /* one line for people: what is asked */
    struct slice options;                 /* question: JSON array of strings; absent = free text */
    struct slice schema;                  /* elicitation: JSON Schema of the form */
    struct slice details;                 /* JSON object for people: action, risk, integration, preview, … */
    struct slice fields;                  /* driver's own JSON, not shown */
    enum access_role role;                /* who may answer: at least this */
    int64_t quorum;                       /* approvals needed; 1 */
    int64_t created_at_ms, expires_at_ms; /* wall; 0 = never */
    /* once answered */
    enum ask_decision decision;
    struct slice answer;      /* JSON: edited arguments, the chosen option, the form, or absent */
    struct slice reason;      /* of a denial, or why it was cancelled */
    struct slice answered_by; /* actor */
    int64_t answered_at_ms;
    struct slice votes; /* JSON array of {"by","decision","at"} while the quorum is not reached */
};

/* What a person says to an ask. */
struct ask_reply {
    enum ask_decision decision; /* NONE together with an answer stands for ONCE */
    const struct json *answer;  /* NULL = none */
    struct slice reason;
    struct slice grant; /* id of the one that is given (domain/ask_grant.h); absent = the narrowest */
    struct slice by;    /* actor */
    struct slice voter; /* the person behind the actor: counts once, whatever token speaks */
};

/* What a grant is about; absent = anything. Patterns as in rules of agents. */
struct ask_subject {
    struct slice tool, command, path, host;
    struct slice arguments; /* JSON object: only with equal ones */
};

/* A rule: a saved decision that approves calls of a tool. */
struct ask_rule {
    struct slice id;
    int64_t tenant_key;
    int64_t session_key;             /* holds in this session; 0 = in all */
    struct slice user_id;            /* holds in sessions of this owner; absent = of everybody */
    struct slice agent;              /* holds for this agent */
    struct slice tool;               /* and this tool; empty = any */
    struct slice arguments;          /* JSON object: only with equal arguments; absent = any */
    struct ask_subject subject;      /* command, path, host */
    struct slice session_id, ask_id; /* what it was decided on */
    struct slice created_by;
    int64_t created_at_ms;
};

/* Is it a complete ask? `bytes_max` bounds each JSON part. The schema of a form is not looked into. */
MUST_CHECK enum status ask_check(struct arena *arena, const struct ask *ask, size_t bytes_max, struct failure *failure);
/* Deep copy. */
void ask_copy(struct ask *to, const struct ask *from, struct arena *arena);
/* What became of an ask, from the metadata of its ask.answered, ask.expired or ask.cancelled: id, kind, state, turn,
 * decision, answer, reason. Its strings are the event's. */
void ask_of_event(enum event_kind event_kind, const struct json *metadata, struct ask *out);
/* Does the same ask stand there already? (A repeated request, not another ask with the same id.) */
bool ask_repeats(struct arena *arena, const struct ask *stored, const struct ask *ask);
/* Is it the same question to the same people, whichever turn and call it belongs to? Compared by what it means, with
 * all that was shown; an approval of a call of which nothing was seen is never the same. */
bool ask_is_same(struct arena *arena, const struct ask *stored, const struct ask *ask);
/* An approval of a result, not of a tool call. */
bool ask_is_of_output(const struct ask *ask);

/* May who answer asks of this kind? NOT for those who run sessions; `holds_lease` is one of them. Access to the session
 * was checked before; `role` is what the caller is in it. */
MUST_CHECK enum status ask_check_person(const struct principal *who, enum access_role role, bool holds_lease,
                                        const struct ask *ask, struct failure *failure);
/* Does the reply fit the ask? Decisions, options, edited arguments; a form is checked against its schema elsewhere. */
MUST_CHECK enum status ask_check_reply(struct arena *arena, const struct ask *ask, const struct ask_reply *reply,
                                       struct failure *failure);
/* Is it what was answered, by the same one? */
bool ask_reply_repeats(struct arena *arena, const struct ask *ask, const struct ask_reply *reply);
/* What the reply does to a pending ask it fits: VOTED while the quorum is not reached, REPEATED when the voter voted
 * before. The ask is changed accordingly; its new strings live in the arena. */
enum ask_effect { ASK_WAS_ANSWERED, ASK_WAS_VOTED, ASK_WAS_REPEATED };
MUST_CHECK enum status ask_apply(struct arena *arena, struct ask *ask, const struct ask_reply *reply, int64_t now_ms,
                                 enum ask_effect *out, struct failure *failure);
/* CONFLICT `ask_not_pending`, with its state. */
enum status ask_not_pending(const struct ask *ask, struct failure *failure);

bool ask_rule_matches(struct arena *arena, const struct ask_rule *rule, const struct session *session,
                      const struct ask *ask);

/* The state in which a session waits for these (at least one), and a line that says for what. */
/* Does it ask to go on beyond a cap on cost? Until it is allowed, no other turn starts. */
bool ask_is_budget(const struct ask *ask);
enum session_status ask_waits_in(const struct ask *pending, size_t count);
struct slice ask_reason(struct arena *arena, const struct ask *pending, size_t count);

/* Events; each adds to `out`. ask.requested {id, kind, turn, ask}, ask.voted {id, …, by, decision, votes, quorum},
 * ask.answered {id, kind, turn, tool, call_id, decision, answer, reason, by}, ask.expired, ask.cancelled {…, reason}.
 * ask.resumed {id, kind, turn, as, call_id}: another attempt at the turn asked the same and got the answer nobody
 * heard. An answered approval of output adds user.output_approval. */
void change_ask_requested(struct arena *arena, const struct ask *ask, struct changes *out);
void change_ask_voted(struct arena *arena, const struct ask *ask, const struct ask_reply *reply, struct changes *out);
void change_ask_resumed(struct arena *arena, const struct ask *ask, const struct ask *as, struct changes *out);
void change_ask_over(struct arena *arena, const struct ask *ask, struct changes *out);

/* The ask as people see it: everything but `fields`. What is absent is left out. */
void ask_write(struct json_out *out, const struct ask *ask);
void ask_write_members(struct json_out *out, const struct ask *ask);
void ask_rule_write(struct json_out *out, const struct ask_rule *rule);

#endif
