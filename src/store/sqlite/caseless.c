#include "store/sqlite/caseless.h"

#include "base/caseless.h"

static void caseless(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct buffer folded = {0};
    const unsigned char *text = sqlite3_value_text(values[0]);
    (void)count;
    if (!text) {
        sqlite3_result_null(context);
        return;
    }
    caseless_write(&folded, slice_from(text, (size_t)sqlite3_value_bytes(values[0])));
    sqlite3_result_text(context, folded.len ? folded.ptr : "", (int)folded.len, SQLITE_TRANSIENT);
    buffer_release(&folded);
}

int sqlite_add_caseless(sqlite3 *handle)
{
    return sqlite3_create_function(handle, "caseless", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, NULL,
                                   caseless, NULL, NULL);
}
