/* The secrets of the server: keys of providers, from the environment or the encrypted file. They are lent to who calls
 * a provider and go nowhere else: what a client sends is refused when it holds one. All threads; locked inside. */
#ifndef SERVICE_SECRET_H
#define SERVICE_SECRET_H

#include "base/slice.h"
#include "base/status.h"

/* What stands in the place of a secret, and how long a value must be to be looked for: a short one stands in innocent
 * text too. */
#define SECRET_MASK "[secret]"
enum { SECRET_BYTES_MIN = 8 };

struct arena;
struct buffer;
struct secrets;
struct secret_place; /* store/seal/secret_file.h */
struct call;

/* The place is borrowed for good. INVALID `bad_secrets`. */
MUST_CHECK enum status secrets_open(const struct secret_place *place, struct secrets **out, struct failure *failure);
/* Accepts NULL. */
void secrets_close(struct secrets *secrets);
/* Reads the file again; the secrets stay as they were when it can't be read. */
MUST_CHECK enum status secrets_reload(struct secrets *secrets, struct failure *failure);

/* For one thread (the loop of the turns): the variable of that name, else the stored secret; absent when there is
 * neither. Good until its next call. The file is read again when it has changed. */
struct slice secrets_get(void *secrets, const char *name);
/* Is there one? NULL secrets are those of the environment alone. */
bool secrets_have(struct secrets *secrets, const char *name);

/* INVALID `contains_secret` when the text, or JSON, of a client holds the value of a secret. */
MUST_CHECK enum status secret_check_text(struct call *call, struct slice text);
MUST_CHECK enum status secret_check_json(struct call *call, struct slice json);
/* JSON that somebody else than a client says, such as an agent or a provider: what holds the value of a secret has
 * [secret] instead. The text itself, or a copy in the call's arena. */
struct slice secret_mask_json(struct call *call, struct slice json);
/* The same for a text, with [secret] in place of a value: the text itself, or a copy in the arena. `secrets` may be
 * NULL. */
struct slice secrets_mask(void *secrets, struct arena *arena, struct slice text);
/* The bytes of a file that no client sent: each value becomes asterisks, in a copy. `secrets` may be NULL. */
void secrets_blank(struct secrets *secrets, struct arena *arena, struct slice *bytes);

/* Is there anything to look for? Accepts NULL. */
bool secrets_any(struct secrets *secrets);
/* The first value that stands in the text, the longest of those that begin there. */
bool secrets_find(struct secrets *secrets, struct slice text, size_t *out_at, size_t *out_len);
/* How much of the end of the text is the beginning of a value, and not all of it; 0 = nothing. */
size_t secrets_begun(struct secrets *secrets, struct slice text);
/* The next piece of live text that a worker streams (service/identity/secret_stream.h): what may be shown of it. */
struct slice secrets_pass_live(struct secrets *secrets, bool hides_marks, struct slice key, int64_t epoch,
                               struct slice text, struct buffer *scratch);

/* No core dump of this process, and no other process of the account looks into it. */
void secrets_guard_process(void);

#endif
