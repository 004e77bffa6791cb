/* Vocabularies: an enum and the words people see for it, in one table. */
#ifndef BASE_WORDS_H
#define BASE_WORDS_H

#include "base/slice.h"

struct words {
    const char *const *names;
    int count;
};

/* The index of the word, or -1. */
int words_find(struct words words, struct slice name);
/* "draft, pending, running", for messages that name what is accepted. */
void words_list(struct words words, char *out, size_t room);

#endif
