#include "domain/command_internal.h"

#include "base/arena.h"

void command_doubt(struct command_reader *reader)
{
    reader->out->is_certain = false;
}

bool command_spend(struct command_reader *reader, size_t bytes)
{
    reader->work_bytes += bytes;
    reader->is_full = reader->is_full || reader->work_bytes > COMMAND_WORK_BYTES_MAX;
    return !reader->is_full;
}

/* --- forms --- */

static void add_exact_word(struct buffer *to, struct slice word)
{
    for (size_t i = 0; i < word.len; i++) {
        buffer_add_byte(to, word.ptr[i] == ' ' ? COMMAND_INNER_BLANK : word.ptr[i]);
    }
    if (word.len == 0) {
        buffer_add_byte(to, COMMAND_INNER_BLANK);
    }
}

static bool is_ambiguous(struct slice word)
{
    return word.len == 0 || memchr(word.ptr, ' ', word.len);
}

static struct slice form_text(struct command_reader *reader, struct slice first, const struct command_word *rest,
                              size_t count, void (*add_word)(struct buffer *to, struct slice word))
{
    struct buffer text = {0};
    add_word(&text, first);
    for (size_t i = 0; i < count; i++) {
        buffer_add_byte(&text, ' ');
        add_word(&text, rest[i].text);
    }
    (void)command_spend(reader, text.len);
    struct slice kept = arena_copy(reader->arena, text.len > 0 ? buffer_slice(&text) : SLICE(""));
    buffer_release(&text);
    return kept;
}

void command_add_form(struct command_reader *reader, struct slice first, const struct command_word *rest, size_t count,
                      bool is_plain)
{
    struct command_reading *out = reader->out;
    reader->is_full = reader->is_full || out->count == COMMAND_FORMS_MAX;
    if (reader->is_full) {
        return;
    }
    bool differs = is_plain && is_ambiguous(first);
    for (size_t i = 0; i < count && is_plain; i++) {
        differs = differs || is_ambiguous(rest[i].text);
    }
    struct slice text = form_text(reader, first, rest, count, buffer_add);
    struct slice exact = differs ? form_text(reader, first, rest, count, add_exact_word) : text;
    out->forms[out->count++] = (struct command_form){.text = text, .exact = exact, .is_plain = is_plain};
}

bool command_is_assignment(struct slice word)
{
    size_t at = 0;
    while (at < word.len &&
           (word.ptr[at] == '_' || (word.ptr[at] >= 'A' && word.ptr[at] <= 'Z') ||
            (word.ptr[at] >= 'a' && word.ptr[at] <= 'z') || (at > 0 && word.ptr[at] >= '0' && word.ptr[at] <= '9'))) {
        at++;
    }
    return at > 0 && at < word.len && word.ptr[at] == '=';
}

static bool is_option(struct slice word)
{
    return word.len > 1 && (word.ptr[0] == '-' || word.ptr[0] == '+');
}

static struct slice directory_of(struct slice path)
{
    while (path.len > 0 && path.ptr[path.len - 1] != '/') {
        path.len--;
    }
    return path;
}

