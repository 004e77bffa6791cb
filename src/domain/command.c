#include "domain/command.h"

#include "base/arena.h"

enum { WORDS_MAX = 512, DEPTH_MAX = 6 };

struct reader {
    struct arena *arena;
    struct command_reading *out;
    int depth;
};

struct words {
    struct slice at[WORDS_MAX];
    size_t count;
};

static void read_line(struct reader *reader, struct slice line);
static void read_words(struct reader *reader, const struct slice *words, size_t count, bool is_plain);

/* --- forms --- */

static void add_form(struct reader *reader, struct slice first, const struct slice *rest, size_t count, bool is_plain)
{
    struct command_reading *out = reader->out;
    struct buffer text = {0};
    if (out->count == COMMAND_FORMS_MAX) {
        out->is_certain = false;
        return;
    }
    buffer_add(&text, first);
    for (size_t i = 0; i < count; i++) {
        buffer_add_byte(&text, ' ');
        buffer_add(&text, rest[i]);
    }
    out->forms[out->count++] = (struct command_form){arena_copy(reader->arena, buffer_slice(&text)), is_plain};
    buffer_release(&text);
}

static bool is_option(struct slice word)
{
    return word.len > 1 && (word.ptr[0] == '-' || word.ptr[0] == '+');
}

/* NAME=value */
static bool is_assignment(struct slice word)
{
    size_t at = 0;
    while (at < word.len &&
           (word.ptr[at] == '_' || (word.ptr[at] >= 'A' && word.ptr[at] <= 'Z') ||
            (word.ptr[at] >= 'a' && word.ptr[at] <= 'z') || (at > 0 && word.ptr[at] >= '0' && word.ptr[at] <= '9'))) {
        at++;
    }
    return at > 0 && at < word.len && word.ptr[at] == '=';
}

static struct slice name_of(struct slice word)
{
    for (size_t i = word.len; i > 0; i--) {
        if (word.ptr[i - 1] == '/') {
            return slice_after(word, i);
        }
    }
    return word;
}

/* Calls `each` with every place at which, behind options that may each have a value, the words may go on. */
static void each_way(struct reader *reader, const struct slice *words, size_t count,
                     void (*each)(struct reader *reader, const struct slice *words, size_t count, size_t at))
{
    bool here = true, next = false;
    for (size_t at = 1; at < count && (here || next); at++) {
        if (here) {
            each(reader, words, count, at);
        }
        bool option = here && is_option(words[at]);
        here = option || next;
        next = option;
    }
}

/* --- what starts something else --- */

static void start_line(struct reader *reader, const struct slice *words, size_t count)
{
    struct buffer line = {0};
    for (size_t i = 0; i < count; i++) {
        buffer_add(&line, words[i]);
        buffer_add_byte(&line, ' ');
    }
    read_line(reader, arena_copy(reader->arena, buffer_slice(&line)));
    buffer_release(&line);
}

static void go_on(struct reader *reader, const struct slice *words, size_t count, size_t at)
{
    read_words(reader, words + at, count - at, false);
}

static void go_on_behind_one(struct reader *reader, const struct slice *words, size_t count, size_t at)
{
    if (at + 1 < count) {
        read_words(reader, words + at + 1, count - at - 1, false);
    }
}

static void start_prefix(struct reader *reader, const struct slice *words, size_t count)
{
    each_way(reader, words, count, go_on);
}

static void start_prefix_and_one(struct reader *reader, const struct slice *words, size_t count)
{
    each_way(reader, words, count, go_on_behind_one);
}

static void start_unknown(struct reader *reader, const struct slice *words, size_t count)
{
    each_way(reader, words, count, go_on);
    reader->out->is_certain = false;
}

static void start_eval(struct reader *reader, const struct slice *words, size_t count)
{
    start_line(reader, words + 1, count - 1);
}

static void start_found(struct reader *reader, const struct slice *words, size_t count)
{
    for (size_t i = 1; i + 1 < count; i++) {
        if (slice_starts(words[i], SLICE("-exec")) || slice_starts(words[i], SLICE("-ok"))) {
            read_words(reader, words + i + 1, count - i - 1, false);
        }
    }
}

/* A script is a program like any other; without one it reads from a pipe. */
static void start_shell(struct reader *reader, const struct slice *words, size_t count)
{
    bool has_script = false, wants_line = false;
    for (size_t i = 1; i < count; i++) {
        bool option = is_option(words[i]);
        wants_line = wants_line || (option && words[i].ptr[1] != '-' && memchr(words[i].ptr, 'c', words[i].len));
        if (!option && wants_line) {
            read_line(reader, words[i]);
            return;
        }
        has_script = has_script || !option;
    }
    reader->out->is_certain = reader->out->is_certain && has_script;
}

