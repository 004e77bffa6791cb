#include "wire/websocket.h"

#include <openssl/evp.h>

#include "base/arena.h"
#include "wire/base64.h"

enum { SHA1_BYTES = 20, KEY_BYTES = 16, FRAME_HEADER_MAX = 14 };

static bool list_has(struct slice list, struct slice wanted, bool (*equal)(struct slice, struct slice))
{
    struct slice one;
    while (list.len > 0) {
        slice_cut(list, ',', &one, &list);
        if (equal(slice_trim(one), wanted)) {
            return true;
        }
    }
    return false;
}

static bool eq_exact(struct slice a, struct slice b)
{
    return slice_eq(a, b);
}

static bool key_is_valid(struct slice key)
{
    struct arena arena = {0};
    struct slice bytes;
    bool valid = key.len == BASE64_ROOM(KEY_BYTES) && base64_decode(&arena, key, BASE64_STANDARD, &bytes) &&
                 bytes.len == KEY_BYTES;
    arena_release(&arena);
    return valid;
}

static void make_accept(struct slice key, char out[WEBSOCKET_ACCEPT_TEXT_BYTES])
{
    static const char suffix[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    char text[BASE64_ROOM(KEY_BYTES) + sizeof suffix - 1];
    unsigned char digest[SHA1_BYTES];
    memcpy(text, key.ptr, BASE64_ROOM(KEY_BYTES));
    memcpy(text + BASE64_ROOM(KEY_BYTES), suffix, sizeof suffix - 1);
    if (EVP_Digest(text, sizeof text, digest, NULL, EVP_sha1(), NULL) != 1) {
        memset(digest, 0, sizeof digest); /* a crypto library without SHA-1: the client will refuse the answer */
    }
    size_t len = base64_encode_to(out, slice_from(digest, sizeof digest), BASE64_STANDARD);
    out[len] = '\0';
}

enum status websocket_handshake(const struct websocket_offer *offer, const char *const *protocols,
                                struct websocket_answer *out, struct failure *failure)
{
    if (!list_has(offer->upgrade, SLICE("websocket"), slice_eq_nocase) ||
        !list_has(offer->connection, SLICE("upgrade"), slice_eq_nocase)) {
        return failure_set(failure, STATUS_INVALID, "websocket_expected",
                           "This path speaks WebSocket: send Upgrade: websocket and Connection: Upgrade.");
    }
    if (!slice_is(offer->version, "13")) {
        return failure_set(failure, STATUS_INVALID, "websocket_version", "Sec-WebSocket-Version must be 13.");
    }
    if (!key_is_valid(offer->key)) {
        return failure_set(failure, STATUS_INVALID, "websocket_key",
                           "Sec-WebSocket-Key must be the base64 of 16 random bytes.");
    }
    make_accept(offer->key, out->accept);
    out->protocol = NULL;
    for (const char *const *one = protocols; one && *one && !out->protocol; one++) {
        out->protocol = list_has(offer->protocols, slice_of(*one), eq_exact) ? *one : NULL;
    }
    return STATUS_OK;
}

static size_t put_header(unsigned char *to, enum websocket_opcode opcode, size_t len)
{
    to[0] = (unsigned char)(0x80 | opcode);
    if (len < 126) {
        to[1] = (unsigned char)len;
        return 2;
    }
    size_t bytes = len <= 0xFFFF ? 2 : 8;
    to[1] = bytes == 2 ? 126 : 127;
    for (size_t i = 0; i < bytes; i++) {
        to[2 + i] = (unsigned char)((uint64_t)len >> (8 * (bytes - 1 - i)));
    }
    return 2 + bytes;
}

void websocket_write(struct buffer *buffer, enum websocket_opcode opcode, struct slice payload)
{
    unsigned char header[FRAME_HEADER_MAX];
    size_t len = put_header(header, opcode, payload.len);
    buffer_reserve(buffer, len + payload.len);
    buffer_add(buffer, slice_from(header, len));
    buffer_add(buffer, payload);
}

void websocket_write_masked(struct buffer *buffer, struct id_source *ids, enum websocket_opcode opcode,
                            struct slice payload)
{
    unsigned char header[FRAME_HEADER_MAX];
    size_t len = put_header(header, opcode, payload.len);
    unsigned char *mask = header + len;
    header[1] |= 0x80;
    ids->fill(ids, mask, 4);
    buffer_reserve(buffer, len + 4 + payload.len);
    buffer_add(buffer, slice_from(header, len + 4));
    for (size_t i = 0; i < payload.len; i++) {
        buffer->ptr[buffer->len++] = (char)((unsigned char)payload.ptr[i] ^ mask[i % 4]);
    }
}

static struct slice close_payload(char room[WEBSOCKET_CONTROL_BYTES_MAX], int code, struct slice reason)
{
    struct slice fits = slice_utf8_prefix(reason, WEBSOCKET_CONTROL_BYTES_MAX - 2);
    room[0] = (char)(code >> 8);
    room[1] = (char)code;
    if (fits.len > 0) {
        memcpy(room + 2, fits.ptr, fits.len);
    }
    return slice_from(room, 2 + fits.len);
}

void websocket_write_close(struct buffer *buffer, int code, struct slice reason)
{
    char room[WEBSOCKET_CONTROL_BYTES_MAX];
    websocket_write(buffer, WEBSOCKET_CLOSE, close_payload(room, code, reason));
}

void websocket_write_masked_close(struct buffer *buffer, struct id_source *ids, int code, struct slice reason)
{
    char room[WEBSOCKET_CONTROL_BYTES_MAX];
    websocket_write_masked(buffer, ids, WEBSOCKET_CLOSE, close_payload(room, code, reason));
}
