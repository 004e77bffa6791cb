#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/store.h"

/* The lock belongs to the open file, so a second open of the same process stands for a second server. */
static void a_second_server_is_refused(void **state)
{
    (void)state;
    char directory[] = "/tmp/store_lock_XXXXXX", path[64], pid[32];
    struct failure failure = {0};
    int first = -1, second = -1;
    assert_non_null(mkdtemp(directory));
    assert_status(store_lock_directory(directory, &first, &failure), STATUS_OK);
    assert_status(store_lock_directory(directory, &second, &failure), STATUS_UNAVAILABLE);
    assert_string_equal(failure.code, "data_directory_in_use");
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    assert_non_null(strstr(failure.detail, pid));
    store_unlock_directory(first);
    assert_status(store_lock_directory(directory, &second, &failure), STATUS_OK);
    store_unlock_directory(second);
    snprintf(path, sizeof path, "%s/lock", directory);
    unlink(path);
    rmdir(directory);
}

static void a_missing_directory_is_named(void **state)
{
    (void)state;
    struct failure failure = {0};
    int fd = -1;
    assert_status(store_lock_directory("/nonexistent/data", &fd, &failure), STATUS_UNAVAILABLE);
    assert_non_null(strstr(failure.detail, "/nonexistent/data"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_second_server_is_refused),
                                       cmocka_unit_test(a_missing_directory_is_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
