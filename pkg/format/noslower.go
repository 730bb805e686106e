package format

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
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
	Sniff: sniffDocument(noslowerShape),
	Read:  readNoslower,
})

var noslowerShape = withKeys("schema=noslower.")

func readNoslower(r io.Reader, name string) iter.Seq2[bench.Result, error] {
	return func(yield func(bench.Result, error) bool) {
		input, err := readDocument(r, name)
		if err != nil {
			yield(bench.Result{}, err)
			return
		}
		input = bytes.TrimPrefix(input, []byte("\ufeff"))
		documents := json.NewDecoder(bytes.NewReader(input))
		launches := 0 // of the documents before
		for n := 1; ; n++ {
			start := documents.InputOffset()
			samples, err := nextSamples(documents)
			if errors.Is(err, io.EOF) {
				return
			}
			var broken error
			if isBroken(err) {
				document := input[start:]
				whole, closing := mend(document, 0, false)
				mended, mendErr := nextSamples(json.NewDecoder(bytes.NewReader(append(slices.Clone(document[:whole]), closing...))))
				if mendErr == nil && len(mended) > 0 {
					l := line{document: name, number: 1 + bytes.Count(input[:start+int64(whole)], []byte("\n")), text: oneBlank(string(document[whole:]))}
					broken = l.errorf("document %d: %v: what follows is not read", n, err)
					samples, err = mended, nil
				}
			}
			if err != nil {
				yield(bench.Result{}, fmt.Errorf("%s: document %d: %w", name, n, err))
				return
			}
			more := 0
			for i := range samples {
				more = max(more, len(samples[i].Launches))
				for r := range samples[i].Results() {
					r.Launch += launches
					if !yield(r, nil) {
						return
					}
				}
			}
			if broken != nil {
				yield(bench.Result{}, broken)
				return
			}
			launches += more
		}
	}
}

// nextSamples decodes those of the next document. The error is io.EOF where there
// is none.
func nextSamples(documents *json.Decoder) ([]bench.Sample, error) {
	samples, err := bench.NextSamples(documents)
	if other, ok := errors.AsType[*bench.SchemaError](err); ok && strings.HasPrefix(other.Have, "noslower.verdict/") {
		err = errors.New("it is a verdict, which holds no measurements: want what it was made of")
	}
	return samples, err
}
