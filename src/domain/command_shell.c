#include "domain/command_internal.h"

/* A line, read as every shell would. What is not sure to mean the same to all of them is doubted, and then read on as
 * it is likely to be meant, so that rules that deny still see it. */
struct line {
    struct command_reader *reader;
    struct slice text;
    size_t at;
    struct command_words words;
    struct buffer word;
    size_t bare;         /* of the word */
    bool in_word;        /* something of it was read, perhaps only quotes */
    bool is_quoted;      /* part of it was */
    char redirection;    /* < or >, whose file comes next */
    bool has_redirected; /* this command */
    bool has_written;    /* this command, to a file */
    bool is_fed;         /* from a pipe or a file */
    bool is_owed;        /* a command must follow: after && || | */
};

bool command_is_inert(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("_./,:=@%+-^", c));
}

static void doubt(struct line *line)
{
    command_doubt(line->reader);
}

static bool has_next(const struct line *line)
{
    return line->at < line->text.len;
}

static char peek(const struct line *line)
{
    return has_next(line) ? line->text.ptr[line->at] : '\0';
}

/* --- words --- */

static bool is_number(struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9') {
            return false;
        }
    }
    return text.len > 0;
}

/* A file that is read or written is a form of its own, which a rule must allow like a command. */
static void end_redirection(struct line *line, struct slice target)
{
    struct command_word word = {.text = target};
    bool reads = line->redirection == '<';
    line->redirection = '\0';
    line->has_redirected = true;
    line->is_fed = line->is_fed || reads;
    if (command_leads_back(target) || slice_starts(target, SLICE("/dev/tcp/")) ||
        slice_starts(target, SLICE("/dev/udp/"))) {
        doubt(line); /* for bash a connection */
    }
    if (!slice_is(target, "/dev/null")) {
        line->has_written = line->has_written || !reads;
        command_add_form(line->reader, reads ? SLICE("<") : SLICE(">"), &word, 1, line->reader->depth == 0);
    }
}

static void end_word(struct line *line)
{
    struct slice text = buffer_slice(&line->word);
    if (line->in_word && line->redirection) {
        end_redirection(line, arena_copy(line->reader->arena, text));
    } else if (line->in_word && line->words.count < COMMAND_WORDS_MAX) {
        line->words.at[line->words.count++] = (struct command_word){
            .text = arena_copy(line->reader->arena, line->word.len ? text : SLICE("")),
            .bare = line->is_quoted ? line->bare : text.len,
        };
    } else if (line->in_word) {
        doubt(line);
    }
    line->in_word = line->is_quoted = false;
    line->word.len = 0;
}

static void quote(struct line *line)
{
    if (!line->is_quoted) {
        line->bare = line->word.len;
    }
    line->in_word = line->is_quoted = true;
}

static void add(struct line *line, char c)
{
    line->in_word = true;
    buffer_add_byte(&line->word, c);
}

/* --- commands --- */

static void count_acts(struct command_reader *reader)
{
    struct command_acts *acts = &reader->acts;
    acts->writers += acts->writes;
    acts->runners += acts->runs;
    acts->both += acts->writes && acts->runs;
    bool only_itself = acts->writers == 1 && acts->runners == 1 && acts->both == 1;
    if (acts->writers > 0 && acts->runners > 0 && !only_itself) {
        command_doubt(reader);
    }
}

static void read_command(struct line *line)
{
    struct command_reader *reader = line->reader;
    bool was_fed = reader->is_fed, wrote = reader->acts.writes, ran = reader->acts.runs;
    reader->is_fed = was_fed || line->is_fed;
    reader->acts.writes = line->has_written;
    reader->acts.runs = false;
    command_read_words(reader, line->words.at, line->words.count, reader->depth == 0);
    count_acts(reader);
    reader->is_fed = was_fed;
    reader->acts.writes = wrote;
    reader->acts.runs = ran;
    line->is_owed = false;
}

static void end_command(struct line *line)
{
    end_word(line);
    if (line->redirection || (line->has_redirected && line->words.count == 0)) {
        doubt(line); /* no file; or zsh, which starts a program to show it */
    }
    if (line->words.count > 0) {
        read_command(line);
    }
    line->words.count = 0;
    line->redirection = '\0';
    line->has_redirected = line->has_written = line->is_fed = false;
}

static bool has_command(const struct line *line)
{
    return line->words.count > 0 || line->in_word || line->has_redirected;
}

/* ; & && | || */
static void take_operator(struct line *line, char c)
{
    bool is_double = c != ';' && peek(line) == c;
    line->at += is_double;
    if (!has_command(line)) {
        doubt(line); /* ;; |& and the like */
    }
    end_command(line);
    line->is_owed = is_double || c == '|';
    line->is_fed = !is_double && c == '|';
}

