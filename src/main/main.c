#include <unistd.h>

#include "main/commands.h"

int main(int argc, char **argv)
{
    return command_run(commands, argc, argv, environ);
}
