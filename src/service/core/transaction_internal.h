/* What the files of the unit share. Private to them. */
#ifndef SERVICE_TRANSACTION_INTERNAL_H
#define SERVICE_TRANSACTION_INTERNAL_H

#include "service/core/transaction.h"

/* transaction_cache.c: the sessions this writer knows. */
struct loaded_session *transaction_remember(struct transaction *transaction, int64_t tenant_key, struct slice id);
void transaction_forget(struct transaction *transaction, struct loaded_session *loaded);
void transaction_know_key(struct transaction *transaction,
                          struct loaded_session *loaded); /* from now on it is found by it, too */
void transaction_mark_stored(struct loaded_session *loaded);

/* transaction.c: the group. */
void transaction_touch(struct transaction *transaction, struct loaded_session *loaded);
MUST_CHECK enum status transaction_save(struct transaction *transaction, struct loaded_session *loaded,
                                        struct failure *failure);

#endif
