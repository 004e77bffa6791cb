#include "store/seal/seal.h"
#include "store/statement.h"
#include "store/store.h"

enum status store_driver_state_put(struct db *db, int64_t tenant_key, int64_t session_key, struct slice json,
                                   struct failure *failure)
{
    return statement_run(db,
                         sql_kept_put(.tenant_key = tenant_key, .session_key = session_key,
                                      .body = seal_text(db, tenant_key, session_key, json)),
                         NULL, failure);
}

enum status store_driver_state_get(struct db *db, int64_t tenant_key, int64_t session_key, struct arena *arena,
                                   struct slice *out, struct failure *failure)
{
    struct query query;
    enum status status =
        statement_first(&query, db, sql_kept_get(.tenant_key = tenant_key, .session_key = session_key), failure);
    if (status != STATUS_OK) {
        return status;
    }
    *out = column_open(&query, KEPT_GET_COLUMN_BODY, arena);
    query_end(&query);
    return seal_check(db, failure);
}
