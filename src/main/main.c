#include <stdio.h>

int main(void)
{
    puts("sojourn");
    return 0;
}
