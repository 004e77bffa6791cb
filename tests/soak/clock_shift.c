/* Preloaded into a server: its wall clock is ahead by as many milliseconds as the file SOJOURN_TEST_CLOCK says. The
 * other clocks of the machine go on as they are, as when an operator or NTP sets the time. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *shift_ms;

__attribute__((constructor)) static void shift_open(void)
{
    const char *path = getenv("SOJOURN_TEST_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file >= 0) {
        void *mapped = mmap(NULL, sizeof *shift_ms, PROT_READ, MAP_SHARED, file, 0);
        shift_ms = mapped == MAP_FAILED ? NULL : mapped;
        close(file);
    }
}

int clock_gettime(clockid_t id, struct timespec *out)
{
    int result = (int)syscall(SYS_clock_gettime, id, out);
    if (result == 0 && shift_ms && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) {
        out->tv_sec += *shift_ms / 1000;
    }
    return result;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    int result = clock_gettime(CLOCK_REALTIME, &now);
    *out = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return result;
}

time_t time(time_t *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out) {
        *out = now.tv_sec;
    }
    return now.tv_sec;
}
