/* Runs a fuzzer's function over every file of a corpus directory, and over every prefix of each file: replay DIR. */
#include <dirent.h>
#include <limits.h>

#include "fuzz.h"

enum { INPUT_BYTES_MAX = 1 << 20, PREFIXES_MAX = 2048 };

/* On the heap with its exact size, so that a sanitizer sees a read beyond the end. */
static void run_one(const uint8_t *bytes, size_t size)
{
    uint8_t *exact = malloc(size ? size : 1);
    CHECK(exact);
    memcpy(exact, bytes, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

static void run_file(const char *path)
{
    static uint8_t bytes[INPUT_BYTES_MAX];
    FILE *file = fopen(path, "rb");
    CHECK(file);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    for (size_t len = 0; len < size && len < PREFIXES_MAX; len++) {
        run_one(bytes, len);
    }
    run_one(bytes, size);
}

int main(int argc, char **argv)
{
    DIR *directory = argc == 2 ? opendir(argv[1]) : NULL;
    if (!directory) {
        fprintf(stderr, "usage: %s CORPUS_DIRECTORY\n", argv[0]);
        return 2;
    }
    int files = 0;
    for (struct dirent *entry; (entry = readdir(directory));) {
        char path[PATH_MAX];
        if (entry->d_name[0] == '.') {
            continue;
        }
        snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name);
        run_file(path);
        files++;
    }
    closedir(directory);
    printf("%d files\n", files);
    return files == 0;
}
