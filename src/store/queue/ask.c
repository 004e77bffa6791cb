#include "domain/ask_grant.h"
#include "store/seal/seal.h"
#include "store/statement.h"
#include "store/store.h"

static void read_ask(struct query *query, struct arena *arena, void *item)
{
    struct ask *out = item;
    out->id = column_copy(query, ASK_COLUMN_ID, arena);
    out->kind = (enum ask_kind)query_i64(query, ASK_COLUMN_KIND);
    out->state = (enum ask_state)query_i64(query, ASK_COLUMN_STATE);
    out->turn = query_i64(query, ASK_COLUMN_TURN);
    out->tool = column_copy(query, ASK_COLUMN_TOOL, arena);
    out->call_id = column_copy(query, ASK_COLUMN_CALL_ID, arena);
    out->arguments = column_open(query, ASK_COLUMN_ARGUMENTS, arena);
    out->editable = query_i64(query, ASK_COLUMN_EDITABLE) != 0;
    out->text = column_open(query, ASK_COLUMN_TEXT, arena);
    out->options = column_open(query, ASK_COLUMN_OPTIONS, arena);
    out->schema = column_open(query, ASK_COLUMN_FORM, arena);
    out->details = column_open(query, ASK_COLUMN_DETAILS, arena);
    out->fields = column_open(query, ASK_COLUMN_FIELDS, arena);
    out->role = (enum access_role)query_i64(query, ASK_COLUMN_ROLE);
    out->quorum = query_i64(query, ASK_COLUMN_QUORUM);
    out->created_at_ms = query_i64(query, ASK_COLUMN_CREATED_AT_MS);
    out->expires_at_ms = query_i64(query, ASK_COLUMN_EXPIRES_AT_MS);
    out->decision = (enum ask_decision)query_i64(query, ASK_COLUMN_DECISION);
    out->answer = column_open(query, ASK_COLUMN_ANSWER, arena);
    out->reason = column_open(query, ASK_COLUMN_REASON, arena);
    out->answered_by = column_copy(query, ASK_COLUMN_ANSWERED_BY, arena);
    out->answered_at_ms = query_i64(query, ASK_COLUMN_ANSWERED_AT_MS);
    out->votes = column_open(query, ASK_COLUMN_VOTES, arena);
}

enum status store_ask_insert(struct db *db, int64_t tenant_key, int64_t session_key, const struct ask *ask,
                             struct failure *failure)
{
    return statement_run(
        db,
        sql_ask_insert(.tenant_key = tenant_key, .session_key = session_key, .id = ask->id, .kind = ask->kind,
                       .state = ask->state, .turn = ask->turn, .tool = ask->tool, .call_id = ask->call_id,
                       .arguments = seal_text(db, tenant_key, session_key, ask->arguments), .editable = ask->editable,
                       .text = seal_text(db, tenant_key, session_key, ask->text),
                       .options = seal_text(db, tenant_key, session_key, ask->options),
                       .form = seal_text(db, tenant_key, session_key, ask->schema),
                       .details = seal_text(db, tenant_key, session_key, ask->details),
                       .fields = seal_text(db, tenant_key, session_key, ask->fields), .role = ask->role,
                       .quorum = ask->quorum, .created_at_ms = ask->created_at_ms, .expires_at_ms = ask->expires_at_ms,
                       .decision = ask->decision, .answer = seal_text(db, tenant_key, session_key, ask->answer),
                       .reason = seal_text(db, tenant_key, session_key, ask->reason), .answered_by = ask->answered_by,
                       .answered_at_ms = ask->answered_at_ms,
                       .votes = seal_text(db, tenant_key, session_key, ask->votes)),
        NULL, failure);
}

enum status store_ask_update(struct db *db, int64_t tenant_key, int64_t session_key, const struct ask *ask,
                             struct failure *failure)
{
    struct query query;
    query_start(&query, db,
                sql_ask_update(.tenant_key = tenant_key, .session_key = session_key, .id = ask->id, .state = ask->state,
                               .decision = ask->decision, .answer = seal_text(db, tenant_key, session_key, ask->answer),
                               .reason = seal_text(db, tenant_key, session_key, ask->reason),
                               .answered_by = ask->answered_by, .answered_at_ms = ask->answered_at_ms,
                               .votes = seal_text(db, tenant_key, session_key, ask->votes)));
    enum status status = query_run_guarded(&query, failure);
    query_end(&query);
    return status;
}

