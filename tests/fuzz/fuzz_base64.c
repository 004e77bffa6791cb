/* Decoding is strict: whatever is accepted is exactly what encoding would have written. */
#include "wire/base64.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct slice input = slice_from(data, size);
    for (int i = BASE64_STANDARD; i <= BASE64_URL; i++) {
        enum base64_alphabet alphabet = (enum base64_alphabet)i;
        struct buffer text = {0};
        struct slice bytes;
        if (base64_decode(&arena, input, alphabet, &bytes)) {
            base64_encode(&text, bytes, alphabet);
            CHECK(slice_eq(buffer_slice(&text), input));
        }
        text.len = 0;
        base64_encode(&text, input, alphabet);
        CHECK(base64_decode(&arena, buffer_slice(&text), alphabet, &bytes) && slice_eq(bytes, input));
        buffer_release(&text);
    }
    arena_release(&arena);
    return 0;
}
