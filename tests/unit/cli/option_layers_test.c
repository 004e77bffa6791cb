/* One precedence for every option of every program: command line, environment, file, default. */
#include "unit.h"

#include "cli/option_layers.h"
#include "cli/remote.h"
#include "main/options.h"

enum { LAYERS = 3, TEXT_BYTES = 160, VALUES_BYTES = 64 * 1024 };

static struct arena arena;

/* Three values of the option that differ where its type has so many, weakest layer first. */
static void write_samples(const struct option *option, char out[LAYERS][TEXT_BYTES])
{
    static const char *const switches[LAYERS] = {"true", "false", "true"};
    for (int i = 0; i < LAYERS; i++) {
        switch (option->type) {
        case OPTION_NUMBER:
            snprintf(out[i], TEXT_BYTES, "%lld%s",
                     (long long)(option->max - option->min < i ? option->min : option->min + i),
                     option->unit == UNIT_MS ? "ms" : "");
            break;
        case OPTION_SWITCH:
            snprintf(out[i], TEXT_BYTES, "%s", switches[i]);
            break;
        case OPTION_CHOICE:
            snprintf(out[i], TEXT_BYTES, "%s", option->choices->names[i % option->choices->count]);
            break;
        case OPTION_TEXT:
        case OPTION_LIST:
        case OPTION_SECTION:
            snprintf(out[i], TEXT_BYTES, "value%d", i);
        }
    }
}

static void no_place(const void *owner, const struct json *member, char *out, size_t room)
{
    (void)owner;
    (void)member;
    snprintf(out, room, "file: ");
}

static enum status read_file(const struct option_target *target, const struct option *option, const char *text)
{
    char key[TEXT_BYTES];
    const struct json *root;
    struct failure failure;
    option_file_key(option, key, sizeof key);
    struct slice json = arena_format(&arena, "{\"%s\":\"%s\"}", key, text);
    assert_status(json_parse(&arena, json, &root, &failure), STATUS_OK);
    return options_read_document(target, &(struct option_document){root, NULL, no_place}, &failure);
}

static enum status read_environment(const struct option_target *target, const struct option *option, const char *text)
{
    char name[TEXT_BYTES];
    struct failure failure;
    option_environment_name(option, name, sizeof name);
    char *entry = (char *)(uintptr_t)arena_format(&arena, "%s=%s", name, text).ptr;
    return options_read_environment(target, (char *const[]){entry, NULL}, &failure);
}

static enum status read_words(const struct option_target *target, const struct option *option, const char *text)
{
    struct failure failure;
    struct argument given = {option, slice_of(text)};
    return options_read_arguments(target, &(struct arguments){.given = &given, .given_count = 1}, &failure);
}

static enum status (*const readers[LAYERS])(const struct option_target *target, const struct option *option,
                                            const char *text) = {read_file, read_environment, read_words};

static struct slice shown(const struct option *option, const void *values)
{
    struct buffer text = {0};
    option_show(option, values, &text);
    struct slice copy = arena_copy(&arena, buffer_slice(&text));
    buffer_release(&text);
    return copy;
}

/* Every set of layers that say something about the option: the strongest of them holds. */
static void check_option(const struct option *table, const struct option *option)
{
    char samples[LAYERS][TEXT_BYTES];
    write_samples(option, samples);
    for (int said = 0; said < 1 << LAYERS; said++) {
        enum option_origin *origins = arena_array(&arena, option_table_count(table), sizeof *origins);
        struct option_target target = {table, arena_alloc(&arena, VALUES_BYTES), &arena, origins};
        void *alone = arena_alloc(&arena, VALUES_BYTES);
        int strongest = -1;
        struct failure failure;
        options_set_fallbacks(table, target.values, &arena);
        options_set_fallbacks(table, alone, &arena);
        for (int layer = 0; layer < LAYERS; layer++) {
            if (said >> layer & 1) {
                assert_row(option->name, readers[layer](&target, option, samples[layer]) == STATUS_OK);
                strongest = layer;
            }
        }
        if (strongest >= 0) {
            /* A list begins anew in each layer. */
            if (option->type == OPTION_LIST) {
                *(struct text_list *)((char *)alone + option->offset) = (struct text_list){0};
            }
            assert_row(option->name,
                       option_set(option, alone, slice_of(samples[strongest]), "alone", &arena, &failure) == STATUS_OK);
        }
        assert_row(option->name, slice_eq(shown(option, target.values), shown(option, alone)));
        assert_row(option->name, (int)origins[option - table] == strongest + 1);
    }
    arena_reset(&arena);
}

static void check_table(const struct option *table)
{
    for (const struct option *option = table; option->name; option++) {
        if (option->type != OPTION_SECTION) {
            check_option(table, option);
        }
    }
}

static void test_every_option_of_the_server(void **state)
{
    (void)state;
    check_table(server_options);
}

static void test_every_option_of_the_client(void **state)
{
    (void)state;
    check_table(remote_option_table);
}

static int release(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_option_of_the_server),
        cmocka_unit_test(test_every_option_of_the_client),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