/* Of the name alone: some file systems know no case. */
static struct slice canonical_name(struct command_reader *reader, struct slice path)
{
    struct slice name = slice_after(path, directory_of(path).len);
    char *lower = arena_bytes(reader->arena, name.len + 1);
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        lower[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return slice_from(lower, name.len);
}

/* Calls `each` with every place at which, behind options that may each have a value, the words may go on. */
static void add_without_options(struct command_reader *reader, struct slice name, const struct command_word *words,
                                size_t count)
{
    bool here = true, next = false;
    for (size_t at = 1; at < count && (here || next); at++) {
        if (here) {
            command_add_form(reader, name, words + at, count - at, false);
        }
        bool option = here && is_option(words[at].text);
        here = option || next;
        next = option;
    }
}

static void add_named_forms(struct command_reader *reader, struct slice name, const struct command_word *words,
                            size_t count)
{
    struct slice written = words[0].text, base = slice_after(written, directory_of(written).len);
    command_add_form(reader, written, words + 1, count - 1, false);
    if (!slice_eq(base, written)) {
        command_add_form(reader, base, words + 1, count - 1, false);
    }
    if (!slice_eq(name, base)) {
        command_add_form(reader, name, words + 1, count - 1, false);
    }
    if (count > 1 && is_option(words[1].text)) {
        add_without_options(reader, name, words, count);
        command_add_form(reader, name, NULL, 0, false);
    }
}

/* --- guesses: for rules that deny, never a reason for certainty --- */

static struct slice with_blanks(struct command_reader *reader, struct slice text)
{
    char *copy = arena_bytes(reader->arena, text.len + 1);
    for (size_t i = 0; i < text.len; i++) {
        copy[i] = text.ptr[i] == ',' ? ' ' : text.ptr[i];
    }
    return slice_from(copy, text.len);
}

static void guess_text(struct command_reader *reader, const struct command_word *words, size_t count, size_t skip)
{
    struct slice text = slice_after(words[0].text, skip);
    if (text.len == 0 || !command_spend(reader, text.len + count * sizeof *words)) {
        return;
    }
    if (memchr(text.ptr, ' ', text.len) || memchr(text.ptr, '\n', text.len) || memchr(text.ptr, ';', text.len)) {
        command_read_line(reader, text);
        return;
    }
    if (memchr(text.ptr, ',', text.len)) { /* gcc -wrapper git,push */
        command_read_line(reader, with_blanks(reader, text));
    }
    struct command_word *changed = arena_array(reader->arena, count, sizeof *changed);
    memcpy(changed, words, count * sizeof *changed);
    changed[0].text = text;
    command_read_words(reader, changed, count, false);
}

/* Any later word may be the begin of a command, or a line of them; also what stands behind `--option=` and `-o`. */
static void guess(struct command_reader *reader, const struct command_word *words, size_t count)
{
    bool was_certain = reader->out->is_certain;
    struct command_acts acts = reader->acts;
    if (reader->is_guessing) {
        return;
    }
    reader->is_guessing = true;
    for (size_t i = 1; i < count && !reader->is_full; i++) {
        struct slice text = words[i].text;
        guess_text(reader, words + i, count - i, 0);
        for (size_t at = 0; at < text.len && !reader->is_full; at++) {
            if (text.ptr[at] == '=') {
                guess_text(reader, words + i, count - i, at + 1);
            }
        }
        if (is_option(text) && text.ptr[1] != '-') {
            guess_text(reader, words + i, count - i, 2);
        }
    }
    reader->is_guessing = false;
    reader->acts = acts;
    reader->out->is_certain = was_certain;
}

/* --- what a program does with its arguments --- */

static bool is_inert(struct slice word)
{
    for (size_t i = 0; i < word.len; i++) {
        if (!command_is_inert(word.ptr[i])) {
            return false;
        }
    }
    return true;
}

static bool all_are_inert(const struct command_word *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!is_inert(words[i].text)) {
            return false;
        }
    }
    return true;
}

static bool is_excluded(const char *text, struct slice word)
{
    return text && memmem(word.ptr, word.len, text, strlen(text));
}

/* A value that looks like an option is judged as one, too: strict, and nothing can hide as a value. */
static bool options_are_safe(const struct command_program *program, const struct command_word *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct slice text = words[i].text;
        if (is_excluded(program->excluded, text) ||
            (is_option(text) && text.ptr[0] == '-' && command_option_of(program, text) == OPTION_UNKNOWN)) {
            return false;
        }
    }
    return true;
}

typedef bool (*is_read)(struct command_reader *reader, const struct command_program *program,
                        const struct command_word *words, size_t count);

static bool read_quiet(struct command_reader *reader, const struct command_program *program,
                       const struct command_word *words, size_t count)
{
    (void)reader;
    (void)program;
    (void)words;
    (void)count;
    return true;
}

static bool read_options(struct command_reader *reader, const struct command_program *program,
                         const struct command_word *words, size_t count)
{
    for (size_t i = 1; i < count && program->output; i++) {
        struct slice word = words[i].text;
        reader->acts.writes =
            reader->acts.writes || (is_option(word) && memchr(word.ptr, program->output, word.len) != NULL);
    }
    return options_are_safe(program, words + 1, count - 1);
}

static bool read_inert(struct command_reader *reader, const struct command_program *program,
                       const struct command_word *words, size_t count)
{
    (void)reader;
    for (size_t i = 1; i < count; i++) {
        if (is_excluded(program->excluded, words[i].text) || memchr(words[i].text.ptr, '$', words[i].text.len) ||
            memchr(words[i].text.ptr, '`', words[i].text.len)) {
            return false;
        }
    }
    return true;
}

