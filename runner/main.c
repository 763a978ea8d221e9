/* runner/main.c: the host command. */
#include <stdio.h>

int main(void)
{
	fputs("usage: stallmeter --help\n", stderr);
	return 2;
}
