/* Stands in for libFuzzer where it is not wanted: feeds every file of the directories named, and the empty input, to
 * the fuzzer once. The inputs are copied to memory of exactly their size so that a sanitizer sees a read past the end.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static long file_size(FILE *file)
{
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    return size;
}

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return 1;
    }
    size_t size = (size_t)file_size(file);
    uint8_t *bytes = malloc(size ? size : 1);
    int bad = !bytes || fread(bytes, 1, size, file) != size;
    fclose(file);
    if (bad) {
        fprintf(stderr, "%s: not readable\n", path);
    } else {
        LLVMFuzzerTestOneInput(bytes, size);
    }
    free(bytes);
    return bad;
}

static int replay_directory(const char *path)
{
    DIR *directory = opendir(path);
    if (!directory) {
        perror(path);
        return 1;
    }
    int failures = 0;
    int count = 0;
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        if (entry->d_type != DT_REG) {
            continue;
        }
        char file[4096];
        snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
        failures += replay_file(file);
        count++;
    }
    closedir(directory);
    printf("%d inputs from %s\n", count, path);
    return failures + (count == 0);
}

int main(int argc, char **argv)
{
    int failures = 0;
    uint8_t nothing = 0;
    LLVMFuzzerTestOneInput(&nothing, 0);
    for (int i = 1; i < argc; i++) {
        failures += replay_directory(argv[i]);
    }
    return failures ? 1 : 0;
}
