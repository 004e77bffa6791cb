/* What the options say about the tools of built-in agents. */
#ifndef MAIN_TOOL_OPTIONS_H
#define MAIN_TOOL_OPTIONS_H

#include "main/options.h"
#include "runner/tool/tool.h"

/* Borrows the texts of the options. */
void tool_options(const struct options *options, struct tool_settings *out);

#endif
