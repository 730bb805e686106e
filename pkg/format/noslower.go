package format

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// noslower's own measurements, as "noslower measure" and "noslower parse
// --output json" write them: one document, or several one after the other. The
// launches of a later document follow those of the documents before it.
var _ = register(Format{
	Name:  "noslower",
	Tool:  "noslower measure, noslower parse",
	Print: "noslower measure --out base.json -- ./bench",
	How:   `a JSON object with "schema": "noslower.…"`,
	Sniff: func(in *Input) bool { return noslowerHead.re().Match(in.beginning()) },
	Read:  readNoslower,
})

var noslowerHead = compile(`^\x{feff}?\s*\{(?s:.*)"schema"\s*:\s*"noslower\.`)

func readNoslower(r io.Reader, name string) iter.Seq2[bench.Result, error] {
	return func(yield func(bench.Result, error) bool) {
		in := bufio.NewReader(r)
		if mark, _ := in.Peek(3); string(mark) == "\ufeff" {
			_, _ = in.Discard(3)
		}
		documents := json.NewDecoder(in)
		launches := 0                    // of the documents before
		values := make([]bench.Value, 1) // of each result in turn
		for n := 1; ; n++ {
			m, err := nextMeasurements(documents)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(bench.Result{}, fmt.Errorf("%s: document %d: %w", name, n, err))
				return
			}
			more := 0
			for _, s := range m.Set.Samples() {
				more = max(more, len(s.Launches))
				for i, ofLaunch := range s.Launches {
					for _, v := range ofLaunch {
						values[0] = bench.Value{Metric: s.Metric, V: v, Statistic: s.Spread}
						if !yield(bench.Result{Name: s.Benchmark, Launch: launches + i, Values: values}, nil) {
							return
						}
					}
				}
			}
			launches += more
		}
	}
}

// nextMeasurements decodes the next document. The error is io.EOF where there
// is none.
func nextMeasurements(documents *json.Decoder) (bench.Measurements, error) {
	m, err := bench.NextMeasurements(documents)
	if other, ok := errors.AsType[*bench.SchemaError](err); ok && strings.HasPrefix(other.Have, "noslower.verdict/") {
		err = errors.New("it is a verdict, which holds no measurements: want what it was made of")
	}
	return m, err
}
