package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Bounds of a configuration file. A pull request may bring one along, and it is
// read before anything else is decided.
const (
	maxConfigSize = 1 << 20
	// maxConfigBlankLines bounds the time to split the file into tokens: at the
	// end of a block of text, go-yaml's grows with the square of the blank lines.
	maxConfigBlankLines = 256
	// maxConfigTokens bounds the time to parse: go-yaml's grows with the square
	// of the number of keys.
	maxConfigTokens = 1 << 14
	maxConfigDepth  = 32
)

// A configReader reads one configuration file and collects its faults.
type configReader struct {
	name   string
	faults []configFault
}

type configFault struct {
	line, column int
	text         string
}

// A place is a node of the file with the path to it: "suites.read.command".
type place struct {
	path  string
	node  ast.Node
	token *token.Token // where a fault of it is shown; nil in an empty file
}

// fault notes that what is at a place is not what is wanted.
func (r *configReader) fault(at place, wording string, args ...any) {
	f := configFault{1, 1, fmt.Sprintf(wording, args...)}
	if at.token != nil {
		f.line, f.column = at.token.Position.Line, at.token.Position.Column
	}
	if at.path != "" {
		f.text = at.path + ": " + f.text
	}
	r.faults = append(r.faults, f)
}

// err returns the faults in the order of the file.
func (r *configReader) err() error {
	slices.SortStableFunc(r.faults, func(a, b configFault) int {
		return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column))
	})
	errs := make([]error, len(r.faults))
	for i, f := range r.faults {
		errs[i] = fmt.Errorf("%s:%d:%d: %s", r.name, f.line, f.column, f.text)
	}
	return errors.Join(errs...)
}

// parse returns the file's one document, nil if it is empty.
func (r *configReader) parse(data []byte) (ast.Node, error) {
	if len(data) > maxConfigSize {
		return nil, fmt.Errorf("%s: want at most %d bytes, have %d", r.name, maxConfigSize, len(data))
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("%s: want UTF-8, have other bytes", r.name)
	}
	if line, ok := checkBlankLines(data); !ok {
		return nil, fmt.Errorf("%s:%d:1: want at most %d blank lines in a row, have more", r.name, line, maxConfigBlankLines)
	}
	tokens := lexer.Tokenize(string(data))
	if err := checkTokens(tokens); err != nil {
		return nil, fmt.Errorf("%s:%w", r.name, err)
	}
	// Duplicates are found here, with all other faults, not by the parser.
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		var syntax yaml.Error
		if !errors.As(err, &syntax) || syntax.GetToken() == nil {
			return nil, fmt.Errorf("%s: want YAML: %w", r.name, err)
		}
		at := syntax.GetToken().Position
		return nil, fmt.Errorf("%s:%d:%d: want YAML: %s", r.name, at.Line, at.Column, syntax.GetMessage())
	}
	var root ast.Node
	for _, doc := range file.Docs {
		switch {
		case doc.Body == nil:
		case root != nil:
			at := firstToken(doc.Body).Position
			return nil, fmt.Errorf("%s:%d:%d: want one document, have a second one", r.name, at.Line, at.Column)
		default:
			root = doc.Body
		}
	}
	return root, nil
}

// checkBlankLines reports whether there are no more blank lines in a row than
// maxConfigBlankLines, or else the line that is too many.
func checkBlankLines(data []byte) (line int, ok bool) {
	blank := 0
	line = 1
	for i, c := range data {
		switch c {
		case ' ', '\t':
		case '\n', '\r':
			if c == '\n' && i > 0 && data[i-1] == '\r' {
				continue
			}
			if blank++; blank > maxConfigBlankLines {
				return line, false
			}
			line++
		default:
			blank = -1 // the end of this line is none
		}
	}
	return 0, true
}

// checkTokens refuses a file that would take the parser long or deep: it has no
// bounds of its own.
func checkTokens(tokens token.Tokens) error {
	if len(tokens) > maxConfigTokens {
		at := tokens[maxConfigTokens].Position
		return fmt.Errorf("%d:%d: want at most %d words and signs, have %d", at.Line, at.Column, maxConfigTokens, len(tokens))
	}
	for _, t := range tokens {
		switch t.Type {
		case token.AnchorType, token.AliasType, token.MergeKeyType, token.TagType:
			return fmt.Errorf("%d:%d: want plain YAML, have %q: anchors, aliases, merge keys and tags are not read, and text that starts with such a sign is written in quotes",
				t.Position.Line, t.Position.Column, t.Value)
		}
	}
	flow := 0        // open brackets
	var blocks []int // columns that open blocks start at
	line := 0
	for _, t := range tokens {
		at := t.Position
		starts := at.Line != line
		line = at.Line
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			flow++
		case token.MappingEndType, token.SequenceEndType:
			flow = max(0, flow-1)
		case token.SequenceEntryType, token.MappingKeyType:
			starts = true
		}
		if flow == 0 && starts {
			for len(blocks) > 0 && blocks[len(blocks)-1] >= at.Column {
				blocks = blocks[:len(blocks)-1]
			}
			blocks = append(blocks, at.Column)
		}
		if flow+len(blocks) > maxConfigDepth {
			return fmt.Errorf("%d:%d: want at most %d levels of nesting, have more", at.Line, at.Column, maxConfigDepth)
		}
	}
	return nil
}

// A configEntry is a key of a mapping with its value.
type configEntry struct {
	name string
	key  place // of the mapping, shown at the key
	at   place // of the value
}

