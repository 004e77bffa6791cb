/* The parent of every process that the server starts, in a process of its own. It waits for the command and ends with
 * the command's status. Before it ends, and as soon as the server dies or lets go of the lifeline, it kills all that
 * descends from it: orphans too, whatever session or group they made for themselves. Only for this room. */
#ifndef RUNNER_SUPERVISOR_H
#define RUNNER_SUPERVISOR_H

/* The descriptor of its lifeline: a pipe of which only the server holds the other end. */
enum { SUPERVISOR_LIFELINE_FD = 5 };

extern const char supervisor_path[]; /* what is executed, with supervisor_name and then the command as arguments */
extern const char supervisor_name[];

#endif
