#include "sim_disk.h"

#include <sqlite3.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { FILES_MAX = 16, SECTOR_BYTES = 512, SHM_REGIONS_MAX = 64, HANDLES_MAX = 32 };

struct change {
    int64_t offset;
    int64_t len; /* -1 = the file was cut at `offset` */
    char *bytes;
};

struct content {
    char *bytes;
    int64_t len, room;
};

/* Shared memory; kept until the reset, because connections look at it while they close after a power cut. */
struct region {
    struct region *next;
    max_align_t bytes[];
};

struct disk_file {
    char name[256];
    bool exists;
    bool synced_once; /* before that, a power cut may take the whole file */
    struct content now, durable, saved;
    bool saved_exists;
    struct change *changes; /* since the last sync */
    size_t change_count, change_room;
    void *shm[SHM_REGIONS_MAX];
};

struct handle {
    sqlite3_file base;
    struct disk_file *file;
    int64_t power_cuts; /* of the disk when it was opened */
    int lock;
    unsigned shm_shared, shm_exclusive; /* bits of locks held */
};

static struct {
    struct disk_file files[FILES_MAX];
    struct handle *handles[HANDLES_MAX];
    struct region *regions;
    int64_t power_cuts;
    uint64_t random;
    struct disk_fault fault;
    int64_t calls;
    bool fault_happened;
    bool trusted;
    void (*watch)(void *owner, bool done);
    void *watch_owner;
} disk;

uint64_t disk_random(void)
{
    uint64_t z = disk.random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

void disk_seed(uint64_t seed)
{
    disk.random = seed;
}

/* --- faults --- */

void disk_set_fault(struct disk_fault fault)
{
    disk.fault = fault;
    disk.calls = 0;
    disk.fault_happened = false;
}

bool disk_fault_happened(void)
{
    return disk.fault_happened;
}

int64_t disk_calls(void)
{
    return disk.calls;
}

static bool fails(enum disk_call call)
{
    if (!(disk.fault.calls & call)) {
        return false;
    }
    disk.calls++;
    bool now = disk.fault.at && (disk.fault.lasting ? disk.calls >= disk.fault.at : disk.calls == disk.fault.at);
    disk.fault_happened |= now;
    return now;
}

static int failure_code(int broken)
{
    return disk.fault.full ? SQLITE_FULL : broken;
}

/* --- contents --- */

static void content_resize(struct content *content, int64_t len)
{
    if (len > content->room) {
        content->room = len * 2;
        content->bytes = memory_resize(content->bytes, (size_t)content->room);
    }
    if (len > content->len) {
        memset(content->bytes + content->len, 0, (size_t)(len - content->len));
    }
    content->len = len;
}

static void content_write(struct content *content, int64_t offset, const char *bytes, int64_t len)
{
    if (offset + len > content->len) {
        content_resize(content, offset + len);
    }
    if (len) {
        memcpy(content->bytes + offset, bytes, (size_t)len);
    }
}

static void content_copy(struct content *to, const struct content *from)
{
    to->len = 0;
    content_write(to, 0, from->bytes, from->len);
}

static void forget_changes(struct disk_file *file)
{
    for (size_t i = 0; i < file->change_count; i++) {
        free(file->changes[i].bytes);
    }
    file->change_count = 0;
}

static void note_change(struct disk_file *file, int64_t offset, const char *bytes, int64_t len)
{
    if (disk.trusted) {
        return;
    }
    if (file->change_count == file->change_room) {
        file->change_room = file->change_room ? 2 * file->change_room : 64;
        file->changes = memory_resize(file->changes, file->change_room * sizeof *file->changes);
    }
    struct change *change = &file->changes[file->change_count++];
    *change = (struct change){offset, len, NULL};
    if (len > 0) {
        change->bytes = memory_alloc((size_t)len);
        memcpy(change->bytes, bytes, (size_t)len);
    }
}

/* --- the power cut --- */

static void apply_torn(struct content *to, const struct change *change)
{
    for (int64_t at = 0; at < change->len;) {
        int64_t end = ((change->offset + at) / SECTOR_BYTES + 1) * SECTOR_BYTES - change->offset;
        end = end > change->len ? change->len : end;
        if (disk_random() % 2) {
            content_write(to, change->offset + at, change->bytes + at, end - at);
        }
        at = end;
    }
}

static void apply(struct content *to, const struct change *change)
{
    if (change->len >= 0) {
        content_write(to, change->offset, change->bytes, change->len);
    } else if (change->offset < to->len) {
        content_resize(to, change->offset);
    }
}

static void apply_some(struct content *to, const struct change *change)
{
    switch (disk_random() % 3) {
    case 0:
        return;
    case 1:
        if (change->len > 0) {
            apply_torn(to, change);
        }
        return;
    default:
        apply(to, change);
    }
}

static void shuffle(struct change *changes, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        size_t other = disk_random() % i;
        struct change kept = changes[i - 1];
        changes[i - 1] = changes[other];
        changes[other] = kept;
    }
}