static bool is_plain_number(struct slice word)
{
    size_t at = word.len > 0 && strchr("+-%", word.ptr[0]) ? 1 : 0, begin = at;
    while (at < word.len && word.ptr[at] >= '0' && word.ptr[at] <= '9') {
        at++;
    }
    return at > begin && at == word.len;
}

/* Some shells read the operands as arithmetic, in which a name stands for what it holds, and "$_" holds the last word
 * of the command before. */
static bool read_numbers(struct command_reader *reader, const struct command_program *program,
                         const struct command_word *words, size_t count)
{
    (void)reader;
    for (size_t i = 1; i < count; i++) {
        struct slice word = words[i].text;
        if (!is_plain_number(word) && !command_list_has("unlimited hard soft", word) &&
            !(is_option(word) && command_option_of(program, word) == OPTION_ALONE)) {
            return false;
        }
    }
    return true;
}

/* Operands of -eq and the like are arithmetic in zsh and ksh; the name behind -v is so in bash. */
static bool read_test(struct command_reader *reader, const struct command_program *program,
                      const struct command_word *words, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct slice word = words[i].text;
        bool compares = command_list_has("-eq -ne -lt -le -gt -ge", word);
        bool has_numbers = i + 1 < count && is_plain_number(words[i + 1].text) && is_plain_number(words[i - 1].text);
        if (command_list_has("-v -R", word) || (compares && !has_numbers) ||
            (slice_is(word, "-t") && !(i + 1 < count && is_plain_number(words[i + 1].text)))) {
            return false;
        }
    }
    return read_inert(reader, program, words, count);
}

/* The operand of a conversion other than of text is arithmetic in zsh and ksh. */
static bool read_printf(struct command_reader *reader, const struct command_program *program,
                        const struct command_word *words, size_t count)
{
    bool has_numbers = false;
    struct slice format = count > 1 ? words[1].text : (struct slice){0};
    for (size_t i = 0; i < format.len; i++) {
        if (format.ptr[i] == '%') {
            i++;
            has_numbers = has_numbers || i == format.len || !strchr("sb%", format.ptr[i]);
        }
    }
    for (size_t i = 2; i < count && has_numbers; i++) {
        if (!is_plain_number(words[i].text)) {
            return false;
        }
    }
    return !is_option(format) && read_inert(reader, program, words, count);
}

static bool is_safe_assignment(struct slice word)
{
    return is_inert(word) && command_is_assignment(word) && command_is_safe_variable(word);
}

static bool read_export(struct command_reader *reader, const struct command_program *program,
                        const struct command_word *words, size_t count)
{
    (void)reader;
    (void)program;
    for (size_t i = 1; i < count; i++) {
        if (!is_safe_assignment(words[i].text)) {
            return false;
        }
    }
    return true;
}

/* How many words the options in front take; SIZE_MAX when one is not known. */
static size_t skip_options(const struct command_program *program, const struct command_word *words, size_t count)
{
    size_t at = 1;
    while (at < count && words[at].text.len > 0 && words[at].text.ptr[0] == '-') {
        enum command_option option = command_option_of(program, words[at].text);
        if (option == OPTION_UNKNOWN) {
            return SIZE_MAX;
        }
        at += option == OPTION_WITH_NEXT ? 2 : 1;
    }
    return at <= count ? at : SIZE_MAX;
}

static bool read_prefix(struct command_reader *reader, const struct command_program *program,
                        const struct command_word *words, size_t count)
{
    size_t at = skip_options(program, words, count);
    if (at == SIZE_MAX) {
        return false;
    }
    at += program->operands;
    while (at < count && command_is_assignment(words[at].text)) {
        if (!program->assigns || !is_safe_assignment(words[at++].text)) {
            return false; /* for nohup, CI=x is the name of a program */
        }
    }
    if (at < count) {
        command_read_words(reader, words + at, count - at, false);
    }
    return at < count || !reader->is_fed; /* exec < file: what comes later reads from there */
}

/* Its text is in no file: a pipe, a descriptor. */
static bool is_script(struct slice path)
{
    return path.len > 0 && path.ptr[0] != '-' && !memchr(path.ptr, ':', path.len) &&
           !memmem(path.ptr, path.len, "/dev/", 5) && !memmem(path.ptr, path.len, "/proc/", 6);
}

