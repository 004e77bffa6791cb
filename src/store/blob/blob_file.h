/* Bytes of blobs as files: DIRECTORY/TENANT/ab/abcd… by address. Private to the room. Any thread. */
#ifndef STORE_BLOB_FILE_H
#define STORE_BLOB_FILE_H

#include "store/blob/blob.h"

/* On disk, with its directory, when it returns. A file that is there already is only touched. */
MUST_CHECK enum status blob_file_write(const char *directory, int64_t tenant_key, const struct hash *address,
                                       struct slice content, struct failure *failure);
/* Its time becomes now; false when there is no such file. */
MUST_CHECK bool blob_file_touch(const char *directory, int64_t tenant_key, const struct hash *address);
MUST_CHECK enum status blob_file_read(const char *directory, int64_t tenant_key, const struct hash *address,
                                      struct arena *arena, struct slice *out, struct failure *failure);
/* Deletes it when it was last touched before `before_ms`. */
void blob_file_delete(const char *directory, int64_t tenant_key, const struct hash *address, int64_t before_ms);
/* Calls `each` for every file last touched before `before_ms`, until it returns false. */
void blob_file_each(const char *directory, int64_t before_ms,
                    bool (*each)(void *owner, int64_t tenant_key, const struct hash *address), void *owner);
/* Deletes files that were never finished. */
void blob_file_forget_halves(const char *directory);

#endif