// entries returns the entries of a mapping in order, and false after a fault that
// leaves it unread. what says what is wanted of it.
func (r *configReader) entries(at place, what string) ([]configEntry, bool) {
	mapping, ok := at.node.(*ast.MappingNode)
	if !ok {
		r.fault(at, "want %s, have %s", what, describeNode(at.node))
		return nil, false
	}
	var all []configEntry
	names := map[string]*token.Token{}
	for _, pair := range mapping.Values {
		key := place{at.path, pair.Key, firstToken(pair.Key)}
		name, ok := r.keyName(key)
		if !ok {
			continue
		}
		if first, twice := names[name]; twice {
			r.fault(key, "want each key once, have %q again: it is set in line %d", name, first.Position.Line)
			continue
		}
		names[name] = key.token
		all = append(all, configEntry{name, key, r.below(key, name, pair.Value)})
	}
	return all, true
}

// keyName returns the text of a key.
func (r *configReader) keyName(key place) (string, bool) {
	node := key.node
	name, ok := scalarText(node)
	if !ok || strings.TrimSpace(name) == "" {
		r.fault(key, "want a name, have %s", describeNode(node))
		return "", false
	}
	return name, true
}

// plainName is a name that can stand in a path without quotes.
var plainName = regexp.MustCompile(`^[\w*?/-]+$`)

// below returns the place of the value of a key.
func (r *configReader) below(key place, name string, value ast.Node) place {
	if !plainName.MatchString(name) {
		name = strconv.Quote(shorten(name))
	}
	at := place{name, value, firstToken(value)}
	if key.path != "" {
		at.path = key.path + "." + name
	}
	if _, ok := value.(*ast.NullNode); ok {
		at.token = key.token
	}
	return at
}

// readFields reads a mapping of these keys.
func readFields[T any](r *configReader, at place, keys []configKey[T], into *T) {
	if entries, ok := r.entries(at, "a mapping of "+strings.Join(keyNames(keys), ", ")); ok {
		readEntries(r, entries, keys, into)
	}
}

func readEntries[T any](r *configReader, entries []configEntry, keys []configKey[T], into *T) {
	names := keyNames(keys)
	for _, e := range entries {
		i := slices.Index(names, e.name)
		if i < 0 {
			hint := ""
			if near := nearestName(e.name, names); near != "" {
				hint = fmt.Sprintf(": did you mean %q?", near)
			}
			r.fault(e.key, "want one of %s, have %q%s", strings.Join(names, ", "), shorten(e.name), hint)
			continue
		}
		keys[i].read(r, e.at, into)
	}
}

// elements returns the places of what is in a list.
func (r *configReader) elements(at place, list *ast.SequenceNode) []place {
	var places []place
	for i, node := range list.Values {
		e := place{fmt.Sprintf("%s[%d]", at.path, i), node, firstToken(node)}
		if e.token == nil {
			e.token = at.token
		}
		places = append(places, e)
	}
	return places
}

// text reads text that is not blank; "" after a fault. A number is refused: other
// readers of YAML take 1.10 for 1.1.
func (r *configReader) text(at place) string {
	node := at.node
	switch n := node.(type) {
	case *ast.StringNode, *ast.LiteralNode:
		if s, _ := scalarText(n); strings.TrimSpace(s) != "" {
			return s
		}
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		r.fault(at, "want text, have %s: write it in quotes", describeNode(node))
		return ""
	}
	r.fault(at, "want text, have %s", describeNode(node))
	return ""
}

// scalar reads the text of anything that is no list, no mapping and not nothing,
// and reports whether it was that. what says what is wanted.
func (r *configReader) scalar(at place, what string) (string, bool) {
	node := at.node
	s, ok := scalarText(node)
	if !ok {
		r.fault(at, "want %s, have %s", what, describeNode(node))
	}
	return s, ok
}

// set reads a value as a flag of its type would, and reports whether it could.
func (r *configReader) set(at place, v settable) bool {
	s, ok := r.scalar(at, v.wanted())
	if !ok {
		return false
	}
	if err := v.Set(s); err != nil {
		r.fault(at, "%v", err)
		return false
	}
	return true
}

// scalarText returns what is written for a scalar that is not nothing.
func scalarText(node ast.Node) (string, bool) {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	return "", false
}

// describeNode words a node for an error: text stands in quotes, other scalars
// do not.
func describeNode(node ast.Node) string {
	switch node.(type) {
	case *ast.MappingNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.StringNode, *ast.LiteralNode:
		s, _ := scalarText(node)
		return strconv.Quote(shorten(s))
	}
	if s, ok := scalarText(node); ok {
		return shorten(s)
	}
	return "nothing"
}

// firstToken returns the token that a node starts with. go-yaml's own of a
// mapping is its first colon.
func firstToken(node ast.Node) *token.Token {
	switch n := node.(type) {
	case nil:
		return nil
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return firstToken(n.Values[0].Key)
		}
	}
	return node.GetToken()
}

// shorten cuts text to fit a message.
func shorten(s string) string {
	const most = 60
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}

// nearestName returns the name that was most likely meant; "" if none is near.
func nearestName(have string, names []string) string {
	have = strings.ToLower(strings.ReplaceAll(shorten(have), "_", "-"))
	best, least := "", 3
	for _, name := range names {
		// Of a short name, many changes leave too little.
		if d := editDistance(have, name); d < least && 2*d <= len(name) {
			best, least = name, d
		}
	}
	return best
}

// editDistance counts the bytes to insert, delete or replace that make a into b:
// V. I. Levenshtein, "Binary codes capable of correcting deletions, insertions,
// and reversals", Soviet Physics Doklady 10 (1966), 707–710.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