/* Code in another language that stands in the line. */
static void start_code(struct reader *reader, const struct slice *words, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        bool inline_code = is_option(words[i]) && (strpbrk(arena_copy(reader->arena, words[i]).ptr, "cerp") != NULL);
        reader->out->is_certain = reader->out->is_certain && !inline_code && !slice_is(words[i], "-");
    }
    reader->out->is_certain = reader->out->is_certain && count > 1;
}

static const struct {
    const char *name;
    void (*start)(struct reader *reader, const struct slice *words, size_t count);
} starters[] = {
    {"env", start_prefix},
    {"command", start_prefix},
    {"builtin", start_prefix},
    {"exec", start_prefix},
    {"nohup", start_prefix},
    {"nice", start_prefix},
    {"ionice", start_prefix},
    {"time", start_prefix},
    {"setsid", start_prefix},
    {"stdbuf", start_prefix},
    {"sudo", start_prefix},
    {"doas", start_prefix},
    {"busybox", start_prefix},
    {"toybox", start_prefix},
    {"unshare", start_prefix},
    {"strace", start_prefix},
    {"caffeinate", start_prefix},
    {"npx", start_prefix},
    {"timeout", start_prefix_and_one},
    {"chroot", start_prefix_and_one},
    {"flock", start_prefix_and_one},
    {"taskset", start_prefix_and_one},
    {"chrt", start_prefix_and_one},
    {"su", start_shell},
    {"watch", start_unknown},
    {"xargs", start_unknown},
    {"parallel", start_unknown},
    {"script", start_unknown},
    {"alias", start_unknown},
    {"trap", start_unknown},
    {"eval", start_eval},
    {"find", start_found},
    {"sh", start_shell},
    {"bash", start_shell},
    {"dash", start_shell},
    {"zsh", start_shell},
    {"ksh", start_shell},
    {"ash", start_shell},
    {"fish", start_shell},
    {"python", start_code},
    {"python3", start_code},
    {"perl", start_code},
    {"ruby", start_code},
    {"node", start_code},
    {"php", start_code},
};

static void start(struct reader *reader, struct slice name, const struct slice *words, size_t count)
{
    for (size_t i = 0; i < sizeof starters / sizeof starters[0]; i++) {
        if (slice_is(name, starters[i].name)) {
            reader->depth++;
            starters[i].start(reader, words, count);
            reader->depth--;
        }
    }
}

/* --- one command --- */

/* In front of a command: keywords of the shell. */
static bool is_keyword(struct slice word)
{
    static const char *const keywords[] = {"if", "then", "elif", "else", "while", "until", "do", "!", "{", "}"};
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++) {
        if (slice_is(word, keywords[i])) {
            return true;
        }
    }
    return false;
}

static void add_without_options(struct reader *reader, const struct slice *words, size_t count, size_t at)
{
    add_form(reader, name_of(words[0]), words + at, count - at, false);
}

/* `git -c alias.x=push x`: what is configured in the line is a language of its own. */
static bool configures_alias(const struct slice *words, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct slice word = words[i];
        bool alias = memmem(word.ptr, word.len, "alias.", 6) != NULL;
        if ((alias && memchr(word.ptr, '=', word.len)) || slice_starts(word, SLICE("--config-env"))) {
            return true;
        }
    }
    return false;
}

static void read_words(struct reader *reader, const struct slice *words, size_t count, bool is_plain)
{
    if (reader->depth > DEPTH_MAX || reader->out->count == COMMAND_FORMS_MAX) {
        reader->out->is_certain = false; /* each way adds a form: this bounds the work, too */
        return;
    }
    while (count > 0 && is_keyword(words[0])) {
        words++;
        count--;
    }
    if (count > 0 && is_plain) {
        add_form(reader, words[0], words + 1, count - 1, true);
    }
    while (count > 0 && is_assignment(words[0])) {
        words++;
        count--;
    }
    if (count == 0) {
        return;
    }
    struct slice name = name_of(words[0]);
    add_form(reader, name, words + 1, count - 1, false);
    if (count > 1 && is_option(words[1])) {
        each_way(reader, words, count, add_without_options);
        add_form(reader, name, NULL, 0, false);
    }
    if (slice_is(name, "git") && configures_alias(words, count)) {
        reader->out->is_certain = false;
    }
    start(reader, name, words, count);
}

/* --- a line --- */

struct line {
    struct reader *reader;
    struct slice text;
    size_t at;
    struct words words;
    struct buffer word;
    bool in_word;    /* something of it was read, perhaps only quotes */
    bool is_dropped; /* the name of a file that a redirection wants */
};

static void end_word(struct line *line)
{
    if (line->in_word && !line->is_dropped) {
        if (line->words.count < WORDS_MAX) {
            line->words.at[line->words.count++] = arena_copy(line->reader->arena, buffer_slice(&line->word));
        } else {
            line->reader->out->is_certain = false;
        }
    }
    line->is_dropped = line->is_dropped && !line->in_word;
    line->in_word = false;
    line->word.len = 0;
}

