package format

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/theory/jsonpath"

	"github.com/noslower/noslower/pkg/bench"
)

// A jsonSource is where a text stands: in every result at a path, or it is the
// same for all.
type jsonSource struct {
	path *jsonpath.Path
	text string
}

// newJSON returns what reads the results at a path of each JSON document.
func newJSON(c Custom) (customReader, error) {
	if c.Separator != "" {
		return nil, errors.New("json: want no separator besides")
	}
	results, err := jsonPath("json", c.JSON)
	if err != nil {
		return nil, err
	}
	value := jsonpath.MustParse("$")
	if c.Value != "" {
		if value, err = jsonPath("value", c.Value); err != nil {
			return nil, err
		}
	}
	sources := make([]jsonSource, 2, 2+len(c.Name))
	for i, s := range append([]string{c.Metric, c.Unit}, c.Name...) {
		source := jsonSource{text: s}
		if strings.HasPrefix(s, "$") {
			if source.path, err = jsonPath([]string{"metric", "unit", "name"}[min(i, 2)], s); err != nil {
				return nil, err
			}
		}
		if i < 2 {
			sources[i] = source
		} else {
			sources = append(sources, source)
		}
	}
	return func(in *customInput) error {
		parse := func(d *jsonDocument) error {
			d.singles = true // each is a result's, or one
			var document any
			if err := d.decode(&document); err != nil {
				return err
			}
			if d.isHalf() && jsonPathOfWhole.MatchString(c.JSON+" "+c.Value) {
				return nil
			}
			for _, result := range results.Select(document) {
				d.yielded = true
				if in.jsonResult(d, result, value, sources); in.stopped {
					d.stopped = true
					return errStopped
				}
			}
			return nil
		}
		var ended error
		anyJSON.readAll(in.data, in.document, parse, func(res bench.Result, err error) bool {
			if _, isLine := errors.AsType[*LineError](err); err != nil && !isLine {
				ended = err
				return false
			}
			in.stopped = !in.yield(res, err)
			return !in.stopped
		})
		return ended
	}, nil
}

// anyJSON is the shape of any object or list whose first value begins as JSON's
// do: a line such as "[INFO] Compiling" is none.
var anyJSON = startShape(func(start []byte) bool { return anyJSONHead.re().Match(start) })

var anyJSONHead = compile(`^(?:\{\s*["}]|\[\s*(?:["{\[\]]|-?\d[\d.eE+-]*\s*[,\]]))`)

// jsonPathOfWhole matches a path that takes something else where a list ends too
// early, or a member is missing: [-1], [?!@.failed], [?count(@.*) > 2].
var jsonPathOfWhole = compile(`[\[,:]\s*-\d|!|\w\(`)

func jsonPath(what, path string) (*jsonpath.Path, error) {
	p, err := jsonpath.Parse(path)
	if err != nil {
		return nil, fmt.Errorf("%s: want a JSON path such as $.results[*]: %w", what, err)
	}
	return p, nil
}

// jsonResult yields the numbers of one result.
func (c *customInput) jsonResult(d *jsonDocument, result any, value *jsonpath.Path, sources []jsonSource) {
	texts := make([]string, len(sources))
	lacks := false
	for i, s := range sources {
		texts[i] = s.text
		if s.path != nil {
			texts[i] = jsonText(s.path.Select(result))
			lacks = lacks || texts[i] == ""
		}
	}
	name := strings.Join(texts[2:], "/")
	l := d.position(name)
	if lacks && d.isHalf() {
		c.warnf(l, "want the name, metric and unit in each result of a document that is cut off, have not all of them")
		return
	}
	numbers := jsonNumbers(value.Select(result), nil)
	if len(numbers) == 0 {
		c.warnf(l, "want a number in each result, have none")
	}
	for _, number := range numbers {
		if c.stopped {
			return
		}
		c.number(l, name, texts[0], number, texts[1])
	}
}

// jsonText returns the first of the nodes as text.
func jsonText(nodes []any) string {
	for _, node := range nodes {
		switch v := node.(type) {
		case string:
			return oneBlank(v)
		case float64:
			return strconv.FormatFloat(v, 'g', -1, 64)
		case bool:
			return strconv.FormatBool(v)
		}
	}
	return ""
}

// jsonNumbers appends the nodes, and those in lists, as they are printed.
func jsonNumbers(nodes []any, numbers []string) []string {
	for _, node := range nodes {
		switch v := node.(type) {
		case []any:
			numbers = jsonNumbers(v, numbers)
		case float64:
			numbers = append(numbers, strconv.FormatFloat(v, 'g', -1, 64))
		case string:
			numbers = append(numbers, v)
		case nil:
			numbers = append(numbers, "null")
		default:
			numbers = append(numbers, fmt.Sprint(v))
		}
	}
	return numbers
}
