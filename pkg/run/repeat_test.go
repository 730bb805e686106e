package run

import (
	"context"
	"iter"
)

// repeat runs the command warmup times, then runs times that count, and hands
// each of the latter on as soon as it has finished, so that no finished run is
// lost to a later one. The first error ends the repetition: it comes, as an
// *Error if the command was run at all, with what there is of its run, which may
// be a warm-up and does not count. obs may be nil.
func repeat(ctx context.Context, s Spec, warmup, runs int, obs Observer) iter.Seq2[Run, error] {
	return func(yield func(Run, error) bool) {
		for i := range warmup {
			if r, err := Once(ctx, s, Step{N: i + 1, Of: warmup, Warmup: true}, obs); err != nil {
				yield(r, err)
				return
			}
		}
		for i := range runs {
			r, err := Once(ctx, s, Step{N: i + 1, Of: runs}, obs)
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}