static void cut_power_of(struct disk_file *file, enum disk_fate wanted)
{
    /* 0: nothing survives, 1: everything does, else: some of it */
    int fate = wanted == DISK_TOSSES ? (int)(disk_random() % 4) : wanted == DISK_LOSES ? 0 : 2;
    if (file->change_count == 0 && file->synced_once) { /* it is as it was synced */
        memset(file->shm, 0, sizeof file->shm);
        return;
    }
    if (fate != 1) {
        shuffle(file->changes, file->change_count);
    }
    if (fate == 1) {
        content_copy(&file->durable, &file->now);
    }
    for (size_t i = 0; fate > 1 && i < file->change_count; i++) {
        apply_some(&file->durable, &file->changes[i]);
    }
    forget_changes(file);
    content_copy(&file->now, &file->durable);
    if (!file->synced_once && disk_random() % 2) {
        file->exists = false;
    }
    memset(file->shm, 0, sizeof file->shm);
}

void disk_cut_power_so(enum disk_fate fate)
{
    disk.power_cuts++;
    memset(disk.handles, 0, sizeof disk.handles);
    disk_set_fault((struct disk_fault){0});
    for (int i = 0; i < FILES_MAX; i++) {
        if (disk.files[i].exists) {
            cut_power_of(&disk.files[i], fate);
        }
    }
}

void disk_cut_power(void)
{
    disk_cut_power_so(DISK_TOSSES);
}

void disk_save(void)
{
    for (int i = 0; i < FILES_MAX; i++) {
        content_copy(&disk.files[i].saved, &disk.files[i].now);
        disk.files[i].saved_exists = disk.files[i].exists;
    }
}

void disk_restore(void)
{
    memset(disk.handles, 0, sizeof disk.handles);
    for (int i = 0; i < FILES_MAX; i++) {
        struct disk_file *file = &disk.files[i];
        forget_changes(file);
        content_copy(&file->now, &file->saved);
        content_copy(&file->durable, &file->saved);
        file->exists = file->synced_once = file->saved_exists;
        memset(file->shm, 0, sizeof file->shm);
    }
}

/* --- files --- */

static struct handle *handle_of(sqlite3_file *file)
{
    return (struct handle *)file;
}

static bool is_dead(sqlite3_file *file)
{
    return handle_of(file)->power_cuts != disk.power_cuts;
}

static int sim_close(sqlite3_file *file)
{
    for (int i = 0; i < HANDLES_MAX; i++) {
        if (disk.handles[i] == handle_of(file)) {
            disk.handles[i] = NULL;
        }
    }
    return SQLITE_OK;
}

