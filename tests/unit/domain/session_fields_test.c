#include "domain/session_fields.h"
#include "domain_unit.h"

static size_t size_of(enum field_kind kind)
{
    switch (kind) {
    case FIELD_I64:
        return sizeof(int64_t);
    case FIELD_TEXT:
    case FIELD_JSON:
        return sizeof(struct slice);
    case FIELD_BOOL:
        return sizeof(bool);
    case FIELD_ENUM:
        return sizeof(int);
    case FIELD_PREVIEW:
        return SESSION_PREVIEW_BYTES;
    }
    return 0;
}

/* Rows follow the struct; between two of them lies padding at most, so no field is missing. */
static void every_field_has_its_row(void **state)
{
    size_t end = offsetof(struct session, tenant_key);
    (void)state;
    for (size_t i = 0; i < session_fields_count; i++) {
        const struct session_field *field = &session_fields[i];
        assert_row(field->name, field->offset >= end && field->offset - end < sizeof(int64_t));
        assert_row(field->name, field->offset - end < size_of(field->kind) || field->offset == end);
        end = field->offset + size_of(field->kind);
    }
    assert_true(sizeof(struct session) - end < sizeof(int64_t));
}

static void groups_follow_the_struct(void **state)
{
    (void)state;
    for (size_t i = 0; i < session_fields_count; i++) {
        const struct session_field *field = &session_fields[i];
        unsigned expected = field->offset < offsetof(struct session, status)          ? CHANGED_ALL
                            : field->offset < offsetof(struct session, last_sequence) ? CHANGED_MACHINE
                                                                                      : CHANGED_HOT;
        if (field->offset == offsetof(struct session, listed_at_ms)) {
            expected = CHANGED_LISTED;
        }
        if (field->offset == offsetof(struct session, archived_at_ms)) {
            expected = CHANGED_ALL;
        }
        assert_row(field->name, field->changed == expected);
        assert_row(field->name, field->hot == (field->offset >= offsetof(struct session, last_sequence)));
    }
}

static void set_field(struct session *session, const struct session_field *field, int value)
{
    if (field->kind == FIELD_I64 || field->kind == FIELD_ENUM || field->kind == FIELD_BOOL) {
        session_field_set_number(session, field, value != 0);
    } else {
        session_field_set_text(session, field, value ? SLICE("x") : SLICE(""));
    }
}

static void a_difference_names_the_field(void **state)
{
    struct session a = {0}, b = {0};
    (void)state;
    assert_null(session_difference(&a, &b));
    for (size_t i = 0; i < session_fields_count; i++) {
        b = a;
        set_field(&b, &session_fields[i], 1);
        assert_string_equal(session_difference(&a, &b), session_fields[i].name);
    }
}

static void absent_and_empty_differ(void **state)
{
    struct session a = {0}, b = {.title = SLICE("")};
    (void)state;
    assert_string_equal(session_difference(&a, &b), "title");
}

static void a_copy_is_deep(void **state)
{
    struct session from = {0}, to;
    struct arena arena = {0};
    char text[] = "text";
    (void)state;
    for (size_t i = 0; i < session_fields_count; i++) {
        const struct session_field *field = &session_fields[i];
        if (field->kind == FIELD_TEXT || field->kind == FIELD_JSON || field->kind == FIELD_PREVIEW) {
            session_field_set_text(&from, field, slice_of(text));
        } else {
            session_field_set_number(&from, field, 1);
        }
    }
    from.key = 9;
    session_copy(&to, &from, &arena);
    assert_null(session_difference(&to, &from));
    assert_int_equal(to.key, 9);
    memset(text, '?', 4);
    for (size_t i = 0; i < session_fields_count; i++) {
        const struct session_field *field = &session_fields[i];
        if (field->kind == FIELD_TEXT || field->kind == FIELD_JSON) {
            assert_slice(session_field_text(&to, field), "text");
        }
    }
    arena_release(&arena);
}

static void a_preview_fits(void **state)
{
    const struct session_field *preview = &session_fields[session_fields_count - 1];
    struct session session = {0};
    char text[400];
    (void)state;
    memset(text, 'a', sizeof text);
    session_field_set_text(&session, preview, slice_from(text, sizeof text));
    assert_int_equal(session_field_text(&session, preview).len, SESSION_PREVIEW_BYTES - 1);
    session_field_set_text(&session, preview, (struct slice){NULL, 0});
    assert_string_equal(session.preview, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_has_its_row),
        cmocka_unit_test(groups_follow_the_struct),
        cmocka_unit_test(a_difference_names_the_field),
        cmocka_unit_test(absent_and_empty_differ),
        cmocka_unit_test(a_copy_is_deep),
        cmocka_unit_test(a_preview_fits),
    };
    return cmocka_run_group_tests(tests, NULL, release_test_arena);
}