static void take_line_end(struct line *line)
{
    bool was_fed = line->is_fed && !has_command(line); /* a pipe goes on in the next line */
    end_command(line);
    line->is_fed = was_fed;
}

/* --- quotes --- */

static void take_literal(struct line *line, char c)
{
    if ((c < ' ' && c != '\n' && c != '\t') || c == 127) {
        doubt(line); /* control characters, and bytes beyond ASCII, which are negative */
    }
    add(line, c);
}

static void take_single_quotes(struct line *line)
{
    quote(line);
    while (has_next(line) && peek(line) != '\'') {
        take_literal(line, line->text.ptr[line->at++]);
    }
    if (!has_next(line)) {
        doubt(line);
    }
    line->at++;
}

static void take_double_quotes(struct line *line)
{
    quote(line);
    while (has_next(line) && peek(line) != '"') {
        char c = line->text.ptr[line->at++];
        if (c == '\\' && has_next(line) && strchr("\"\\$`", peek(line))) {
            c = line->text.ptr[line->at++];
        } else if (strchr("$`!", c) || (c == '\\' && peek(line) == '\n')) {
            doubt(line);
        }
        take_literal(line, c);
    }
    if (!has_next(line)) {
        doubt(line);
    }
    line->at++;
}

static void take_escape(struct line *line)
{
    char c = peek(line);
    if (!has_next(line) || c == '\n') {
        doubt(line);
        line->at++;
        return;
    }
    quote(line);
    take_literal(line, c);
    line->at++;
}

/* --- redirections --- */

/* `2>`: the number is no word. Of several digits shells make different things. */
static void drop_number(struct line *line)
{
    if (!line->is_quoted && is_number(buffer_slice(&line->word))) {
        if (line->word.len > 1) {
            doubt(line);
        }
        line->word.len = 0;
        line->in_word = false;
    }
    end_word(line);
}

/* >&2 */
static void take_duplicate(struct line *line, char c)
{
    size_t begin = ++line->at;
    while (has_next(line) && command_is_inert(peek(line))) {
        line->at++;
    }
    bool is_digit = line->at - begin == 1 && is_number(slice_from(line->text.ptr + begin, 1));
    if (!is_digit || (has_next(line) && !strchr(" \t\n;&|", peek(line)))) {
        doubt(line);
    }
    line->has_redirected = true;
    line->is_fed = line->is_fed || c == '<';
}

static void take_redirection(struct line *line, char c)
{
    drop_number(line);
    if (line->redirection) {
        doubt(line);
    }
    if (c == '>' && peek(line) == '>') {
        line->at++;
    }
    if (peek(line) == '&') {
        take_duplicate(line, c);
        return;
    }
    line->redirection = c;
}

/* --- everything --- */

/* What is not known to stand for itself. Behind a substitution or a bracket a command may begin. */
static void take_strange(struct line *line, char c)
{
    doubt(line);
    if (strchr("()`", c)) {
        end_command(line);
    } else if (c != '$' || peek(line) != '(') {
        add(line, c);
    }
}

static void take(struct line *line, char c)
{
    /* zsh takes =name for a path, and a history may be searched by ^ */
    bool is_strange_begin = !line->in_word && (c == '=' || c == '^');
    if (command_is_inert(c) && !is_strange_begin) {
        add(line, c);
        return;
    }
    switch (c) {
    case ' ':
    case '\t':
        end_word(line);
        break;
    case '\n':
        take_line_end(line);
        break;
    case '\'':
        take_single_quotes(line);
        break;
    case '"':
        take_double_quotes(line);
        break;
    case '\\':
        take_escape(line);
        break;
    case '<':
    case '>':
        take_redirection(line, c);
        break;
    case '|':
    case '&':
    case ';':
        take_operator(line, c);
        break;
    default:
        take_strange(line, c);
    }
}

void command_read_line(struct command_reader *reader, struct slice text)
{
    if (!command_spend(reader, text.len + sizeof(struct line))) {
        return;
    }
    struct line *line = arena_alloc(reader->arena, sizeof *line);
    bool was_guessing = reader->is_guessing;
    reader->is_guessing = false;
    *line = (struct line){.reader = reader, .text = text};
    while (has_next(line)) {
        char c = text.ptr[line->at++];
        take(line, c);
    }
    end_command(line);
    if (line->is_owed) {
        doubt(line);
    }
    reader->is_guessing = was_guessing;
    buffer_release(&line->word);
}
