#include "main/limits.h"

struct blob_place blobs_of(const struct options *options, const char *directory)
{
    bool in_database = options->blobs == BLOBS_DATABASE || (options->blobs == BLOBS_AUTO && options->database);
    return (struct blob_place){in_database, directory};
}
