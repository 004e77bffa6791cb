#include "store/seal/seal.h"
#include "store/statement.h"
#include "store/store.h"

enum status store_tool_call_get(struct db *db, int64_t tenant_key, int64_t session_key, struct slice tool,
                                struct slice call_id, struct arena *arena, struct gateway_call_row *out,
                                struct failure *failure)
{
    struct query query;
    enum status status =
        statement_first(&query, db, SQL_TOOL_CALL_GET,
                        VALUES(number(tenant_key), number(session_key), text(tool), text(call_id)), failure);
    if (status != STATUS_OK) {
        return status;
    }
    *out = (struct gateway_call_row){
        .tenant_key = query_i64(&query, 0),
        .session_key = query_i64(&query, 1),
        .tool = column_copy(&query, 2, arena),
        .call_id = column_copy(&query, 3, arena),
        .arguments_hash = column_copy(&query, 4, arena),
        .state = (enum tool_call_state)query_i64(&query, 5),
        .result = column_open(&query, 6, arena),
        .created_at_ms = query_i64(&query, 7),
        .ended_at_ms = query_i64(&query, 8),
    };
    query_end(&query);
    return seal_check(db, failure);
}

enum status store_tool_call_insert(struct db *db, const struct gateway_call_row *call, struct failure *failure)
{
    return statement_run(db, SQL_TOOL_CALL_INSERT,
                         VALUES(number(call->tenant_key), number(call->session_key), text(call->tool),
                                text(call->call_id), bytes(call->arguments_hash), number(call->state),
                                text(seal_text(db, call->tenant_key, call->session_key, call->result)),
                                number(call->created_at_ms), number(call->ended_at_ms)),
                         NULL, failure);
}

enum status store_tool_call_end(struct db *db, const struct gateway_call_row *call, struct failure *failure)
{
    return statement_run(db, SQL_TOOL_CALL_END,
                         VALUES(number(call->tenant_key), number(call->session_key), text(call->tool),
                                text(call->call_id), number(call->state),
                                text(seal_text(db, call->tenant_key, call->session_key, call->result)),
                                number(call->ended_at_ms)),
                         NULL, failure);
}

enum status store_tool_call_count_running(struct db *db, int64_t tenant_key, int64_t session_key, int64_t since_ms,
                                          int64_t *out, struct failure *failure)
{
    struct query query;
    enum status status = statement_first(&query, db, SQL_TOOL_CALL_COUNT_RUNNING,
                                         VALUES(number(tenant_key), number(session_key), number(since_ms)), failure);
    if (status != STATUS_OK) {
        return status;
    }
    *out = query_i64(&query, 0);
    query_end(&query);
    return STATUS_OK;
}
