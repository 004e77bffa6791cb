/* The limits of the api. Each field is filled by its row of main/options_table.c, before anything runs. */
#ifndef API_LIMITS_H
#define API_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

struct api_limits {
    int64_t guest_body_bytes_max, body_values_max, message_values_max;
    int64_t page_bytes_max;
    int64_t reads_waiting_max;
    int64_t events_page_default, events_page_max;
    int64_t sessions_page_default, sessions_page_max;
    int64_t claim_wait_ms_max;
    int64_t prompt_wait_ms_max;
    int64_t runner_frame_chars_max;
    int64_t ready_timeout_ms;
    int64_t proxy_connect_ms, proxy_silence_ms, proxy_idle_ms;
    int64_t proxy_frame_bytes_max, proxy_sockets_max;
    bool wake_on_view; /* a viewer wakes a session that sleeps */
};

#endif
