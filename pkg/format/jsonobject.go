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

// A jsonObject has the members of an object by key, the last one of each.
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
		return 0, &json.UnmarshalTypeError{Value: bench.KindOfJSON(m.value), Type: reflect.TypeFor[float64](), Field: called}
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
		kind, _, _ := strings.Cut(bench.KindOfJSON(text), " ")
		return &json.UnmarshalTypeError{Value: kind, Type: reflect.TypeFor[map[string]any]()}
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
	slices.SortStableFunc(members, jsonMember.compare)
	last := members[:0]
	for i, m := range members {
		if i+1 == len(members) || members[i+1].key != m.key {
			last = append(last, m)
		}
	}
	*o = append(room, last...)
	return nil
}

// get returns the value of a key, or "".
func (o jsonObject) get(key string) string {
	for _, m := range o {
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
		kind, _, _ := strings.Cut(bench.KindOfJSON(value), " ")
		return "", &json.UnmarshalTypeError{Value: kind, Type: reflect.TypeFor[string](), Field: called}
	}
}

// number returns the number of a key.
func (o jsonObject) number(key string) (n jsonNumber) {
	if value := o.get(key); value != "" {
		n.take(value)
	}
	return n
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

// endOfValue returns where a value ends that was checked.
func endOfValue(data string, start int) int {
	for i, depth := start, 0; i < len(data); {
		switch data[i] {
		case '"':
			if i, _ = endOfString(data, i); depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
		if depth < 0 {
			return i // what it is in ends
		}
		i++
	}
	return len(data)
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
