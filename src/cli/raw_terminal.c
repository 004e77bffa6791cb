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

static void on_fatal(int number)
{
    raw_terminal_leave();
    raise(number); /* SA_RESETHAND: the default action now */
}

static void watch_fatal_signals(void)
{
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGQUIT, SIGTERM, SIGHUP, SIGINT, SIGPIPE};
    static bool is_watching;
    struct sigaction action = {.sa_handler = on_fatal, .sa_flags = (int)(SA_RESETHAND | SA_NODEFER)};
    if (is_watching) {
        return;
    }
    is_watching = true;
    atexit(raw_terminal_leave);
    for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++) {
        struct sigaction before;
        /* What a sanitizer or the caller has set stays. */
        if (sigaction(fatal[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL) {
            sigaction(fatal[i], &action, NULL);
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
