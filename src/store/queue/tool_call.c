#include "store/seal/seal.h"
#include "store/statement.h"
#include "store/store.h"

enum status store_tool_call_get(struct db *db, int64_t tenant_key, int64_t session_key, struct slice tool,
                                struct slice call_id, struct arena *arena, struct gateway_call_row *out,
                                struct failure *failure)
{
    struct query query;
    enum status status = statement_first(
        &query, db,
        sql_tool_call_get(.tenant_key = tenant_key, .session_key = session_key, .tool = tool, .call_id = call_id),
        failure);
    if (status != STATUS_OK) {
        return status;
    }
    *out = (struct gateway_call_row){
        .tenant_key = query_i64(&query, TOOL_CALL_COLUMN_TENANT_KEY),
        .session_key = query_i64(&query, TOOL_CALL_COLUMN_SESSION_KEY),
        .tool = column_copy(&query, TOOL_CALL_COLUMN_TOOL, arena),
        .call_id = column_copy(&query, TOOL_CALL_COLUMN_CALL_ID, arena),
        .arguments_hash = column_copy(&query, TOOL_CALL_COLUMN_ARGUMENTS_HASH, arena),
        .state = (enum tool_call_state)query_i64(&query, TOOL_CALL_COLUMN_STATE),
        .result = column_open(&query, TOOL_CALL_COLUMN_RESULT, arena),
        .created_at_ms = query_i64(&query, TOOL_CALL_COLUMN_CREATED_AT_MS),
        .ended_at_ms = query_i64(&query, TOOL_CALL_COLUMN_ENDED_AT_MS),
    };
    query_end(&query);
    return seal_check(db, failure);
}

enum status store_tool_call_insert(struct db *db, const struct gateway_call_row *call, struct failure *failure)
{
    return statement_run(
        db,
        sql_tool_call_insert(.tenant_key = call->tenant_key, .session_key = call->session_key, .tool = call->tool,
                             .call_id = call->call_id, .arguments_hash = call->arguments_hash, .state = call->state,
                             .result = seal_text(db, call->tenant_key, call->session_key, call->result),
                             .created_at_ms = call->created_at_ms, .ended_at_ms = call->ended_at_ms),
        NULL, failure);
}

enum status store_tool_call_end(struct db *db, const struct gateway_call_row *call, struct failure *failure)
{
    return statement_run(db,
                         sql_tool_call_end(.tenant_key = call->tenant_key, .session_key = call->session_key,
                                           .tool = call->tool, .call_id = call->call_id, .state = call->state,
                                           .result = seal_text(db, call->tenant_key, call->session_key, call->result),
                                           .ended_at_ms = call->ended_at_ms),
                         NULL, failure);
}

enum status store_tool_call_count_running(struct db *db, int64_t tenant_key, int64_t session_key, int64_t since_ms,
                                          int64_t *out, struct failure *failure)
{
    return statement_number(
        db, sql_tool_call_count_running(.tenant_key = tenant_key, .session_key = session_key, .since_ms = since_ms), 0,
        out, failure);
}