enum status store_ask_by_id(struct db *db, int64_t tenant_key, int64_t session_key, struct slice id,
                            struct arena *arena, struct ask *out, struct failure *failure)
{
    struct query query;
    enum status status = statement_first(
        &query, db, sql_ask_by_id(.tenant_key = tenant_key, .session_key = session_key, .id = id), failure);
    if (status != STATUS_OK) {
        return status;
    }
    read_ask(&query, arena, out);
    query_end(&query);
    return seal_check(db, failure);
}

enum status store_ask_pending(struct db *db, int64_t tenant_key, int64_t session_key, struct arena *arena,
                              struct ask **out, size_t *out_count, struct failure *failure)
{
    return statement_rows(db, sql_ask_pending(.tenant_key = tenant_key, .session_key = session_key), sizeof **out,
                          read_ask, arena, out, out_count, failure);
}

enum status store_ask_count_pending(struct db *db, int64_t tenant_key, int64_t session_key, int64_t *out,
                                    struct failure *failure)
{
    return statement_number(db, sql_ask_count_pending(.tenant_key = tenant_key, .session_key = session_key), 0, out,
                            failure);
}

enum status store_ask_count_of_turn(struct db *db, int64_t tenant_key, int64_t session_key, int64_t turn, int64_t *out,
                                    struct failure *failure)
{
    return statement_number(
        db, sql_ask_count_of_turn(.tenant_key = tenant_key, .session_key = session_key, .turn = turn), 0, out, failure);
}

/* --- lists --- */

static void read_seen(struct query *query, struct arena *arena, void *item)
{
    struct ask_with_access *out = item;
    read_ask(query, arena, &out->ask);
    out->key = query_i64(query, ASK_SEEN_COLUMN_KEY);
    out->session.key = query_i64(query, ASK_SEEN_COLUMN_SESSION_KEY);
    out->session.id = column_copy(query, ASK_SEEN_COLUMN_SESSION_ID, arena);
    out->session.owner = column_copy(query, ASK_SEEN_COLUMN_OWNER, arena);
    out->session.visibility = (enum visibility)query_i64(query, ASK_SEEN_COLUMN_VISIBILITY);
    out->session.purpose = (enum purpose)query_i64(query, ASK_SEEN_COLUMN_PURPOSE);
    out->session.agent = column_copy(query, ASK_SEEN_COLUMN_AGENT, arena);
    out->session.title = column_open(query, ASK_SEEN_COLUMN_TITLE, arena);
    out->session.parent_id = column_copy(query, ASK_SEEN_COLUMN_PARENT_ID, arena);
    out->participant = (enum access_role)query_i64(query, ASK_SEEN_COLUMN_PARTICIPANT);
}

enum status store_ask_list(struct db *db, const struct ask_filter *filter, struct arena *arena,
                           struct ask_with_access **out, size_t *out_count, struct failure *failure)
{
    bool has_state = filter->state >= 0;
    int64_t before_key = filter->before ? filter->before : INT64_MAX;
    struct sql_call inbox =
        sql_ask_inbox(.tenant_key = filter->tenant_key, .user_id = filter->user_id, .before_key = before_key,
                      .visible_to = filter->sees_all ? (struct slice){0} : filter->user_id, .limit = filter->limit);
    struct sql_call of_session = sql_ask_of(
        filter->descendants ? SQL_ASK_OF_DESCENDANTS : SQL_ASK_OF_SESSION, .tenant_key = filter->tenant_key,
        .user_id = filter->user_id, .session_key = filter->session_key,
        .wanted_state = optional(filter->state, has_state), .before_key = before_key, .limit = filter->limit);
    enum status status = statement_rows(db, filter->session_key ? of_session : inbox, sizeof **out, read_seen, arena,
                                        out, out_count, failure);
    for (size_t i = 0; status == STATUS_OK && i < *out_count; i++) {
        (*out)[i].session.tenant_key = filter->tenant_key;
    }
    return status;
}

/* --- rules --- */

