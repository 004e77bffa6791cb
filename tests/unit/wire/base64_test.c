#include "unit.h"

#include "wire/base64.h"

static void test_known(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        const char *standard;
        const char *url;
    } rows[] = {
        {"", "", ""},
        {"f", "Zg==", "Zg"},
        {"fo", "Zm8=", "Zm8"},
        {"foo", "Zm9v", "Zm9v"},
        {"foob", "Zm9vYg==", "Zm9vYg"},
        {"fooba", "Zm9vYmE=", "Zm9vYmE"},
        {"foobar", "Zm9vYmFy", "Zm9vYmFy"},
        {"\xFB\xFF\xFE", "+//+", "-__-"},
    };
    struct arena arena = {0};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buffer text = {0};
        struct slice back = {NULL, 0};
        base64_encode(&text, slice_of(rows[i].bytes), BASE64_STANDARD);
        assert_slice(buffer_slice(&text), rows[i].standard);
        assert_true(base64_decode(&arena, buffer_slice(&text), BASE64_STANDARD, &back));
        assert_slice(back, rows[i].bytes);
        text.len = 0;
        base64_encode(&text, slice_of(rows[i].bytes), BASE64_URL);
        assert_slice(buffer_slice(&text), rows[i].url);
        assert_true(base64_decode(&arena, buffer_slice(&text), BASE64_URL, &back));
        assert_slice(back, rows[i].bytes);
        buffer_release(&text);
    }
    arena_release(&arena);
}

static void test_every_length(void **state)
{
    (void)state;
    struct arena arena = {0};
    char bytes[70], text[BASE64_ROOM(70)];
    for (size_t len = 0; len <= sizeof bytes; len++) {
        for (size_t i = 0; i < len; i++) {
            bytes[i] = (char)(i * 89 + len * 31);
        }
        for (int alphabet = BASE64_STANDARD; alphabet <= BASE64_URL; alphabet++) {
            struct slice back;
            size_t used = base64_encode_to(text, slice_from(bytes, len), (enum base64_alphabet)alphabet);
            assert_true(used <= BASE64_ROOM(len));
            assert_true(base64_decode(&arena, slice_from(text, used), (enum base64_alphabet)alphabet, &back));
            assert_true(slice_eq(back, slice_from(bytes, len)));
        }
    }
    arena_release(&arena);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum base64_alphabet alphabet;
    } rows[] = {
        {"Zg", BASE64_STANDARD},       /* no padding */
        {"Zg=", BASE64_STANDARD},      /* half of it */
        {"Zg===", BASE64_STANDARD},    /* too much */
        {"====", BASE64_STANDARD},     /* nothing but padding */
        {"Z===", BASE64_STANDARD},     /* six bits are no byte */
        {"Zm9v====", BASE64_STANDARD}, /* padding of its own */
        {"Zg==Zg==", BASE64_STANDARD}, /* padding inside */
        {"Zh==", BASE64_STANDARD},     /* bits left over */
        {"Zm9=", BASE64_STANDARD},     /* bits left over */
        {"Zm 9", BASE64_STANDARD},     {"Zm9\n", BASE64_STANDARD}, {"-__-", BASE64_STANDARD}, {"+//+", BASE64_URL},
        {"Zg==", BASE64_URL},          {"Zh", BASE64_URL},         {"Z", BASE64_URL},         {"Zm9vZ", BASE64_URL},
        {"Zm\xC3\xA9", BASE64_URL},
    };
    struct arena arena = {0};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct slice out = SLICE("untouched");
        assert_row(rows[i].text, !base64_decode(&arena, slice_of(rows[i].text), rows[i].alphabet, &out));
        assert_slice(out, "untouched");
    }
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_every_length),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
