/* Options that are passed on to the server as they are. The name of a row is the name of the query parameter or of the
 * member of the body, with underscores for dashes; its type says how it is written. Such tables fill no struct. */
#ifndef CLI_FORWARDED_OPTIONS_H
#define CLI_FORWARDED_OPTIONS_H

#include "base/json.h"
#include "cli/arguments.h"

/* The rows of such tables. */
#define PASS_TEXT(title, placeholder, sentence)                                                                        \
    {                                                                                                                  \
        .name = (title), .type = OPTION_TEXT, .value = (placeholder), .help = (sentence)                               \
    }
#define PASS_NUMBER(title, least, most, sentence)                                                                      \
    {                                                                                                                  \
        .name = (title), .type = OPTION_NUMBER, .value = "N", .min = (least), .max = (most), .help = (sentence)        \
    }
#define PASS_TIME(title, most, sentence)                                                                               \
    {                                                                                                                  \
        .name = (title), .type = OPTION_NUMBER, .value = "TIME", .max = (most), .unit = UNIT_MS, .help = (sentence)    \
    }
#define PASS_SWITCH(title, sentence)                                                                                   \
    {                                                                                                                  \
        .name = (title), .type = OPTION_SWITCH, .help = (sentence)                                                     \
    }
/* `vocabulary` is a struct enum_names, the domain's own where it has one. */
#define PASS_CHOICE(title, vocabulary, sentence)                                                                       \
    {                                                                                                                  \
        .name = (title), .type = OPTION_CHOICE, .choices = &(vocabulary), .help = (sentence)                           \
    }
/* Words separated by commas, given once or several times. */
#define PASS_WORDS(title, placeholder, sentence)                                                                       \
    {                                                                                                                  \
        .name = (title), .type = OPTION_LIST, .value = (placeholder), .help = (sentence)                               \
    }

/* Name of the one list that is pairs: --metadata KEY=VALUE. As parameters: metadata.KEY=VALUE; as a member: an object.
 */
#define PASSED_PAIRS "metadata"

/* Checks and appends what was given of `table` to a query string. */
MUST_CHECK enum status forwarded_options_to_query(const struct arguments *arguments, const struct option *table,
                                                  struct arena *arena, struct buffer *query, struct failure *failure);
/* The same as members of the object that `out` has begun. */
MUST_CHECK enum status forwarded_options_to_body(const struct arguments *arguments, const struct option *table,
                                                 struct arena *arena, struct json_out *out, struct failure *failure);

#endif
