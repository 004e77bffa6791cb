#include "main/doors.h"

#include "doors/native/native.h"

const struct door *const server_doors[] = {
    &native_door,
    NULL,
};
