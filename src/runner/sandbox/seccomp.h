/* The system calls that nobody in a sandbox needs, refused by the kernel. */
#ifndef RUNNER_SECCOMP_H
#define RUNNER_SECCOMP_H

/* Who limits the memory of the sandbox. The server sees what is mapped, so memory that is not has to be refused. */
enum seccomp_memory { SECCOMP_KERNEL_COUNTS, SECCOMP_SERVER_COUNTS };

/* A new descriptor from which the filter can be read once, or -1 where this processor has none. The caller closes. */
int seccomp_filter_open(enum seccomp_memory memory);

#endif
