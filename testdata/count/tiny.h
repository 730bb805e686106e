static inline __attribute__((always_inline)) unsigned stir(unsigned x)
{
	x ^= x << 13;
	x ^= x >> 17;
	return x ^ x << 5;
}
