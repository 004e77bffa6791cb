#include "domain/redact.h"
#include "unit.h"

#include <time.h>

static void check(const char *text, const char *expected)
{
    struct buffer out = {0};
    redact_add(&out, slice_of(text));
    if (!slice_is(buffer_slice(&out), expected)) {
        fail_msg("\"%s\" became \"%.*s\", expected \"%s\"", text, SLICE_ARG(buffer_slice(&out)), expected);
    }
    buffer_release(&out);
}

static void secrets_are_masked(void **state)
{
    (void)state;
    check("use sk-"
          "0123456789abcdefghijklmn please",
          "use [redacted] please");
    check("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "[redacted]");
    check("(github_pat_11ABCDEFG0abcdefghijkl_mnop).", "([redacted]).");
    check("xoxb-1234567890-abcdef", "[redacted]");
    check("key=AKIAIOSFODNN7EXAMPLE!", "key=[redacted]!");
    check("AIzaSyA-1234567890abcdefghijklmnopqrstuv", "[redacted]");
    check("sj_abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG", "[redacted]");
    check("jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl end", "jwt [redacted] end");
    check("Authorization: Bearer abcdef0123456789==", "Authorization: Bearer [redacted]");
    check("password=hunter22 and more", "password=[redacted] and more");
    check("{\"api_key\": \"abcdef123\", \"a\": 1}", "{\"api_key\": \"[redacted]\", \"a\": 1}");
    check("PASSWORD: hunter22", "PASSWORD: [redacted]");
    check("postgres://bob:s3cret@db/x", "postgres://bob:[redacted]@db/x");
    check("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- done", "[redacted] done");
    check("-----BEGIN PRIVATE KEY-----\nMIIE", "[redacted]");
}

static void ordinary_text_stays(void **state)
{
    static const char *const plain[] = {
        "",
        "hello world",
        "sk-learn is a library",
        "the password is unknown",
        "a secret: no",
        "bearer of news",
        "http://example.com/path:80",
        "see https://example.com:8443/x?a=b@c",
        "eyJust.kidding",
        "hf_short",
        "internationalisation-and-localisation",
        "the token: keep",
        "-----",
        "a-b-c",
        "día=señal",
        "xoxb-1",
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(plain); i++) {
        check(plain[i], plain[i]);
    }
}

static void a_secret_inside_a_word_is_no_secret(void **state)
{
    (void)state;
    check("task-sk-abcdefghijklmnopqrst", "task-sk-abcdefghijklmnopqrst");
}

static int64_t spent_us(const char *part, size_t bytes)
{
    struct buffer text = {0}, out = {0};
    struct timespec before, after;
    while (text.len < bytes) {
        buffer_add(&text, slice_of(part));
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    redact_add(&out, buffer_slice(&text));
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    buffer_release(&text);
    buffer_release(&out);
    return (after.tv_sec - before.tv_sec) * 1000000 + (after.tv_nsec - before.tv_nsec) / 1000;
}

/* What begins like a secret, over and over, is read once: sixteen times as much would cost 256 times as much. */
static void time_grows_with_the_text(void **state)
{
    static const char *const parts[] = {
        "eyJaaa/",
        "eyJaaaaaaaaaaaaaa/",
        "eyJaaaaaaaaaaaa.=",
        "passwordaaaaaaaa/",
        "password ",
        "pwd:a ",
        "bearer a",
        "bearer ./",
        "sk-aaaaaaaaaaaaaa/",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY",
        "http://a:b?",
        "https://",
        "ghp_aaaaaaaaaaaa./",
        "a",
        "a=",
        "secret\"",
        "client_secret`",
        "-",
        "SG.aaaaaaaaaaa/",
        ".",
        "eyJ.eyJ.ey ",
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        int64_t small = 0, large = INT64_MAX;
        for (int tries = 0; tries < 3 && large > 60 * small; tries++) {
            small = spent_us(parts[i], 64 * 1024);
            large = spent_us(parts[i], 1024 * 1024);
            small = small > 200 ? small : 200;
        }
        if (large > 60 * small) {
            fail_msg("\"%s\": 64 KiB take %lld µs, 1 MiB %lld µs", parts[i], (long long)small, (long long)large);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(secrets_are_masked),
        cmocka_unit_test(ordinary_text_stays),
        cmocka_unit_test(a_secret_inside_a_word_is_no_secret),
        cmocka_unit_test(time_grows_with_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
