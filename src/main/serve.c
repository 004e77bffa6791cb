#include "main/serve.h"

int serve(const struct options *options)
{
    log_configure((enum log_level)options->log_level, (enum log_format)options->log_format);
    log_error("serve", LOG_TEXT("detail", SLICE("the rooms are not wired yet")));
    return EXIT_REFUSED;
}
