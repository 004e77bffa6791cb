#include "domain/ask_grant.h"
#include "store/seal/seal.h"
#include "store/statement.h"
#include "store/store.h"

enum { ASK_COLUMNS = 24 };

static void read_ask(struct query *query, struct arena *arena, void *item)
{
    struct ask *out = item;
    out->id = column_copy(query, 1, arena);
    out->kind = (enum ask_kind)query_i64(query, 2);
    out->state = (enum ask_state)query_i64(query, 3);
    out->turn = query_i64(query, 4);
    out->tool = column_copy(query, 5, arena);
    out->call_id = column_copy(query, 6, arena);
    out->arguments = column_open(query, 7, arena);
    out->editable = query_i64(query, 8) != 0;
    out->text = column_open(query, 9, arena);
    out->options = column_open(query, 10, arena);
    out->schema = column_open(query, 11, arena);
    out->details = column_open(query, 12, arena);
    out->fields = column_open(query, 13, arena);
    out->role = (enum access_role)query_i64(query, 14);
    out->quorum = query_i64(query, 15);
    out->created_at_ms = query_i64(query, 16);
    out->expires_at_ms = query_i64(query, 17);
    out->decision = (enum ask_decision)query_i64(query, 18);
    out->answer = column_open(query, 19, arena);
    out->reason = column_open(query, 20, arena);
    out->answered_by = column_copy(query, 21, arena);
    out->answered_at_ms = query_i64(query, 22);
    out->votes = column_open(query, 23, arena);
}

enum status store_ask_insert(struct db *db, int64_t tenant_key, int64_t session_key, const struct ask *ask,
                             struct failure *failure)
{
    return statement_run(db, SQL_ASK_INSERT,
                         VALUES(number(tenant_key), number(session_key), text(ask->id), number(ask->kind),
                                number(ask->state), number(ask->turn), text(ask->tool), text(ask->call_id),
                                text(seal_text(db, tenant_key, session_key, ask->arguments)), number(ask->editable),
                                text(seal_text(db, tenant_key, session_key, ask->text)),
                                text(seal_text(db, tenant_key, session_key, ask->options)),
                                text(seal_text(db, tenant_key, session_key, ask->schema)),
                                text(seal_text(db, tenant_key, session_key, ask->details)),
                                text(seal_text(db, tenant_key, session_key, ask->fields)), number(ask->role),
                                number(ask->quorum), number(ask->created_at_ms), number(ask->expires_at_ms),
                                number(ask->decision), text(seal_text(db, tenant_key, session_key, ask->answer)),
                                text(seal_text(db, tenant_key, session_key, ask->reason)), text(ask->answered_by),
                                number(ask->answered_at_ms), text(seal_text(db, tenant_key, session_key, ask->votes))),
                         NULL, failure);
}

enum status store_ask_update(struct db *db, int64_t tenant_key, int64_t session_key, const struct ask *ask,
                             struct failure *failure)
{
    struct query query;
    statement_start(&query, db, SQL_ASK_UPDATE,
                    VALUES(number(tenant_key), number(session_key), text(ask->id), number(ask->state),
                           number(ask->decision), text(seal_text(db, tenant_key, session_key, ask->answer)),
                           text(seal_text(db, tenant_key, session_key, ask->reason)), text(ask->answered_by),
                           number(ask->answered_at_ms), text(seal_text(db, tenant_key, session_key, ask->votes))));
    enum status status = query_run_guarded(&query, failure);
    query_end(&query);
    return status;
}

enum status store_ask_by_id(struct db *db, int64_t tenant_key, int64_t session_key, struct slice id,
                            struct arena *arena, struct ask *out, struct failure *failure)
{
    struct query query;
    enum status status =
        statement_first(&query, db, SQL_ASK_BY_ID, VALUES(number(tenant_key), number(session_key), text(id)), failure);
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
    return statement_rows(db, SQL_ASK_PENDING, VALUES(number(tenant_key), number(session_key)), sizeof **out, read_ask,
                          arena, out, out_count, failure);
}

enum status store_ask_count_pending(struct db *db, int64_t tenant_key, int64_t session_key, int64_t *out,
                                    struct failure *failure)
{
    return statement_number(db, SQL_ASK_COUNT_PENDING, VALUES(number(tenant_key), number(session_key)), 0, out,
                            failure);
}

enum status store_ask_count_of_turn(struct db *db, int64_t tenant_key, int64_t session_key, int64_t turn, int64_t *out,
                                    struct failure *failure)
{
    return statement_number(db, SQL_ASK_COUNT_OF_TURN, VALUES(number(tenant_key), number(session_key), number(turn)), 0,
                            out, failure);
}

/* --- lists --- */

static void read_seen(struct query *query, struct arena *arena, void *item)
{
    struct ask_with_access *out = item;
    read_ask(query, arena, &out->ask);
    out->key = query_i64(query, 0);
    out->session.key = query_i64(query, ASK_COLUMNS);
    out->session.id = column_copy(query, ASK_COLUMNS + 1, arena);
    out->session.owner = column_copy(query, ASK_COLUMNS + 2, arena);
    out->session.visibility = (enum visibility)query_i64(query, ASK_COLUMNS + 3);
    out->session.purpose = (enum purpose)query_i64(query, ASK_COLUMNS + 4);
    out->session.agent = column_copy(query, ASK_COLUMNS + 5, arena);
    out->session.title = column_open(query, ASK_COLUMNS + 6, arena);
    out->session.parent_id = column_copy(query, ASK_COLUMNS + 7, arena);
    out->participant = (enum access_role)query_i64(query, ASK_COLUMNS + 8);
}

