/* Whether a session keeps what its person was promised: its log, its queue and its asks against what he was told. */
#ifndef TESTS_CRASH_WITNESS_H
#define TESTS_CRASH_WITNESS_H

#include "client.h"

enum { PROBLEM_BYTES = 300 };

/* What holds at any time: each accepted message is in exactly one place, what is unknown in one at most; turns follow
 * each other, and each of them but the last has its one end; no ask is decided twice, and each acknowledged answer
 * stands. With `at_rest`: all of it is over, each message was dealt with to its end, once, and every answer was heard.
 * False, with the first problem in a sentence. */
bool witness_check(struct client *client, bool at_rest, char out_problem[PROBLEM_BYTES]);
/* The log, one event per line. */
void witness_print(struct client *client);

#endif