static int sim_read(sqlite3_file *file, void *out, int len, sqlite3_int64 offset)
{
    const struct content *now = &handle_of(file)->file->now;
    if (is_dead(file) || fails(DISK_READ)) {
        return SQLITE_IOERR_READ;
    }
    int64_t there = offset >= now->len ? 0 : now->len - offset;
    there = there > len ? len : there;
    if (there) {
        memcpy(out, now->bytes + offset, (size_t)there);
    }
    memset((char *)out + there, 0, (size_t)(len - there));
    return there == len ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

static int sim_write(sqlite3_file *file, const void *bytes, int len, sqlite3_int64 offset)
{
    struct disk_file *on = handle_of(file)->file;
    if (is_dead(file)) {
        return SQLITE_IOERR_WRITE;
    }
    bool failed = fails(DISK_WRITE);
    int64_t written = failed ? (int64_t)(disk_random() % (uint64_t)(len + 1)) : len;
    content_write(&on->now, offset, bytes, written);
    note_change(on, offset, bytes, written);
    return failed ? failure_code(SQLITE_IOERR_WRITE) : SQLITE_OK;
}

static int sim_truncate(sqlite3_file *file, sqlite3_int64 len)
{
    struct disk_file *on = handle_of(file)->file;
    if (is_dead(file) || fails(DISK_TRUNCATE)) {
        return SQLITE_IOERR_TRUNCATE;
    }
    if (len < on->now.len) {
        on->now.len = len;
    }
    note_change(on, len, NULL, -1);
    return SQLITE_OK;
}

void disk_trust(void)
{
    disk.trusted = true;
}

void disk_watch_syncs(void (*watch)(void *owner, bool done), void *owner)
{
    disk.watch = watch;
    disk.watch_owner = owner;
}

static void tell_watch(bool done)
{
    if (disk.watch) {
        disk.watch(disk.watch_owner, done);
    }
}

static int sim_sync(sqlite3_file *file, int flags)
{
    struct disk_file *on = handle_of(file)->file;
    (void)flags;
    tell_watch(false);
    if (is_dead(file) || fails(DISK_SYNC)) {
        return failure_code(SQLITE_IOERR_FSYNC);
    }
    for (size_t i = 0; i < on->change_count; i++) {
        apply(&on->durable, &on->changes[i]);
    }
    forget_changes(on);
    on->synced_once = true;
    tell_watch(true);
    return SQLITE_OK;
}

static int sim_size(sqlite3_file *file, sqlite3_int64 *out)
{
    *out = handle_of(file)->file->now.len;
    return is_dead(file) ? SQLITE_IOERR_FSTAT : SQLITE_OK;
}

static int sim_control(sqlite3_file *file, int op, void *arg)
{
    (void)file, (void)op, (void)arg;
    return SQLITE_NOTFOUND;
}

static int sim_sector_size(sqlite3_file *file)
{
    (void)file;
    return 4096;
}

/* As on Linux: a torn write damages nothing beside it. */
static int sim_characteristics(sqlite3_file *file)
{
    (void)file;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

/* --- locks --- */

static int strongest_other_lock(struct handle *self)
{
    int lock = SQLITE_LOCK_NONE;
    for (int i = 0; i < HANDLES_MAX; i++) {
        if (disk.handles[i] && disk.handles[i] != self && disk.handles[i]->file == self->file &&
            disk.handles[i]->lock > lock) {
            lock = disk.handles[i]->lock;
        }
    }
    return lock;
}

static int sim_lock(sqlite3_file *file, int lock)
{
    struct handle *self = handle_of(file);
    int other = strongest_other_lock(self);
    if (is_dead(file)) {
        return SQLITE_IOERR_LOCK;
    }
    bool refused = lock == SQLITE_LOCK_SHARED     ? other >= SQLITE_LOCK_PENDING
                   : lock == SQLITE_LOCK_RESERVED ? other >= SQLITE_LOCK_RESERVED
                                                  : other >= SQLITE_LOCK_SHARED;
    if (refused) {
        return SQLITE_BUSY;
    }
    if (lock > self->lock) {
        self->lock = lock;
    }
    return SQLITE_OK;
}

static int sim_unlock(sqlite3_file *file, int lock)
{
    handle_of(file)->lock = lock;
    return SQLITE_OK;
}

static int sim_check_reserved(sqlite3_file *file, int *out)
{
    *out = strongest_other_lock(handle_of(file)) >= SQLITE_LOCK_RESERVED;
    return SQLITE_OK;
}

static void *new_region(int size)
{
    struct region *region = memory_zeroed(sizeof *region + (size_t)size);
    region->next = disk.regions;
    disk.regions = region;
    return region->bytes;
}

static int sim_shm_map(sqlite3_file *file, int region, int size, int extend, void volatile **out)
{
    struct disk_file *on = handle_of(file)->file;
    *out = NULL;
    if (is_dead(file) || region >= SHM_REGIONS_MAX) {
        return SQLITE_IOERR_SHMMAP;
    }
    if (!on->shm[region] && extend) {
        on->shm[region] = new_region(size);
    }
    *out = on->shm[region];
    return SQLITE_OK;
}

static int sim_shm_lock(sqlite3_file *file, int first, int count, int flags)
{
    struct handle *self = handle_of(file);
    unsigned bits = ((1u << count) - 1) << first;
    if (is_dead(file)) {
        return SQLITE_IOERR_SHMLOCK;
    }
    if (flags & SQLITE_SHM_UNLOCK) {
        self->shm_shared &= ~bits;
        self->shm_exclusive &= ~bits;
        return SQLITE_OK;
    }
    for (int i = 0; i < HANDLES_MAX; i++) {
        struct handle *other = disk.handles[i];
        if (!other || other == self || other->file != self->file) {
            continue;
        }
        if (other->shm_exclusive & bits || ((flags & SQLITE_SHM_EXCLUSIVE) && other->shm_shared & bits)) {
            return SQLITE_BUSY;
        }
    }
    *(flags & SQLITE_SHM_EXCLUSIVE ? &self->shm_exclusive : &self->shm_shared) |= bits;
    return SQLITE_OK;
}

static void sim_shm_barrier(sqlite3_file *file)
{
    (void)file;
}

static int sim_shm_unmap(sqlite3_file *file, int delete_it)
{
    struct handle *self = handle_of(file);
    (void)delete_it;
    self->shm_shared = self->shm_exclusive = 0;
    return SQLITE_OK;
}

static const sqlite3_io_methods sim_methods = {
    .iVersion = 2,
    .xClose = sim_close,
    .xRead = sim_read,
    .xWrite = sim_write,
    .xTruncate = sim_truncate,
    .xSync = sim_sync,
    .xFileSize = sim_size,
    .xLock = sim_lock,
    .xUnlock = sim_unlock,
    .xCheckReservedLock = sim_check_reserved,
    .xFileControl = sim_control,
    .xSectorSize = sim_sector_size,
    .xDeviceCharacteristics = sim_characteristics,
    .xShmMap = sim_shm_map,
    .xShmLock = sim_shm_lock,
    .xShmBarrier = sim_shm_barrier,
    .xShmUnmap = sim_shm_unmap,
};

/* --- the directory --- */

static struct disk_file *find_file(const char *name, bool create)
{
    struct disk_file *spare = NULL;
    for (int i = 0; i < FILES_MAX; i++) {
        struct disk_file *file = &disk.files[i];
        if (file->exists && strcmp(file->name, name) == 0) {
            return file;
        }
        if (!file->exists && !spare) {
            spare = file;
        }
    }
    if (!create || !spare) {
        return NULL;
    }
    forget_changes(spare);
    spare->now.len = spare->durable.len = 0;
    spare->synced_once = false;
    spare->exists = true;
    strncpy(spare->name, name, sizeof spare->name - 1);
    return spare;
}

static int sim_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *out, int flags, int *out_flags)
{
    static int temporary;
    char own_name[32];
    struct handle *self = handle_of(out);
    (void)vfs;
    *self = (struct handle){.power_cuts = disk.power_cuts};
    if (!name) {
        sqlite3_snprintf(sizeof own_name, own_name, "temporary-%d", ++temporary);
        name = own_name;
    }
    self->file = fails(DISK_OPEN) ? NULL : find_file(name, flags & SQLITE_OPEN_CREATE);
    if (!self->file) {
        return SQLITE_CANTOPEN;
    }
    for (int i = 0; i < HANDLES_MAX; i++) {
        if (!disk.handles[i]) {
            disk.handles[i] = self;
            break;
        }
    }
    if (out_flags) {
        *out_flags = flags;
    }
    self->base.pMethods = &sim_methods;
    return SQLITE_OK;
}

static int sim_delete(sqlite3_vfs *vfs, const char *name, int sync_directory)
{
    (void)vfs, (void)sync_directory;
    if (fails(DISK_DELETE)) {
        return SQLITE_IOERR_DELETE;
    }
    struct disk_file *file = find_file(name, false);
    if (!file) {
        return SQLITE_IOERR_DELETE_NOENT;
    }
    file->exists = false;
    memset(file->shm, 0, sizeof file->shm);
    return SQLITE_OK;
}

static int sim_access(sqlite3_vfs *vfs, const char *name, int flags, int *out)
{
    (void)vfs, (void)flags;
    struct disk_file *file = find_file(name, false);
    *out = file && file->now.len > 0;
    return SQLITE_OK;
}

static int sim_full_path(sqlite3_vfs *vfs, const char *name, int room, char *out)
{
    (void)vfs;
    sqlite3_snprintf(room, out, "%s", name);
    return SQLITE_OK;
}

static void register_layer(void)
{
    static sqlite3_vfs vfs;
    if (vfs.zName) {
        return;
    }
    vfs = *sqlite3_vfs_find(NULL); /* for time, sleep and randomness */
    vfs.zName = "sim";
    vfs.szOsFile = sizeof(struct handle);
    vfs.mxPathname = 200;
    vfs.xOpen = sim_open;
    vfs.xDelete = sim_delete;
    vfs.xAccess = sim_access;
    vfs.xFullPathname = sim_full_path;
    sqlite3_vfs_register(&vfs, 0);
}

void disk_reset(uint64_t seed)
{
    register_layer();
    for (int i = 0; i < FILES_MAX; i++) {
        forget_changes(&disk.files[i]);
        free(disk.files[i].changes);
        free(disk.files[i].now.bytes);
        free(disk.files[i].durable.bytes);
        free(disk.files[i].saved.bytes);
    }
    while (disk.regions) {
        struct region *next = disk.regions->next;
        free(disk.regions);
        disk.regions = next;
    }
    memset(&disk, 0, sizeof disk);
    disk.random = seed;
}
