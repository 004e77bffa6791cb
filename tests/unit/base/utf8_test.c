#include "unit.h"

#include "base/utf8.h"

static void borders(void **state)
{
    (void)state;
    static const struct {
        uint32_t code;
        const char *text;
    } rows[] = {
        {0x01, "\x01"},
        {0x7F, "\x7F"},
        {0x80, "\xC2\x80"},
        {0x7FF, "\xDF\xBF"},
        {0x800, "\xE0\xA0\x80"},
        {0xFFFF, "\xEF\xBF\xBF"},
        {0x10000, "\xF0\x90\x80\x80"},
        {0x10FFFF, "\xF4\x8F\xBF\xBF"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char out[UTF8_BYTES_MAX];
        struct slice put = slice_from(out, utf8_put(rows[i].code, out));
        assert_true(slice_is(put, rows[i].text));
        assert_true(slice_is_utf8(put));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(borders)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