/* Nothing is known of a program but its name. That is enough when neither its words nor its input can be code. */
static bool read_file_run(struct command_reader *reader, const struct command_word *words, size_t count)
{
    reader->acts.runs = true;
    guess(reader, words, count);
    return !reader->is_fed && all_are_inert(words, count);
}

static bool read_shell(struct command_reader *reader, const struct command_program *program,
                       const struct command_word *words, size_t count)
{
    size_t at = skip_options(program, words, count);
    bool has_line = false;
    for (size_t i = 1; at != SIZE_MAX && i < at; i++) {
        has_line = has_line || (words[i].text.ptr[1] != '-' && memchr(words[i].text.ptr, 'c', words[i].text.len));
    }
    if (at >= count || slice_starts(words[at].text, SLICE("+"))) {
        return false;
    }
    if (has_line) {
        command_read_line(reader, words[at].text);
    }
    return has_line || (read_file_run(reader, words + at, count - at) && is_script(words[at].text));
}

static bool read_script(struct command_reader *reader, const struct command_program *program,
                        const struct command_word *words, size_t count)
{
    size_t at = 1;
    reader->acts.runs = true;
    if (count == 2 && slice_is(words[1].text, "--version")) {
        return true;
    }
    if (count > 2 && slice_is(words[1].text, "-m")) {
        return program->words && command_list_has(program->words, words[2].text);
    }
    while (at < count && words[at].text.len > 0 && words[at].text.ptr[0] == '-') {
        if (command_option_of(program, words[at++].text) != OPTION_ALONE) {
            return false;
        }
    }
    return at < count && read_file_run(reader, words + at, count - at) && is_script(words[at].text);
}

static bool read_eval(struct command_reader *reader, const struct command_program *program,
                      const struct command_word *words, size_t count)
{
    struct buffer line = {0};
    (void)program;
    for (size_t i = 1; i < count; i++) {
        buffer_add(&line, words[i].text);
        buffer_add_byte(&line, ' ');
    }
    command_read_line(reader, arena_copy(reader->arena, buffer_slice(&line)));
    buffer_release(&line);
    return true;
}

static size_t span(struct slice text, size_t at, const char *set)
{
    while (at < text.len && text.ptr[at] != '\0' && strchr(set, text.ptr[at])) {
        at++;
    }
    return at;
}

/* `5p`, `1,40p`, `$d`, `s/one/two/g`: sed can run programs and write files, but not with these. */
static bool is_quiet_sed(struct slice script)
{
    if (script.len > 1 && script.ptr[0] == 's' && strchr("/|#", script.ptr[1])) {
        size_t marks = 0, at = 1;
        for (; at < script.len && marks < 3; at++) {
            marks += script.ptr[at] == script.ptr[1];
            if (script.ptr[at] == '\\' || script.ptr[at] == '\n' || script.ptr[at] == '[') {
                return false;
            }
        }
        return marks == 3 && span(script, at, "gIp0123456789") == script.len;
    }
    size_t at = span(script, 0, "0123456789,$");
    return at + 1 == script.len && strchr("pdq=", script.ptr[at]);
}

static bool read_sed(struct command_reader *reader, const struct command_program *program,
                     const struct command_word *words, size_t count)
{
    const struct command_word *script = NULL;
    for (size_t i = 1; i < count; i++) {
        bool option = is_option(words[i].text);
        reader->acts.writes = reader->acts.writes || (option && memchr(words[i].text.ptr, 'i', words[i].text.len));
        script = script || option ? script : &words[i];
    }
    return options_are_safe(program, words + 1, count - 1) && script && is_quiet_sed(script->text);
}

/* A name that is none of git's own may be an alias, which is a line for a shell. */
static bool read_git(struct command_reader *reader, const struct command_program *program,
                     const struct command_word *words, size_t count)
{
    size_t at = skip_options(program, words, count);
    if (at >= count) {
        return at == count;
    }
    const struct command_program *command = command_find_git(words[at].text);
    command_add_form(reader, SLICE("git"), words + at, count - at, false);
    for (size_t i = at; i < count; i++) {
        if (is_excluded("::", words[i].text)) {
            return false; /* a remote that is a program */
        }
    }
    return command && options_are_safe(command, words + at + 1, count - at - 1);
}