enum status store_ask_list(struct db *db, const struct ask_filter *filter, struct arena *arena,
                           struct ask_with_access **out, size_t *out_count, struct failure *failure)
{
    struct value tenant = number(filter->tenant_key), user = text(filter->user_id), limit = number(filter->limit);
    struct value before = number(filter->before ? filter->before : INT64_MAX);
    struct value state = filter->state >= 0 ? number(filter->state) : null_value();
    enum sql of_session = filter->descendants ? SQL_ASK_OF_DESCENDANTS : SQL_ASK_OF_SESSION;
    enum status status =
        filter->session_key == 0
            ? statement_rows(db, SQL_ASK_INBOX,
                             VALUES(tenant, user, before, filter->sees_all ? null_value() : user, limit), sizeof **out,
                             read_seen, arena, out, out_count, failure)
            : statement_rows(db, of_session, VALUES(tenant, user, number(filter->session_key), state, before, limit),
                             sizeof **out, read_seen, arena, out, out_count, failure);
    for (size_t i = 0; status == STATUS_OK && i < *out_count; i++) {
        (*out)[i].session.tenant_key = filter->tenant_key;
    }
    return status;
}

/* --- rules --- */

static void read_rule(struct query *query, struct arena *arena, void *item)
{
    struct ask_rule *out = item;
    out->id = column_copy(query, 0, arena);
    out->tenant_key = query_i64(query, 1);
    out->session_key = query_i64(query, 2);
    out->user_id = column_copy(query, 3, arena);
    out->agent = column_copy(query, 4, arena);
    out->tool = column_copy(query, 5, arena);
    out->arguments = column_open(query, 6, arena);
    out->session_id = column_copy(query, 7, arena);
    out->ask_id = column_copy(query, 8, arena);
    out->created_by = column_copy(query, 9, arena);
    out->created_at_ms = query_i64(query, 10);
    ask_subject_read(arena, column_open(query, 11, arena), &out->subject);
}

enum status store_ask_rule_insert(struct db *db, const struct ask_rule *rule, struct failure *failure)
{
    struct buffer subject = {0};
    struct json_out out = json_out_to(&subject);
    struct ask_subject own = {.command = rule->subject.command, .path = rule->subject.path, .host = rule->subject.host};
    ask_subject_write(&out, &own);
    enum status status = statement_run(
        db, SQL_ASK_RULE_INSERT,
        VALUES(text(rule->id), number(rule->tenant_key), number(rule->session_key), text(rule->user_id),
               text(rule->agent), text(rule->tool),
               text(seal_text(db, rule->tenant_key, rule->session_key, rule->arguments)), text(rule->session_id),
               text(rule->ask_id), text(rule->created_by), number(rule->created_at_ms),
               text(seal_text(db, rule->tenant_key, rule->session_key, buffer_slice(&subject)))),
        NULL, failure);
    buffer_release(&subject);
    return status;
}

enum status store_ask_rule_candidates(struct db *db, int64_t tenant_key, struct slice tool, int64_t session_key,
                                      struct arena *arena, struct ask_rule **out, size_t *out_count,
                                      struct failure *failure)
{
    return statement_rows(db, SQL_ASK_RULE_CANDIDATES, VALUES(number(tenant_key), text(tool), number(session_key)),
                          sizeof **out, read_rule, arena, out, out_count, failure);
}

enum status store_ask_rule_list(struct db *db, int64_t tenant_key, struct arena *arena, struct ask_rule **out,
                                size_t *out_count, struct failure *failure)
{
    return statement_rows(db, SQL_ASK_RULE_LIST, VALUES(number(tenant_key)), sizeof **out, read_rule, arena, out,
                          out_count, failure);
}

enum status store_ask_rule_by_id(struct db *db, int64_t tenant_key, struct slice id, struct arena *arena,
                                 struct ask_rule *out, struct failure *failure)
{
    struct query query;
    enum status status = statement_first(&query, db, SQL_ASK_RULE_BY_ID, VALUES(number(tenant_key), text(id)), failure);
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
    enum status status =
        statement_run(db, SQL_ASK_RULE_DELETE, VALUES(number(tenant_key), text(id)), &changed, failure);
    if (status == STATUS_OK) {
        *out_deleted = changed > 0;
    }
    return status;
}

enum status store_ask_rule_delete_of_session(struct db *db, int64_t tenant_key, int64_t session_key,
                                             struct failure *failure)
{
    return statement_run(db, SQL_SESSION_DELETE_ASK_RULES, VALUES(number(tenant_key), number(session_key)), NULL,
                         failure);
}

enum status store_ask_rule_count(struct db *db, int64_t tenant_key, int64_t *out, struct failure *failure)
{
    return statement_number(db, SQL_ASK_RULE_COUNT, VALUES(number(tenant_key)), 0, out, failure);
}
