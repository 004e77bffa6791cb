/* Vocabularies: an enum and the words people see for it, in one table. */
#ifndef BASE_ENUM_NAMES_H
#define BASE_ENUM_NAMES_H

#include "base/slice.h"

struct enum_names {
    const char *const *names;
    int count;
};

/* The index of the word, or -1. */
int enum_names_find(struct enum_names words, struct slice name);
/* "draft, pending, running", for messages that name what is accepted. */
void enum_names_list(struct enum_names words, char *out, size_t room);

#endif
