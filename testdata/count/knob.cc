// A benchmark like that of knob.c, in which the slower part is inlined from a
// header into a member function of a template.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "knob_inline.h"

namespace bench {

template <typename T>
class Store {
public:
	explicit Store(std::size_t n) : cells_(n)
	{
		for (std::size_t i = 0; i < n; i++)
			cells_[i].value = static_cast<T>(i * 2654435761u);
	}

	__attribute__((noinline)) T read(T key) const
	{
		T x = key;
		for (int i = 0; i < 230; i++)
			x = x * 1664525u + (x >> 16) + 1013904223u;
		return x + cells_[key % cells_.size()].get();
	}

private:
	std::vector<Cell<T>> cells_;
};

} // namespace bench

int main(int argc, char **argv)
{
	if (argc != 2) {
		std::fprintf(stderr, "usage: knob OPERATIONS\n");
		return 2;
	}
	bench::Store<unsigned> store(256);
	unsigned x = 1;
	for (long n = std::strtol(argv[1], nullptr, 10); n > 0; n--)
		x = store.read(x);
	std::printf("%u\n", x);
}
