/* What a C++ compiler makes part of its callers. */
#pragma once

#ifndef KNOB
#define KNOB 0
#endif

template <typename T>
struct Cell {
	T value;

	/* KNOB instructions that do nothing are what a slower operation is slower by. */
	__attribute__((always_inline)) T get() const
	{
		__asm__ volatile(".rept %c0\n\tnop\n\t.endr" : : "i"(KNOB));
		return value;
	}
};
