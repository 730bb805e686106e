package format

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/noslower/noslower/pkg/bench"
)

// A jsonObject has the members of an object as they stand there.
type jsonObject []jsonMember

// A jsonMember is a member of an object, whose value is as it is written.
type jsonMember struct {
	key, value string
}

func (m jsonMember) compare(o jsonMember) int { return strings.Compare(m.key, o.key) }

func (m jsonMember) number() (n jsonNumber) {
	n.take(m.value)
	return n
}

func (m jsonMember) isNull() bool { return m.value[0] == 'n' }

func (m jsonMember) isNumber() bool {
	return m.value[0] == '-' || '0' <= m.value[0] && m.value[0] <= '9'
}

// float returns the number that a member wants to be. A null is 0. The error of
// another value is of what the member is called.
func (m jsonMember) float(called string) (float64, error) {
	if m.isNull() {
		return 0, nil
	}
	v, err := parseFloat(m.value)
	if err != nil {
		return 0, wrongType[float64](bench.KindOfJSON(m.value), called)
	}
	return v, nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (o *jsonObject) UnmarshalJSON(data []byte) error { return o.take(string(data)) }

// take takes a value that was checked, in place of the members that there are.
func (o *jsonObject) take(text string) error {
	room := (*o)[:0]
	*o = nil
	switch c := text[0]; {
	case c == '{':
	case c == 'n':
		return nil
	default:
		return wrongType[map[string]any](kindOf(text), "")
	}
	var most [12]jsonMember // more than most have
	members := most[:0]
	for at := nextJSON(text, 1); text[at] != '}'; {
		keyEnd, _ := endOfString(text, at)
		start := nextJSON(text, keyEnd)
		end := endOfValue(text, start)
		members = append(members, jsonMember{unquoteJSON(text[at:keyEnd]), text[start:end]})
		at = nextJSON(text, end)
	}
	*o = append(room, members...)
	return nil
}

// byKey returns the members by key, the last one of each. They stay in that order.
func (o jsonObject) byKey() jsonObject {
	slices.SortStableFunc(o, jsonMember.compare)
	last := o[:0]
	for i, m := range o {
		if i+1 == len(o) || o[i+1].key != m.key {
			last = append(last, m)
		}
	}
	return last
}

// get returns the value of a key, the last one, or "".
func (o jsonObject) get(key string) string {
	for _, m := range slices.Backward(o) {
		if m.key == key {
			return m.value
		}
	}
	return ""
}

// object returns the object of a key, which is empty where there is none.
func (o jsonObject) object(key string) (jsonObject, error) {
	var of jsonObject
	value := o.get(key)
	if value == "" {
		return nil, nil
	}
	err := of.take(value)
	if mistyped, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		mistyped.Field = key
	}
	return of, err
}

// float returns the number that a key wants, or nil where it is missing or null.
func (o jsonObject) float(key, called string) (*float64, error) {
	value := o.get(key)
	if value == "" || value == "null" {
		return nil, nil
	}
	v, err := jsonMember{key, value}.float(called)
	return &v, err
}

// string is float for a text, which is empty where there is none.
func (o jsonObject) string(key, called string) (string, error) {
	switch value := o.get(key); {
	case value == "", value == "null":
		return "", nil
	case value[0] == '"':
		return unquoteJSON(value), nil
	default:
		return "", wrongType[string](kindOf(value), called)
	}
}

// number returns the number of a key.
func (o jsonObject) number(key string) (n jsonNumber) {
	if value := o.get(key); value != "" {
		n.take(value)
	}
	return n
}

// eachElement hands the elements of the array that value is to read, each as it is
// written, until one has an error. What is missing or null has none. The error of
// another value is of what it is called.
func eachElement(value, called string, read func(element string) error) error {
	switch {
	case value == "", value == "null":
		return nil
	case value[0] != '[':
		return wrongType[[]any](kindOf(value), called)
	}
	for at := nextJSON(value, 1); value[at] != ']'; {
		end := endOfValue(value, at)
		if err := read(value[at:end]); err != nil {
			return err
		}
		at = nextJSON(value, end)
	}
	return nil
}

// numbersOf reads an array of numbers, of which one that is null is nil.
func numbersOf(value, called string) (numbers []*float64, err error) {
	err = eachElement(value, called, func(element string) error {
		m := jsonMember{value: element}
		if m.isNull() {
			numbers = append(numbers, nil)
			return nil
		}
		v, err := m.float(called)
		numbers = append(numbers, &v)
		return err
	})
	return numbers, err
}

// wrongType is the error of a value that is no Wanted.
func wrongType[Wanted any](have, called string) error {
	return &json.UnmarshalTypeError{Value: have, Type: reflect.TypeFor[Wanted](), Field: called}
}

// kindOf is KindOfJSON without the number itself.
func kindOf(value string) string {
	kind, _, _ := strings.Cut(bench.KindOfJSON(value), " ")
	return kind
}

// nextJSON returns where the next key, value or closing bracket begins.
func nextJSON[T string | []byte](data T, at int) int {
	for ; ; at++ {
		switch data[at] {
		case ',', ':', ' ', '\t', '\r', '\n':
		default:
			return at
		}
	}
}

var (
	jsonNesting = bytesOf(`"{}[]`)      // what changes the depth, and what may hide it
	jsonEnds    = bytesOf(",}] \t\r\n") // of a number or a word
)

// endOfValue returns where a value ends that was checked.
func endOfValue(data string, start int) int {
	switch data[start] {
	case '"':
		end, _ := endOfString(data, start)
		return end
	case '{', '[':
	default:
		if n := jsonEnds.index(data[start:]); n >= 0 {
			return start + n
		}
		return len(data)
	}
	for i, depth := start, 0; ; {
		i += jsonNesting.index(data[i:])
		switch data[i] {
		case '"':
			i, _ = endOfString(data, i)
			continue
		case '{', '[':
			depth++
		default:
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
}

// unquoteJSON returns what a string says that was checked.
func unquoteJSON(quoted string) string {
	if strings.IndexByte(quoted, '\\') < 0 && utf8.ValidString(quoted) {
		return quoted[1 : len(quoted)-1]
	}
	var text string
	_ = json.Unmarshal([]byte(quoted), &text)
	return text
}