static void end_command(struct line *line)
{
    end_word(line);
    if (line->words.count > 0) {
        read_words(line->reader, line->words.at, line->words.count, line->reader->depth == 0);
    }
    line->words.count = 0;
    line->is_dropped = false;
}

static void take_char(struct line *line, char c)
{
    line->in_word = true;
    buffer_add_byte(&line->word, c);
}

static void take_quoted(struct line *line, char quote)
{
    struct slice text = line->text;
    line->in_word = true;
    while (line->at < text.len && text.ptr[line->at] != quote) {
        char c = text.ptr[line->at++];
        if (quote == '"' && c == '\\' && line->at < text.len && strchr("\"\\$`\n", text.ptr[line->at])) {
            c = text.ptr[line->at++];
        } else if (quote == '"' && (c == '$' || c == '`')) {
            line->reader->out->is_certain = false;
        }
        buffer_add_byte(&line->word, c);
    }
    if (line->at++ >= text.len) {
        line->reader->out->is_certain = false; /* the quote is not closed */
    }
}

/* What stands within a substitution is read as commands of their own. */
static void take_dollar(struct line *line)
{
    line->reader->out->is_certain = false;
    if (line->at < line->text.len && line->text.ptr[line->at] == '(') {
        end_command(line);
    } else {
        take_char(line, '$');
    }
}

static void take_plain(struct line *line, char c)
{
    if (strchr("*?[{~", c) && line->words.count < 2) {
        line->reader->out->is_certain = false; /* it may become any name */
    }
    take_char(line, c);
}

/* > and < with a number before and & behind: the file is no part of the command. */
static void take_redirection(struct line *line)
{
    bool number = line->word.len > 0;
    for (size_t i = 0; i < line->word.len; i++) {
        number = number && line->word.ptr[i] >= '0' && line->word.ptr[i] <= '9';
    }
    if (number) {
        line->word.len = 0;
        line->in_word = false;
    }
    end_word(line);
    while (line->at < line->text.len && strchr("<>&|", line->text.ptr[line->at])) {
        if (line->text.ptr[line->at] == '<') {
            line->reader->out->is_certain = false; /* text for its input stands behind it */
        }
        line->at++;
    }
    line->is_dropped = true;
}

static void take(struct line *line, char c)
{
    switch (c) {
    case ' ':
    case '\t':
        end_word(line);
        break;
    case '\'':
    case '"':
        take_quoted(line, c);
        break;
    case '\\':
        if (line->at < line->text.len && line->text.ptr[line->at++] != '\n') {
            take_char(line, line->text.ptr[line->at - 1]);
        }
        break;
    case '$':
        take_dollar(line);
        break;
    case '`':
        line->reader->out->is_certain = false;
        end_command(line);
        break;
    case '<':
    case '>':
        take_redirection(line);
        break;
    case '|':
    case '&':
    case ';':
    case '(':
    case ')':
    case '\n':
    case '\r':
        end_command(line);
        break;
    default:
        take_plain(line, c);
    }
}

static void read_line(struct reader *reader, struct slice text)
{
    struct line *line = arena_alloc(reader->arena, sizeof *line);
    *line = (struct line){.reader = reader, .text = text};
    while (line->at < text.len) {
        char c = text.ptr[line->at++];
        if (c == '#' && !line->in_word) { /* a comment, or not: who knows which shell reads it */
            reader->out->is_certain = false;
        }
        take(line, c);
    }
    end_command(line);
    buffer_release(&line->word);
}

static struct reader reader_of(struct arena *arena, struct command_reading *out)
{
    *out = (struct command_reading){.is_certain = true};
    out->forms = arena_array(arena, COMMAND_FORMS_MAX, sizeof *out->forms);
    return (struct reader){arena, out, 0};
}

static void read_list(struct reader *reader, const struct json *list)
{
    struct words *words = arena_alloc(reader->arena, sizeof *words);
    words->count = 0;
    for (const struct json *word = list->child; word; word = word->next) {
        if (!json_is(word, JSON_STRING) || words->count == WORDS_MAX) {
            reader->out->is_certain = false;
            break;
        }
        words->at[words->count++] = word->text;
    }
    read_words(reader, words->at, words->count, true);
}

bool command_read_call(struct arena *arena, const struct json *arguments, struct command_reading *out)
{
    static const char *const names[] = {"command", "cmd", "script"};
    struct reader reader = reader_of(arena, out);
    bool found = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct json *value = json_is(arguments, JSON_OBJECT) ? json_get_value(arguments, names[i]) : NULL;
        if (json_is(value, JSON_STRING)) {
            read_line(&reader, value->text);
            found = true;
        } else if (json_is(value, JSON_ARRAY)) {
            read_list(&reader, value);
            found = true;
        }
    }
    return found;
}
