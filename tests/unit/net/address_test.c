/* Every special block at its first and last address and right beside it. */
#include "unit.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "net/address.h"

static const char *const public[] = {
    "1.1.1.1",        "8.8.8.8",         "9.255.255.255", "11.0.0.0",        "100.63.255.255",
    "100.128.0.0",    "126.255.255.255", "128.0.0.0",     "169.253.255.255", "169.255.0.0",
    "172.15.255.255", "172.32.0.0",      "192.0.1.0",     "192.0.3.0",       "192.167.255.255",
    "192.169.0.0",    "198.17.255.255",  "198.20.0.0",    "223.255.255.255", "64:ff9b::8.8.8.8",
    "2000::1",        "2001:200::1",     "2001:db9::1",   "2003::1",         "2606:4700:4700::1111",
    "3fff:1000::1",
};

static const char *const not_public[] = {
    "0.0.0.0",
    "0.255.255.255",
    "10.0.0.0",
    "10.255.255.255",
    "100.64.0.0",
    "100.127.255.255",
    "127.0.0.1",
    "127.255.255.255",
    "169.254.0.0",
    "169.254.169.254",
    "172.16.0.0",
    "172.31.255.255",
    "192.0.0.8",
    "192.0.2.255",
    "192.88.99.1",
    "192.168.0.0",
    "192.168.255.255",
    "198.18.0.0",
    "198.19.255.255",
    "198.51.100.7",
    "203.0.113.7",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::2",
    "::7f00:1",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "::ffff:10.0.0.1",
    "::ffff:0:8.8.8.8",
    "64:ff9b::10.0.0.1",
    "64:ff9b::127.0.0.1",
    "64:ff9b:1::8.8.8.8",
    "100::1",
    "1fff::1",
    "2001::1",
    "2001:1ff::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "3fff::1",
    "4000::1",
    "fc00::1",
    "fdff::1",
    "fe80::1",
    "fec0::1",
    "ff02::1",
    "ff0e::1",
};

static void make(const char *text, struct sockaddr_storage *out)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    *out = (struct sockaddr_storage){0};
    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1) {
        memcpy(out, &v4, sizeof v4);
        return;
    }
    assert_row(text, inet_pton(AF_INET6, text, &v6.sin6_addr) == 1);
    memcpy(out, &v6, sizeof v6);
}

static void public_addresses(void **state)
{
    (void)state;
    struct sockaddr_storage address;
    for (size_t i = 0; i < COUNT_OF(public); i++) {
        make(public[i], &address);
        assert_row(public[i], address_is_public((struct sockaddr *)&address));
    }
    for (size_t i = 0; i < COUNT_OF(not_public); i++) {
        make(not_public[i], &address);
        assert_row(not_public[i], !address_is_public((struct sockaddr *)&address));
    }
}

static void other_families(void **state)
{
    (void)state;
    struct sockaddr_storage address = {.ss_family = AF_UNIX};
    assert_false(address_is_public((struct sockaddr *)&address));
    assert_false(address_is_loopback((struct sockaddr *)&address));
}

static void loopback(void **state)
{
    (void)state;
    static const struct row {
        const char *address;
        bool is_loopback;
    } rows[] = {{"127.0.0.1", true}, {"127.9.9.9", true}, {"::1", true},
                {"10.0.0.1", false}, {"::2", false},      {"::ffff:127.0.0.1", false}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct sockaddr_storage address;
        make(rows[i].address, &address);
        assert_row(rows[i].address, address_is_loopback((struct sockaddr *)&address) == rows[i].is_loopback);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(public_addresses),
        cmocka_unit_test(other_families),
        cmocka_unit_test(loopback),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
