/* Structured logs on standard error: one line per entry, as text or JSON. Logged once, at the edge. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/slice.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR, LOG_LEVEL_COUNT };
enum log_format { LOG_FORMAT_TEXT, LOG_FORMAT_JSON };

struct log_field {
    const char *key; /* NULL ends the list */
    struct slice text;
    int64_t number;
    bool is_number;
};

#define LOG_TEXT(key, slice) ((struct log_field){(key), (slice), 0, false})
#define LOG_NUM(key, value) ((struct log_field){(key), {0}, (int64_t)(value), true})
/* log_info("listening", LOG_TEXT("address", a), LOG_NUM("port", p)); at least one field. */
#define log_info(event, ...) log_write(LOG_INFO, event, (struct log_field[]){__VA_ARGS__, {0}})
#define log_warn(event, ...) log_write(LOG_WARN, event, (struct log_field[]){__VA_ARGS__, {0}})
#define log_error(event, ...) log_write(LOG_ERROR, event, (struct log_field[]){__VA_ARGS__, {0}})
#define log_debug(event, ...) log_write(LOG_DEBUG, event, (struct log_field[]){__VA_ARGS__, {0}})

/* Set once by main before any thread starts. */
void log_configure(enum log_level least, enum log_format format);
bool log_enabled(enum log_level level);
/* Any thread; one write(2) per line. */
void log_write(enum log_level level, const char *event, const struct log_field *fields);

#endif
