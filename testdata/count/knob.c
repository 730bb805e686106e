/* A benchmark whose operations cost about 1,200 instructions each, and KNOB more,
 * to the instruction. Its argument is the number of operations. */
#include <stdio.h>
#include <stdlib.h>

#ifndef KNOB
#define KNOB 0
#endif

static unsigned table[256];

/* What a slower operation is slower by: KNOB instructions that do nothing. */
#define MORE() __asm__ volatile(".rept %c0\n\tnop\n\t.endr" : : "i"(KNOB))

__attribute__((noinline)) static unsigned mix(unsigned x)
{
	for (int i = 0; i < 170; i++) {
		x = x * 1664525u + 1013904223u;
		x ^= table[x >> 24];
	}
	return x;
}

__attribute__((noinline)) static unsigned lookup(unsigned x)
{
	MORE();
	return table[x & 255];
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: knob OPERATIONS\n");
		return 2;
	}
	for (int i = 0; i < 256; i++)
		table[i] = (unsigned)i * 2654435761u;
	unsigned x = 1;
	for (long n = strtol(argv[1], NULL, 10); n > 0; n--)
		x = mix(x) + lookup(x);
	printf("%u\n", x);
	return 0;
}
