/* A program without a library: calls, a recursion, a cycle, and a function that is
 * inlined from a header. Its profiles are tiny.callgrind, and, with addresses and
 * without short names, tiny_long.callgrind. They are made by
 *
 *	gcc -O1 -g -fno-optimize-sibling-calls -static -nostdlib -o tiny tiny.c
 *	valgrind --tool=callgrind --callgrind-out-file=tiny.callgrind ./tiny
 *	valgrind --tool=callgrind --callgrind-out-file=tiny_long.callgrind \
 *		--compress-strings=no --compress-pos=no --dump-instr=yes ./tiny
 */
#include "tiny.h"

__attribute__((noinline)) static unsigned fib(unsigned n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static unsigned odd(unsigned n);

__attribute__((noinline)) static unsigned even(unsigned n)
{
	return n == 0 || odd(n - 1);
}

__attribute__((noinline)) static unsigned odd(unsigned n)
{
	return n != 0 && even(n - 1);
}

__attribute__((noinline)) static unsigned work(unsigned x)
{
	for (int i = 0; i < 10; i++)
		x = stir(x);
	return x;
}

static volatile unsigned sink = 1; /* valgrind wants data to be there, too */

void _start(void)
{
	sink = work(sink) + fib(6) + even(7);
	__asm__ volatile("syscall" : : "a"(60), "D"(0));
}
