#include "runner/sandbox/seccomp.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

#if defined(__x86_64__)
#define FILTER_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define FILTER_ARCH AUDIT_ARCH_AARCH64
#endif

#ifdef FILTER_ARCH

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define LOAD_ARGUMENT(n) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + 8 * (n))
#define LOAD_HIGH(n) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + 8 * (n) + 4)
#define REFUSE(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
/* Skips the following `n` steps unless equal. */
#define UNLESS_EQUAL(value, n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (n))
#define UNLESS_ANY_BIT(value, n) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (value), 0, (n))
#define REFUSE_CALL(number) UNLESS_EQUAL((number), 1), REFUSE(EPERM)
#define ALLOW_FAMILY(family) UNLESS_EQUAL((family), 1), ALLOW

enum { SHARED_BYTES_MAX = 4096 }; /* of a segment that may stay unmapped: programs keep a few words in one */

/* Memory that lives without being mapped: no control group is there to count it. */
static const struct sock_filter counted_filter[] = {
    LOAD(nr),         UNLESS_EQUAL(SYS_memfd_create, 1),
    REFUSE(ENOSYS),   UNLESS_EQUAL(SYS_msgget, 1),
    REFUSE(ENOSYS),   UNLESS_EQUAL(SYS_shmget, 5),
    LOAD_HIGH(1),     UNLESS_EQUAL(0, 2),
    LOAD_ARGUMENT(1), BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, SHARED_BYTES_MAX, 0, 1),
    REFUSE(EPERM),
};

static const struct sock_filter filter[] = {
    LOAD(arch),
    UNLESS_EQUAL(FILTER_ARCH, 1),
    BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    LOAD(nr),
#ifdef __x86_64__
    BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1), /* the x32 names of the same calls */
    REFUSE(ENOSYS),
#endif
    /* file systems */
    REFUSE_CALL(SYS_mount),
    REFUSE_CALL(SYS_umount2),
    REFUSE_CALL(SYS_pivot_root),
    REFUSE_CALL(SYS_chroot),
    REFUSE_CALL(SYS_move_mount),
    REFUSE_CALL(SYS_open_tree),
    REFUSE_CALL(SYS_fsopen),
    REFUSE_CALL(SYS_fsconfig),
    REFUSE_CALL(SYS_fsmount),
    REFUSE_CALL(SYS_fspick),
    REFUSE_CALL(SYS_mount_setattr),
    REFUSE_CALL(SYS_quotactl),
    REFUSE_CALL(SYS_swapon),
    REFUSE_CALL(SYS_swapoff),
    REFUSE_CALL(SYS_open_by_handle_at),
    /* memory that no limit counts */
    UNLESS_EQUAL(SYS_memfd_secret, 1),
    REFUSE(ENOSYS),
    /* the kernel itself */
    REFUSE_CALL(SYS_init_module),
    REFUSE_CALL(SYS_finit_module),
    REFUSE_CALL(SYS_delete_module),
    REFUSE_CALL(SYS_kexec_load),
    REFUSE_CALL(SYS_kexec_file_load),
    REFUSE_CALL(SYS_reboot),
    REFUSE_CALL(SYS_acct),
    REFUSE_CALL(SYS_syslog),
    REFUSE_CALL(SYS_bpf),
    REFUSE_CALL(SYS_perf_event_open),
    REFUSE_CALL(SYS_userfaultfd),
    REFUSE_CALL(SYS_settimeofday),
    REFUSE_CALL(SYS_clock_settime),
    REFUSE_CALL(SYS_clock_adjtime),
    REFUSE_CALL(SYS_adjtimex),
    /* keys of other processes of the same user */
    REFUSE_CALL(SYS_keyctl),
    REFUSE_CALL(SYS_add_key),
    REFUSE_CALL(SYS_request_key),
    /* namespaces: a new one would give capabilities back; clone3 hides its flags, and libraries do without it */
    REFUSE_CALL(SYS_setns),
    UNLESS_EQUAL(SYS_clone3, 1),
    REFUSE(ENOSYS),
    /* programs fall back when it is not there, and it goes around this filter */
    UNLESS_EQUAL(SYS_io_uring_setup, 1),
    REFUSE(ENOSYS),
    UNLESS_EQUAL(SYS_unshare, 4),
    LOAD_ARGUMENT(0),
    UNLESS_ANY_BIT(CLONE_NEWUSER, 1),
    REFUSE(EPERM),
    ALLOW,
    UNLESS_EQUAL(SYS_clone, 4),
    LOAD_ARGUMENT(0),
    UNLESS_ANY_BIT(CLONE_NEWUSER, 1),
    REFUSE(EPERM),
    ALLOW,
    /* typing into a terminal */
    UNLESS_EQUAL(SYS_ioctl, 4),
    LOAD_ARGUMENT(1),
    UNLESS_EQUAL(TIOCSTI, 1),
    REFUSE(EPERM),
    ALLOW,
    /* families that a network namespace does not hold, like vsock, stay closed */
    UNLESS_EQUAL(SYS_socket, 10),
    LOAD_ARGUMENT(0),
    ALLOW_FAMILY(AF_UNIX),
    ALLOW_FAMILY(AF_INET),
    ALLOW_FAMILY(AF_INET6),
    ALLOW_FAMILY(AF_NETLINK),
    REFUSE(EAFNOSUPPORT),
    ALLOW,
};

static bool put(int fd, const struct sock_filter *steps, size_t bytes)
{
    return write(fd, steps, bytes) == (ssize_t)bytes;
}

int seccomp_filter_open(enum seccomp_memory memory)
{
    int fd = memfd_create("filter", MFD_CLOEXEC);
    if (fd < 0) {
        return -1;
    }
    bool is_counted = memory == SECCOMP_SERVER_COUNTS;
    if ((is_counted && !put(fd, counted_filter, sizeof counted_filter)) || !put(fd, filter, sizeof filter) ||
        lseek(fd, 0, SEEK_SET) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

#else

int seccomp_filter_open(enum seccomp_memory memory)
{
    (void)memory;
    return -1;
}

#endif
