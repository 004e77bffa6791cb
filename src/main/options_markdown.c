#include "main/options.h"

/* What is accepted, without the note on units, which stands above the tables. */
static void add_accepted(struct buffer *out, const struct option *option)
{
    if (option->type == OPTION_TEXT || option->type == OPTION_LIST) {
        buffer_add(out, slice_of(option->value ? option->value : "TEXT"));
        return;
    }
    struct buffer accepted = {0};
    struct slice head, note;
    option_show_accepted(option, &accepted);
    slice_cut(buffer_slice(&accepted), '(', &head, &note);
    buffer_add(out, slice_trim(head));
    buffer_release(&accepted);
}

static void add_row(struct buffer *out, const struct option *option)
{
    char variable[96], key[96];
    option_environment_name(option, variable, sizeof variable);
    option_file_key(option, key, sizeof key);
    if (option->secret) {
        buffer_add(out, SLICE("| – "));
    } else {
        buffer_format(out, "| `--%s` ", option->name);
    }
    buffer_format(out, "| `%s` `%s` | ", variable, key);
    add_accepted(out, option);
    if (option->fallback) {
        buffer_format(out, " | `%s` | ", option->fallback);
    } else {
        buffer_add(out, SLICE(" | – | "));
    }
    buffer_format(out, "%s%s", option->help, option->type == OPTION_LIST ? " May be given several times." : "");
    if (option->alias) {
        buffer_format(out, " Formerly `--%s`, which is still accepted.", option->alias);
    }
    buffer_add(out, SLICE(" |\n"));
}

void options_write_markdown(struct buffer *out)
{
    buffer_add(out, SLICE("# Options\n\n"
                          "Made from `src/main/options_table.c` by `make docs`; a test compares them.\n\n"
                          "The command line wins over the environment, the environment over the YAML file named by "
                          "`--config`, the file over\nthe default. Times are milliseconds, or a number with `ms`, `s`, "
                          "`m`, `h` or `d`; sizes are bytes, or a number with `KiB`,\n`MiB` or `GiB`. A list is "
                          "repeated on the command line, separated by commas in the environment, and a sequence in "
                          "the file.\nWhat is true or false is turned off with `--no-NAME`. `sojourn check-config` "
                          "shows what is in force and where it came from,\nand refuses variables `SOJOURN_…` that "
                          "nothing reads; `serve` warns of them.\n"));
    for (const struct option *option = server_options; option->name; option++) {
        if (option->type == OPTION_SECTION) {
            buffer_format(out,
                          "\n## %s\n\n| option | environment, file | accepted | default | what it does |\n"
                          "|---|---|---|---|---|\n",
                          option->name);
        } else {
            add_row(out, option);
        }
    }
}
