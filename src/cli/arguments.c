#include "cli/arguments.h"

struct parser {
    const struct option *const *tables;
    int argc;
    char *const *argv;
    int at;
    struct arguments *out;
};

static const struct option *find_in(const struct option *const *tables, struct slice name)
{
    for (; *tables; tables++) {
        const struct option *option = option_find(*tables, name);
        if (option) {
            return option;
        }
    }
    return NULL;
}

static enum status refuse_unknown(const struct parser *parser, struct slice name, struct failure *failure)
{
    for (const struct option *const *tables = parser->tables; *tables; tables++) {
        const struct option *closest = option_closest(*tables, name);
        if (closest) {
            return failure_set(failure, STATUS_INVALID, "unknown_option", "unknown option --%.*s; did you mean --%s?",
                               SLICE_ARG(name), closest->name);
        }
    }
    return failure_set(failure, STATUS_INVALID, "unknown_option", "unknown option --%.*s; see --help", SLICE_ARG(name));
}

static void add_given(struct arguments *out, const struct option *option, struct slice text)
{
    out->given[out->given_count++] = (struct argument){option, text};
}

/* "--no-metrics" for a switch called "metrics"; NULL when it is no such thing. */
static const struct option *find_negated(const struct parser *parser, struct slice name)
{
    if (!slice_starts(name, SLICE("no-"))) {
        return NULL;
    }
    const struct option *option = find_in(parser->tables, slice_after(name, 3));
    return option && option->type == OPTION_SWITCH ? option : NULL;
}

static enum status take_option(struct parser *parser, struct slice word, struct failure *failure)
{
    struct slice name, text = {0};
    bool has_text = slice_cut(slice_after(word, 2), '=', &name, &text);
    const struct option *option = find_in(parser->tables, name);
    if (!option && !has_text && find_negated(parser, name)) {
        add_given(parser->out, find_negated(parser, name), SLICE("false"));
        return STATUS_OK;
    }
    if (!option) {
        return refuse_unknown(parser, name, failure);
    }
    if (option->secret) {
        char variable[96];
        option_environment_name(option, variable, sizeof variable);
        return failure_set(failure, STATUS_INVALID, "secret_option",
                           "--%s can't be given on the command line, where others can read it; set %s", option->name,
                           variable);
    }
    if (!has_text && option->type == OPTION_SWITCH) {
        text = SLICE("true");
    } else if (!has_text && parser->at < parser->argc) {
        text = slice_of(parser->argv[parser->at++]);
    } else if (!has_text) {
        return failure_set(failure, STATUS_INVALID, "missing_value", "--%s needs a value: --%s %s", option->name,
                           option->name, option->value ? option->value : "VALUE");
    }
    add_given(parser->out, option, text);
    return STATUS_OK;
}

enum status arguments_parse(const struct option *const *tables, int argc, char *const *argv, struct arena *arena,
                            struct arguments *out, struct failure *failure)
{
    *out = (struct arguments){
        .given = arena_array(arena, (size_t)argc + 1, sizeof *out->given),
        .positionals = arena_array(arena, (size_t)argc + 1, sizeof *out->positionals),
    };
    struct parser parser = {tables, argc, argv, 0, out};
    bool options_ended = false;
    while (parser.at < argc) {
        struct slice word = slice_of(argv[parser.at++]);
        if (options_ended || !slice_starts(word, SLICE("-")) || word.len == 1) {
            out->positionals[out->positional_count++] = word.ptr;
        } else if (slice_is(word, "--")) {
            options_ended = true;
        } else if (slice_is(word, "--help") || slice_is(word, "-h")) {
            out->wants_help = true;
        } else if (!slice_starts(word, SLICE("--"))) {
            return failure_set(failure, STATUS_INVALID, "unknown_option",
                               "%s is no option; options begin with two dashes, --help lists them", word.ptr);
        } else {
            enum status status = take_option(&parser, word, failure);
            if (status != STATUS_OK) {
                return status;
            }
        }
    }
    return STATUS_OK;
}

struct slice arguments_text(const struct arguments *arguments, const char *name)
{
    struct slice text = {0};
    for (size_t i = 0; i < arguments->given_count; i++) {
        if (strcmp(arguments->given[i].option->name, name) == 0) {
            text = arguments->given[i].text;
        }
    }
    return text;
}
