/* What the files that read commands share. Only for them. */
#ifndef DOMAIN_COMMAND_INTERNAL_H
#define DOMAIN_COMMAND_INTERNAL_H

#include "domain/command.h"

enum { COMMAND_WORDS_MAX = 512, COMMAND_DEPTH_MAX = 6, COMMAND_WORK_BYTES_MAX = 8 * 1024 * 1024 };

/* A word without its quotes. */
struct command_word {
    struct slice text;
    size_t bare; /* bytes in front of the first quote: only they can make it an assignment */
};

struct command_words {
    struct command_word at[COMMAND_WORDS_MAX];
    size_t count;
};

/* A line that writes a file in one command and runs something in another may run what it wrote. */
struct command_acts {
    bool writes, runs; /* the command that is read */
    int writers, runners, both;
};

struct command_reader {
    struct arena *arena;
    struct command_reading *out;
    int depth;
    size_t work_bytes; /* read and copied so far: guesses must not take longer than the line is worth */
    struct command_acts acts;
    bool is_fed;      /* standard input is text of the line, or a file */
    bool is_guessing; /* every later word is tried as the begin of a command already */
    bool is_full;     /* a limit was reached: forms are missing */
};

/* Unquoted, they are themselves for every shell. */
bool command_is_inert(char c);

void command_doubt(struct command_reader *reader);
/* False when a limit is reached. */
bool command_spend(struct command_reader *reader, size_t bytes);
void command_add_form(struct command_reader *reader, struct slice first, const struct command_word *rest, size_t count,
                      bool is_plain);
void command_read_line(struct command_reader *reader, struct slice line);
void command_read_words(struct command_reader *reader, const struct command_word *words, size_t count, bool is_plain);
/* a/../b: a pattern about what lies in a would meet what lies elsewhere. */
bool command_leads_back(struct slice word);
/* NAME=value */
bool command_is_assignment(struct slice word);

/* --- programs --- */

/* What is known of a program: how its arguments are read. */
enum command_kind {
    COMMAND_QUIET,   /* runs nothing, whatever its arguments */
    COMMAND_OPTIONS, /* runs nothing as long as its options are among those listed */
    COMMAND_INERT,   /* runs nothing as long as no word could be an expression */
    COMMAND_NUMBERS, /* operands are numbers */
    COMMAND_TEST,
    COMMAND_PRINTF,
    COMMAND_EXPORT, /* sets variables */
    COMMAND_PREFIX, /* options, then the command that it runs */
    COMMAND_SHELL,
    COMMAND_SCRIPT, /* an interpreter: a script is a program like any other, code is not read */
    COMMAND_EVAL,
    COMMAND_SED,
    COMMAND_GIT,
    COMMAND_RUNS, /* runs what is not read here */
};

struct command_program {
    const char *names; /* lists are separated by blanks */
    enum command_kind kind;
    const char *letters;  /* options of one letter that start nothing; ':' behind one that takes a value */
    const char *words;    /* longer ones; '=' behind one that takes a value. Of a script: modules that -m may name */
    const char *excluded; /* text that makes any argument an instruction of its own */
    bool writes;          /* files, with what it is given */
    bool assigns;         /* of a prefix: NAME=value may stand before the command */
    char output;          /* the option that names a file to write */
    bool runs_files;      /* what a file says: a Makefile */
    size_t operands;      /* of a prefix: words between its options and the command */
};

/* The row of a program, or of a command of git; NULL when there is none. */
const struct command_program *command_find_program(struct slice name);
const struct command_program *command_find_git(struct slice name);
bool command_list_has(const char *list, struct slice word);
/* Variables that change no program that runs. */
bool command_is_safe_variable(struct slice assignment);

enum command_option { OPTION_UNKNOWN, OPTION_ALONE, OPTION_WITH_NEXT };
enum command_option command_option_of(const struct command_program *program, struct slice word);

#endif