static void read_rule(struct query *query, struct arena *arena, void *item)
{
    struct ask_rule *out = item;
    out->id = column_copy(query, RULE_COLUMN_ID, arena);
    out->tenant_key = query_i64(query, RULE_COLUMN_TENANT_KEY);
    out->session_key = query_i64(query, RULE_COLUMN_SESSION_KEY);
    out->user_id = column_copy(query, RULE_COLUMN_USER_ID, arena);
    out->agent = column_copy(query, RULE_COLUMN_AGENT, arena);
    out->tool = column_copy(query, RULE_COLUMN_TOOL, arena);
    out->arguments = column_open(query, RULE_COLUMN_ARGUMENTS, arena);
    out->session_id = column_copy(query, RULE_COLUMN_SESSION_ID, arena);
    out->ask_id = column_copy(query, RULE_COLUMN_ASK_ID, arena);
    out->created_by = column_copy(query, RULE_COLUMN_CREATED_BY, arena);
    out->created_at_ms = query_i64(query, RULE_COLUMN_CREATED_AT_MS);
    ask_subject_read(arena, column_open(query, RULE_COLUMN_SUBJECT, arena), &out->subject);
}

enum status store_ask_rule_insert(struct db *db, const struct ask_rule *rule, struct failure *failure)
{
    struct buffer subject = {0};
    struct json_out out = json_out_to(&subject);
    struct ask_subject own = {.command = rule->subject.command, .path = rule->subject.path, .host = rule->subject.host};
    ask_subject_write(&out, &own);
    enum status status = statement_run(
        db,
        sql_ask_rule_insert(.id = rule->id, .tenant_key = rule->tenant_key, .session_key = rule->session_key,
                            .user_id = rule->user_id, .agent = rule->agent, .tool = rule->tool,
                            .arguments = seal_text(db, rule->tenant_key, rule->session_key, rule->arguments),
                            .session_id = rule->session_id, .ask_id = rule->ask_id, .created_by = rule->created_by,
                            .created_at_ms = rule->created_at_ms,
                            .subject = seal_text(db, rule->tenant_key, rule->session_key, buffer_slice(&subject))),
        NULL, failure);
    buffer_release(&subject);
    return status;
}

enum status store_ask_rule_candidates(struct db *db, int64_t tenant_key, struct slice tool, int64_t session_key,
                                      struct arena *arena, struct ask_rule **out, size_t *out_count,
                                      struct failure *failure)
{
    return statement_rows(db,
                          sql_ask_rule_candidates(.tenant_key = tenant_key, .tool = tool, .session_key = session_key),
                          sizeof **out, read_rule, arena, out, out_count, failure);
}

enum status store_ask_rule_list(struct db *db, int64_t tenant_key, struct arena *arena, struct ask_rule **out,
                                size_t *out_count, struct failure *failure)
{
    return statement_rows(db, sql_ask_rule_list(.tenant_key = tenant_key), sizeof **out, read_rule, arena, out,
                          out_count, failure);
}

enum status store_ask_rule_by_id(struct db *db, int64_t tenant_key, struct slice id, struct arena *arena,
                                 struct ask_rule *out, struct failure *failure)
{
    struct query query;
    enum status status = statement_first(&query, db, sql_ask_rule_by_id(.tenant_key = tenant_key, .id = id), failure);
    if (status != STATUS_OK) {
        return status;
    }
    read_rule(&query, arena, out);
    query_end(&query);
    return seal_check(db, failure);
}

enum status store_ask_rule_delete(struct db *db, int64_t tenant_key, struct slice id, bool *out_deleted,
                                  struct failure *failure)
{
    int64_t changed = 0;
    enum status status = statement_run(db, sql_ask_rule_delete(.tenant_key = tenant_key, .id = id), &changed, failure);
    if (status == STATUS_OK) {
        *out_deleted = changed > 0;
    }
    return status;
}

enum status store_ask_rule_delete_of_session(struct db *db, int64_t tenant_key, int64_t session_key,
                                             struct failure *failure)
{
    return statement_run(
        db, sql_session_part(SQL_SESSION_DELETE_ASK_RULES, .tenant_key = tenant_key, .session_key = session_key), NULL,
        failure);
}

enum status store_ask_rule_count(struct db *db, int64_t tenant_key, int64_t *out, struct failure *failure)
{
    return statement_number(db, sql_ask_rule_count(.tenant_key = tenant_key), 0, out, failure);
}
