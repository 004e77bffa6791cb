#include "store/sqlite/tail.h"

#include "store/sqlite/connection.h"
#include "store/statement.h"

/* --- encoding --- */

static size_t varint_write(char *out, uint64_t value)
{
    size_t len = 0;
    for (; value >= 0x80; value >>= 7) {
        out[len++] = (char)(value | 0x80);
    }
    out[len++] = (char)value;
    return len;
}

static bool varint_read(struct slice bytes, size_t *at, uint64_t *out)
{
    uint64_t value = 0;
    for (unsigned shift = 0; *at < bytes.len && shift < 64; shift += 7) {
        unsigned char byte = (unsigned char)bytes.ptr[(*at)++];
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *out = value;
            return true;
        }
    }
    return false;
}

bool position_next(struct slice bytes, size_t *at, int64_t *position)
{
    uint64_t code = 0;
    if (!varint_read(bytes, at, &code)) {
        return false;
    }
    *position = code & 1 ? (int64_t)(code >> 1) : *position + (int64_t)(code >> 1);
    return true;
}

/* --- slots --- */

static struct tail *slot_of(struct sqlite_db *self, int64_t session_key)
{
    uint64_t mixed = (uint64_t)session_key * 0x9e3779b97f4a7c15u;
    return &self->tails.slots[mixed >> 54 & (TAIL_SLOTS - 1)];
}

static void mark_dirty(struct sqlite_db *self, struct tail *tail)
{
    tail->dirty = true;
    if (!tail->listed) {
        self->tails.dirty[self->tails.dirty_count++] = (uint16_t)(tail - self->tails.slots);
    }
    tail->listed = true;
}

void tail_written(struct tail *tail)
{
    tail->dirty = tail->replaces = false;
    tail->len = 0;
}

struct tail *tail_pending(struct sqlite_db *self, int64_t session_key)
{
    struct tail *tail = slot_of(self, session_key);
    return tail->session_key == session_key && tail->dirty ? tail : NULL;
}

static enum status run_for_one_row(struct sqlite_db *self, struct sql_call call, struct failure *failure)
{
    int64_t changed = 0;
    enum status status = statement_run(&self->base, call, &changed, failure);
    if (status == STATUS_OK && changed != 1) {
        return failure_set(failure, STATUS_INTERNAL, "session_missing",
                           "An event was written for a session that is not there.");
    }
    return status;
}

static enum status write_tail(struct sqlite_db *self, struct tail *tail, struct failure *failure)
{
    enum status status =
        run_for_one_row(self,
                        sql_event_tail_write(.session_key = tail->session_key,
                                             .tail = slice_from(tail->bytes, tail->len), .replaces = tail->replaces),
                        failure);
    if (status == STATUS_OK) {
        tail_written(tail);
    }
    return status;
}

static enum status write_chunk(struct sqlite_db *self, struct tail *tail, struct failure *failure)
{
    enum status status = run_for_one_row(
        self,
        sql_event_chunk_write(.session_key = tail->session_key, .tail = slice_from(tail->bytes, tail->len),
                              .replaces = tail->replaces, .chunk = (tail->sequence - 1) / EVENTS_PER_CHUNK),
        failure);
    tail->replaces = true;
    tail->len = 0;
    return status;
}

/* A slot belongs to one session at a time; who is in it is written out first. */
static enum status take_slot(struct sqlite_db *self, int64_t session_key, struct tail **out, struct failure *failure)
{
    struct tail *tail = slot_of(self, session_key);
    *out = tail;
    if (tail->session_key == session_key) {
        return STATUS_OK;
    }
    enum status status = tail->dirty ? write_tail(self, tail, failure) : STATUS_OK;
    *tail = (struct tail){.session_key = session_key, .listed = tail->listed};
    return status;
}

/* --- blocks --- */

static enum status note_block(struct sqlite_db *self, int64_t tenant_key, struct failure *failure)
{
    int64_t block = self->tails.last_position >> EVENTS_PER_BLOCK_BITS;
    size_t slot = (size_t)tenant_key % (sizeof self->tails.blocks / sizeof self->tails.blocks[0]);
    if (self->tails.blocks[slot].tenant_key == tenant_key && self->tails.blocks[slot].block == block) {
        return STATUS_OK;
    }
    self->tails.blocks[slot].tenant_key = tenant_key;
    self->tails.blocks[slot].block = block;
    return statement_run(&self->base, sql_event_block_insert(.tenant_key = tenant_key, .block = block), NULL, failure);
}

enum status tail_add(struct sqlite_db *self, int64_t tenant_key, int64_t session_key, int64_t sequence,
                     struct failure *failure)
{
    struct tail *tail = NULL;
    int64_t position = self->tails.last_position;
    self->tails.changed = true;
    enum status status = take_slot(self, session_key, &tail, failure);
    if (status == STATUS_OK && tail->len > TAIL_BYTES - VARINT_BYTES_MAX) {
        status = write_tail(self, tail, failure);
    }
    if (status != STATUS_OK) {
        return status;
    }
    bool begins = sequence % EVENTS_PER_CHUNK == 1;
    bool continues = !begins && tail->sequence + 1 == sequence && tail->position > 0;
    uint64_t code = continues ? (uint64_t)(position - tail->position) << 1 : (uint64_t)position << 1 | 1;
    tail->len = (uint8_t)(tail->len + varint_write(tail->bytes + tail->len, code));
    tail->sequence = sequence;
    tail->position = position;
    mark_dirty(self, tail);
    if (sequence % EVENTS_PER_CHUNK == 0) {
        status = write_chunk(self, tail, failure);
    }
    return status != STATUS_OK ? status : note_block(self, tenant_key, failure);
}

enum status tails_flush(struct sqlite_db *self, struct failure *failure)
{
    int64_t writes = self->base.writes;
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < self->tails.dirty_count; i++) {
        struct tail *tail = &self->tails.slots[self->tails.dirty[i]];
        status = tail->dirty ? write_tail(self, tail, failure) : STATUS_OK;
        tail->listed = false;
    }
    if (status == STATUS_OK) {
        self->tails.dirty_count = 0;
    }
    self->base.writes = writes; /* counted with the events; a query may have come to this */
    return status;
}

enum status tail_delete_events(struct sqlite_db *self, int64_t tenant_key, int64_t session_key, struct failure *failure)
{
    struct tail *tail = slot_of(self, session_key);
    self->tails.changed = true;
    self->tails.last_position++; /* where the firehose tells of it */
    enum status status = tails_flush(self, failure);
    if (tail->session_key == session_key) {
        *tail = (struct tail){0};
    }
    if (status == STATUS_OK) {
        status = statement_run(&self->base, sql_event_delete_all(.tenant_key = tenant_key, .session_key = session_key),
                               NULL, failure);
    }
    if (status == STATUS_OK) {
        status = statement_run(&self->base, sql_event_chunks_delete(.session_key = session_key), NULL, failure);
    }
    if (status == STATUS_OK) {
        status =
            statement_run(&self->base, sql_event_position_keep(.position = self->tails.last_position), NULL, failure);
    }
    return status;
}

void tails_keep(struct sqlite_db *self)
{
    self->tails.changed = false;
}

void tails_forget(struct sqlite_db *self)
{
    if (!self->tails.changed) {
        return;
    }
    int64_t last_position = self->tails.last_position;
    memset(&self->tails, 0, sizeof self->tails);
    self->tails.last_position = last_position;
}
