/* A program that executes an instruction of AVX-512, which valgrind does not know,
 * as does one that was built with -march=native on a new CPU. */
int main(void)
{
	__asm__ volatile(".byte 0x62,0xf1,0x7d,0x48,0xef,0xc0"); /* vpxord zmm0, zmm0, zmm0 */
	return 0;
}