static bool read_runs(struct command_reader *reader, const struct command_program *program,
                      const struct command_word *words, size_t count)
{
    (void)reader;
    (void)program;
    (void)words;
    (void)count;
    return false;
}

static const is_read readers[] = {
    [COMMAND_QUIET] = read_quiet,     [COMMAND_OPTIONS] = read_options, [COMMAND_INERT] = read_inert,
    [COMMAND_NUMBERS] = read_numbers, [COMMAND_TEST] = read_test,       [COMMAND_PRINTF] = read_printf,
    [COMMAND_EXPORT] = read_export,   [COMMAND_PREFIX] = read_prefix,   [COMMAND_SHELL] = read_shell,
    [COMMAND_SCRIPT] = read_script,   [COMMAND_EVAL] = read_eval,       [COMMAND_SED] = read_sed,
    [COMMAND_GIT] = read_git,         [COMMAND_RUNS] = read_runs,
};

/* --- one command --- */

static bool is_keyword(struct slice word)
{
    return command_list_has("if then elif else fi while until do done for in case esac select repeat foreach end "
                            "function ! { } [[ ]] (( )) -",
                            word);
}

/* From where the system keeps its programs; what is called the same elsewhere may be anything. */
static bool is_of_system(struct slice path, struct slice name)
{
    struct slice directory = directory_of(path);
    return slice_eq(slice_after(path, directory.len), name) &&
           (directory.len == 0 ||
            command_list_has("/bin/ /usr/bin/ /usr/local/bin/ /sbin/ /usr/sbin/ /usr/local/sbin/", directory));
}

static void read_unknown(struct command_reader *reader, struct slice name, const struct command_word *words,
                         size_t count)
{
    static const struct slice git = SLICE("git-");
    if (!read_file_run(reader, words, count)) {
        command_doubt(reader);
    }
    if (slice_starts(name, git)) { /* git-push */
        command_doubt(reader);
        command_add_form(reader, arena_format(reader->arena, "git %.*s", SLICE_ARG(slice_after(name, git.len))),
                         words + 1, count - 1, false);
    }
}

static bool read_program(struct command_reader *reader, const struct command_program *program,
                         const struct command_word *words, size_t count)
{
    reader->acts.writes = reader->acts.writes || program->writes;
    reader->acts.runs = reader->acts.runs || program->runs_files;
    return readers[program->kind](reader, program, words, count);
}

static void run(struct command_reader *reader, const struct command_word *words, size_t count)
{
    struct slice name = canonical_name(reader, words[0].text);
    const struct command_program *program = command_find_program(name);
    add_named_forms(reader, name, words, count);
    reader->depth++;
    if (!program) {
        read_unknown(reader, name, words, count);
    } else if (!read_program(reader, program, words, count) || !is_of_system(words[0].text, name)) {
        command_doubt(reader);
        guess(reader, words, count);
    }
    reader->depth--;
}

bool command_leads_back(struct slice word)
{
    bool goes_in = false;
    struct slice part, left = word;
    while (left.len > 0) {
        slice_cut(left, '/', &part, &left);
        if (goes_in && slice_is(part, "..")) {
            return true;
        }
        goes_in = goes_in || (part.len > 0 && !slice_is(part, ".."));
    }
    return false;
}

void command_read_words(struct command_reader *reader, const struct command_word *words, size_t count, bool is_plain)
{
    if (reader->depth > COMMAND_DEPTH_MAX || reader->is_full) {
        reader->is_full = true;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (command_leads_back(words[i].text)) {
            command_doubt(reader);
        }
    }
    while (count > 0 && is_keyword(words[0].text)) {
        command_doubt(reader);
        words++;
        count--;
    }
    if (count > 0 && (is_plain || command_is_assignment(words[0].text))) {
        command_add_form(reader, words[0].text, words + 1, count - 1, is_plain);
    }
    while (count > 0 && command_is_assignment(words[0].text)) {
        bool is_bare = words[0].bare > 0 && memchr(words[0].text.ptr, '=', words[0].bare);
        if (!is_bare || !is_safe_assignment(words[0].text)) {
            command_doubt(reader);
        }
        words++;
        count--;
    }
    if (count == 0) {
        return;
    }
    struct slice first = words[0].text;
    if (first.len == 0 || strchr("-+%=", first.ptr[0]) || memchr(first.ptr, '=', first.len)) {
        command_doubt(reader);
    }
    run(reader, words, count);
}

