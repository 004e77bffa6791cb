/* The system calls that nobody in a sandbox needs, refused by the kernel. */
#ifndef RUNNER_SECCOMP_H
#define RUNNER_SECCOMP_H

/* A new descriptor from which the filter can be read once, or -1 where this processor has none. The caller closes. */
int seccomp_filter_open(void);

#endif
