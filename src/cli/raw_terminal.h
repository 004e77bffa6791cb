/* The modes of the terminal: keys arrive one by one, pasted text is marked. The modes are given back on every way out:
 * a call, exit(), and the signals that end a process. At most one at a time in a process. */
#ifndef CLI_RAW_TERMINAL_H
#define CLI_RAW_TERMINAL_H

#include <stdbool.h>

/* False when standard input is not a terminal. */
bool raw_terminal_enter(void);
/* As it was before. More than once is nothing. */
void raw_terminal_leave(void);
/* Gives the terminal back, stops the process as the terminal's own key would, and takes the terminal again when the
 * process continues. */
void raw_terminal_suspend(void);

#endif