/* --- a call --- */

static struct command_reader reader_of(struct arena *arena, struct command_reading *out)
{
    *out = (struct command_reading){.is_certain = true};
    out->forms = arena_array(arena, COMMAND_FORMS_MAX, sizeof *out->forms);
    return (struct command_reader){.arena = arena, .out = out};
}

static void add_word(struct command_reader *reader, struct command_words *words, const struct json *word)
{
    if (!json_is(word, JSON_STRING) || words->count == COMMAND_WORDS_MAX) {
        command_doubt(reader);
    } else {
        words->at[words->count++] = (struct command_word){.text = word->text.len ? word->text : SLICE("")};
    }
}

/* The program alone or with words behind it, and a list with more of them. */
static void read_list(struct command_reader *reader, const struct json *program, const struct json *list)
{
    struct command_words *words = arena_alloc(reader->arena, sizeof *words);
    if (program) {
        add_word(reader, words, program);
    }
    for (const struct json *word = list->child; word; word = word->next) {
        add_word(reader, words, word);
    }
    command_read_words(reader, words->at, words->count, true);
}

static const struct json *member_of(const struct json *arguments, const char *name)
{
    const struct json *value = json_is(arguments, JSON_OBJECT) ? json_get_value(arguments, name) : NULL;
    return json_is(value, JSON_NULL) ? NULL : value;
}

static bool is_empty(const struct json *value)
{
    return json_is(value, JSON_OBJECT) || json_is(value, JSON_ARRAY) ? !value->child
                                                                     : json_is(value, JSON_STRING) && !value->text.len;
}

/* Whatever else stands in a call may decide what its command does: another shell, variables, input, more arguments.
 * Known are those that say where, how long and why. */
static bool is_alone(const struct json *arguments)
{
    static const char known[] =
        "command cmd script args description title reason justification cwd workdir directory dir dir_path "
        "working_directory timeout timeout_ms timeout_s timeout_seconds call_id callId turn_id id name tool parsed_cmd "
        "background is_background run_in_background max_output_bytes path paths file file_path file_text content text "
        "old_str new_str insert_text view_range";
    for (const struct json *value = arguments ? arguments->child : NULL; value; value = value->next) {
        bool is_scalar = !(json_is(value, JSON_STRING) || json_is(value, JSON_OBJECT) || json_is(value, JSON_ARRAY));
        if (!command_list_has(known, value->key) && !is_empty(value) &&
            (!is_scalar || slice_is(value->key, "shell") || slice_is(value->key, "stdin"))) {
            return false;
        }
    }
    return true;
}

/* `args` that belong to no program. */
static bool has_loose_arguments(const struct json *arguments, const struct json *further)
{
    const struct json *command = member_of(arguments, "command"), *other = member_of(arguments, "cmd");
    const struct json *program = command ? command : other;
    return further && !is_empty(further) && !(json_is(program, JSON_STRING) && json_is(further, JSON_ARRAY));
}

static bool read_member(struct command_reader *reader, const struct json *value, const struct json *further)
{
    if (json_is(value, JSON_ARRAY)) {
        read_list(reader, NULL, value);
    } else if (json_is(value, JSON_STRING) && json_is(further, JSON_ARRAY) && further->child) {
        if (!is_inert(value->text)) {
            command_read_line(reader, value->text);
            command_doubt(reader);
        }
        read_list(reader, value, further);
    } else if (json_is(value, JSON_STRING)) {
        command_read_line(reader, value->text);
    } else if (value) {
        command_doubt(reader); /* nobody knows how it is read */
    }
    return value != NULL;
}

bool command_read_call(struct arena *arena, const struct json *arguments, struct command_reading *out)
{
    static const char *const names[] = {"command", "cmd", "script"};
    const struct json *further = member_of(arguments, "args");
    struct command_reader reader = reader_of(arena, out);
    bool found = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        found = read_member(&reader, member_of(arguments, names[i]), further) || found;
    }
    if (out->count == 0) {
        command_add_form(&reader, SLICE(""), NULL, 0, true); /* so that no rule allows it as a line of nothing */
        command_doubt(&reader);
    }
    out->is_certain =
        out->is_certain && !reader.is_full && is_alone(arguments) && !has_loose_arguments(arguments, further);
    return found;
}
