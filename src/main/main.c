#include <unistd.h>

#include "main/commands.h"

int main(int argc, char **argv)
{
    return cli_run(commands, argc, argv, environ);
}
