/* Stands for a program under whose name it is called: writes its name and its arguments to a file and ends. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { RECORD_BYTES_MAX = 65536 };

int main(int argc, char **argv)
{
    static char record[RECORD_BYTES_MAX];
    size_t len = 0;
    const char *slash = strrchr(argv[0], '/');
    argv[0] = slash ? argv[0] + (slash - argv[0]) + 1 : argv[0];
    for (int i = 0; i < argc && len + strlen(argv[i]) + 3 < sizeof record; i++) {
        len += (size_t)snprintf(record + len, sizeof record - len, "%s%c", argv[i], i + 1 < argc ? '\x1f' : '\x1e');
    }
    int fd = open("/log/calls", O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    return fd >= 0 && write(fd, record, len) == (ssize_t)len ? 0 : 125;
}
