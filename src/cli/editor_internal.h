/* What the files of the editor share. */
#ifndef CLI_EDITOR_INTERNAL_H
#define CLI_EDITOR_INTERNAL_H

#include "cli/editor.h"

void editor_store(struct buffer *buffer, struct slice text);

/* editor_history.c */
enum editor_outcome editor_history_back(struct editor *editor);
enum editor_outcome editor_history_forth(struct editor *editor);
enum editor_outcome editor_search_start(struct editor *editor);
/* A key while a search is on. */
enum editor_outcome editor_search_key(struct editor *editor, const struct key *key);

#endif
