#include "unit.h"

#include "base/hex.h"

static void every_byte_there_and_back(void **state)
{
    (void)state;
    for (int i = 0; i < 256; i++) {
        unsigned char byte = (unsigned char)i, back = 0;
        char text[2];
        assert_ptr_equal(hex_write(&byte, 1, text), text + 2);
        assert_true(hex_read(slice_from(text, 2), &back, 1));
        assert_int_equal(back, byte);
    }
}

static void digits_of_both_cases_have_a_value(void **state)
{
    (void)state;
    static const char upper[] = "0123456789ABCDEF", lower[] = "0123456789abcdef";
    for (int i = 0; i < 16; i++) {
        assert_int_equal(hex_value(upper[i]), i);
        assert_int_equal(hex_value(lower[i]), i);
    }
    int digits = 0;
    for (int c = -128; c < 128; c++) {
        digits += hex_value((char)c) >= 0;
    }
    assert_int_equal(digits, 22);
}

static void only_the_written_form_is_read(void **state)
{
    (void)state;
    static const struct slice bad[] = {SLICE("0aF0"),   SLICE("0a0"),  SLICE("0a0g"),
                                       SLICE("0a00f0"), SLICE(" a0f"), SLICE("")};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        unsigned char out[2] = {7, 8};
        assert_false(hex_read(bad[i], out, 2));
        assert_int_equal(out[0], 7);
        assert_int_equal(out[1], 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_there_and_back),
        cmocka_unit_test(digits_of_both_cases_have_a_value),
        cmocka_unit_test(only_the_written_form_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
