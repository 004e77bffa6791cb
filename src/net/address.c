#include "net/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define V4(a, b, c, d) (((uint32_t)(a) << 24) | ((uint32_t)(b) << 16) | ((uint32_t)(c) << 8) | (uint32_t)(d))

/* IANA special-purpose registry (RFC 6890 and its updates): not reachable globally. */
static const struct v4_block {
    uint32_t base;
    int bits;
} v4_not_public[] = {
    {V4(0, 0, 0, 0), 8},       /* this network */
    {V4(10, 0, 0, 0), 8},      /* private */
    {V4(100, 64, 0, 0), 10},   /* shared by carriers */
    {V4(127, 0, 0, 0), 8},     /* loopback */
    {V4(169, 254, 0, 0), 16},  /* link-local, metadata of clouds */
    {V4(172, 16, 0, 0), 12},   /* private */
    {V4(192, 0, 0, 0), 24},    /* protocol assignments */
    {V4(192, 0, 2, 0), 24},    /* documentation */
    {V4(192, 88, 99, 0), 24},  /* relays of 6to4 */
    {V4(192, 168, 0, 0), 16},  /* private */
    {V4(198, 18, 0, 0), 15},   /* benchmarks */
    {V4(198, 51, 100, 0), 24}, /* documentation */
    {V4(203, 0, 113, 0), 24},  /* documentation */
    {V4(224, 0, 0, 0), 4},     /* multicast */
    {V4(240, 0, 0, 0), 4},     /* reserved, broadcast */
};

struct v6_block {
    uint8_t base[16];
    int bits;
};

static const struct v6_block v6_global = {{0x20}, 3};
static const struct v6_block v6_nat64 = {{0x00, 0x64, 0xFF, 0x9B}, 96};
/* Within the global block. */
static const struct v6_block v6_not_public[] = {
    {{0x20, 0x01}, 23},             /* protocol assignments: Teredo, ORCHID, benchmarks */
    {{0x20, 0x01, 0x0D, 0xB8}, 32}, /* documentation */
    {{0x20, 0x02}, 16},             /* 6to4 */
    {{0x3F, 0xFF}, 20},             /* documentation */
};

static bool v4_is_public(uint32_t address)
{
    for (size_t i = 0; i < sizeof v4_not_public / sizeof v4_not_public[0]; i++) {
        uint32_t mask = ~(uint32_t)0 << (32 - v4_not_public[i].bits);
        if ((address & mask) == v4_not_public[i].base) {
            return false;
        }
    }
    return true;
}

static bool v6_within(const uint8_t address[16], const struct v6_block *block)
{
    int whole = block->bits / 8, rest = block->bits % 8;
    uint8_t mask = (uint8_t)(0xFF << (8 - rest));
    return memcmp(address, block->base, (size_t)whole) == 0 &&
           (rest == 0 || (address[whole] & mask) == (block->base[whole] & mask));
}

static bool v6_is_public(const uint8_t address[16])
{
    if (v6_within(address, &v6_nat64)) {
        return v4_is_public(V4(address[12], address[13], address[14], address[15]));
    }
    for (size_t i = 0; i < sizeof v6_not_public / sizeof v6_not_public[0]; i++) {
        if (v6_within(address, &v6_not_public[i])) {
            return false;
        }
    }
    return v6_within(address, &v6_global);
}

/* The callers' sockaddr may be aligned for bytes only. */
static uint32_t v4_of(const struct sockaddr *address)
{
    struct sockaddr_in v4;
    memcpy(&v4, address, sizeof v4);
    return ntohl(v4.sin_addr.s_addr);
}

static void v6_of(const struct sockaddr *address, uint8_t out[16])
{
    struct sockaddr_in6 v6;
    memcpy(&v6, address, sizeof v6);
    memcpy(out, &v6.sin6_addr, 16);
}

bool address_is_public(const struct sockaddr *address)
{
    uint8_t v6[16];
    if (address->sa_family == AF_INET) {
        return v4_is_public(v4_of(address));
    }
    if (address->sa_family != AF_INET6) {
        return false;
    }
    v6_of(address, v6);
    return v6_is_public(v6);
}

bool address_is_loopback(const struct sockaddr *address)
{
    static const struct v6_block loopback = {{[15] = 1}, 128};
    uint8_t v6[16];
    if (address->sa_family == AF_INET) {
        return v4_of(address) >> 24 == 127;
    }
    if (address->sa_family != AF_INET6) {
        return false;
    }
    v6_of(address, v6);
    return v6_within(v6, &loopback);
}
