package format

import (
	"errors"
	"fmt"
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
	Read:  noslowerShape.read(readNoslower),
})

var noslowerShape = withKeys("schema=noslower.")

// readNoslower reads the next document. One that has a fault, or is of another kind
// or version, ends the reading.
func readNoslower(d *jsonDocument) error {
	samples, err := bench.NextSamples(d.Decoder)
	if other, ok := errors.AsType[*bench.SchemaError](err); ok && strings.HasPrefix(other.Have, "noslower.verdict/") {
		err = errors.New("it is a verdict, which holds no measurements: want what it was made of")
	}
	if err != nil && !isBroken(err) && !d.isHalf() {
		d.stopped = true
		d.yield(bench.Result{}, fmt.Errorf("%s:%d: %w", d.name, 1+d.startLine, err))
	}
	if err != nil {
		return err
	}
	for i := range samples {
		for r := range samples[i].Results() {
			d.result(r)
		}
	}
	return nil
}
