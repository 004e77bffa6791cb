/* A disk in memory that can lose power and fail, as a SQLite file layer called "sim".
 *
 * What was written since a file's last sync is remembered write by write. A power cut keeps a random part of it: some
 * writes not at all, some torn at 512-byte borders, in any order. A fault makes the k-th call that could fail on a real
 * disk fail. One thread. */
#ifndef TESTS_STORE_SIM_DISK_H
#define TESTS_STORE_SIM_DISK_H

#include <stdbool.h>
#include <stdint.h>

enum disk_call { DISK_OPEN = 1, DISK_WRITE = 2, DISK_SYNC = 4, DISK_TRUNCATE = 8, DISK_READ = 16, DISK_DELETE = 32 };

struct disk_fault {
    unsigned calls; /* bits of enum disk_call that count */
    int64_t at;     /* the first such call that fails, from 1; 0 = never */
    bool lasting;   /* every later one fails too */
    bool full;      /* the disk is full, instead of broken */
};

/* An empty disk; registers the file layer the first time. Connections must be closed before. */
void disk_reset(uint64_t seed);
void disk_set_fault(struct disk_fault fault); /* starts counting at 0 */
bool disk_fault_happened(void);
int64_t disk_calls(void); /* counted since disk_set_fault */
/* Connections that are open can only be closed afterwards. */
void disk_cut_power(void);
/* What a cut leaves of what was not synced: chance decides about all of it or about each write, nothing, or parts. */
enum disk_fate { DISK_TOSSES, DISK_LOSES, DISK_TEARS };
void disk_cut_power_so(enum disk_fate fate);
/* The power stays from here on: nothing needs to be remembered for a cut. */
void disk_trust(void);
/* Called before (`done` false) and after every sync of a file; NULL = nobody. */
void disk_watch_syncs(void (*watch)(void *owner, bool done), void *owner);
/* What chance decides from here on. */
void disk_seed(uint64_t seed);
/* Keeps a copy of what is on the disk, and goes back to it. All connections must be closed. */
void disk_save(void);
void disk_restore(void);
uint64_t disk_random(void);

#endif
