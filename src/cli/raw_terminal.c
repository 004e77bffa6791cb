#include "cli/raw_terminal.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define PASTE_ON "\033[?2004h"
#define PASTE_OFF "\033[?2004l\033[?25h\033[0m"

static struct termios saved;
static volatile sig_atomic_t is_raw;

static void put(const char *text)
{
    ssize_t ignored = write(STDOUT_FILENO, text, strlen(text));
    (void)ignored;
}

/* Only calls that a signal handler may make. */
void raw_terminal_leave(void)
{
    if (is_raw) {
        is_raw = 0;
        put(PASTE_OFF);
        (void)tcsetattr(STDIN_FILENO, TCSADRAIN, &saved);
    }
}

/* What ends a process. The first FAULT_COUNT are faults of its own. */
static const int fatal[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGQUIT, SIGTERM, SIGHUP, SIGINT, SIGPIPE};
enum { FATAL_COUNT = sizeof fatal / sizeof fatal[0], FAULT_COUNT = 5 };
static struct sigaction earlier[FATAL_COUNT];

/* Then the signal goes where it went before: to the default action, or to a sanitizer, which reports it. */
static void on_fatal(int number)
{
    raw_terminal_leave();
    for (size_t i = 0; i < FATAL_COUNT; i++) {
        if (fatal[i] == number) {
            (void)sigaction(number, &earlier[i], NULL);
        }
    }
    raise(number);
}

static void watch_fatal_signals(void)
{
    static bool is_watching;
    struct sigaction action = {.sa_handler = on_fatal, .sa_flags = SA_NODEFER | SA_ONSTACK};
    if (is_watching) {
        return;
    }
    is_watching = true;
    atexit(raw_terminal_leave);
    for (size_t i = 0; i < FATAL_COUNT; i++) {
        bool is_fault = i < FAULT_COUNT;
        /* Sanitizers take the faults, and know nothing of terminals. For other signals, what the caller has set stays.
         */
        if (sigaction(fatal[i], NULL, &earlier[i]) == 0 && (is_fault || earlier[i].sa_handler == SIG_DFL)) {
            (void)sigaction(fatal[i], &action, NULL);
        }
    }
}

bool raw_terminal_enter(void)
{
    if (is_raw) {
        return true;
    }
    if (tcgetattr(STDIN_FILENO, &saved) != 0) {
        return false;
    }
    struct termios raw = saved;
    raw.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IGNCR | IXON | ISTRIP | BRKINT);
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG | IEXTEN);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    watch_fatal_signals();
    is_raw = 1;
    (void)tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
    put(PASTE_ON);
    return true;
}

void raw_terminal_suspend(void)
{
    sigset_t stop, before;
    raw_terminal_leave();
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &stop, &before);
    (void)kill(0, SIGTSTP); /* the whole job, as the terminal does */
    sigprocmask(SIG_SETMASK, &before, NULL);
    (void)raw_terminal_enter();
}
