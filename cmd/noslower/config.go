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
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/format"
	"github.com/noslower/noslower/pkg/gate"
)

// configVersion is the version of the configuration file that this program
// reads.
const configVersion = 1

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
	// maxConfigEntries bounds what anchors and merge keys expand to.
	maxConfigEntries = 1 << 14
)

// A config is what a configuration file sets. What it does not set is empty.
type config struct {
	Suites []suiteConfig // in the order of the file
	// Rules are those by metric and then the exceptions by benchmark, each in
	// the order of the file.
	Rules   []gate.Rule
	Limits  []metricLimit     // those of Rules with a unit, for checkLimits
	Aliases map[string]string // benchmarks' old names to new ones

	OnInconclusive, OnNoBaseline, OnMissing, OnErrors gate.Reaction

	NoiseTimes, NoiseCounts *float64
}

// A suiteConfig is a suite as the configuration file sets it: by the names of
// the flags.
type suiteConfig struct {
	Name             string
	Shell            string   // a command given as a string
	Args             []string // a command given as a list
	Format           string
	Runs             runCount
	Warmup           *int
	Timeout          time.Duration
	Results          string
	WorkingDirectory string
	Env              []string
}

// A ruleConfig is what is set of one metric, of all benchmarks or of one.
type ruleConfig struct {
	gate.Rule
	metric bench.Metric
	shares []placedShare
	limit  *placedLimit
}

// A placedShare is a percentage with the place it was read from: whether it can
// be reached is known once the metric's direction is.
type placedShare struct {
	verb string
	percentage
	at place
}

// A placedLimit is the same of a limit.
type placedLimit struct {
	quantity
	at place
}

// A configKey is something that can be set in a mapping whose settings are a T.
type configKey[T any] struct {
	name string
	read func(r *configReader, at place, into *T)
}

// The keys of each mapping, in the order that they are listed to a user.
var (
	configKeys = []configKey[config]{
		{"version", (*configReader).version},
		{"suites", (*configReader).suites},
		{"metrics", (*configReader).metrics},
		{"benchmarks", (*configReader).benchmarks},
		{"aliases", (*configReader).aliases},
		{"on-inconclusive", func(r *configReader, at place, c *config) { r.reaction(at, &c.OnInconclusive) }},
		{"on-no-baseline", func(r *configReader, at place, c *config) { r.reaction(at, &c.OnNoBaseline) }},
		{"on-missing", func(r *configReader, at place, c *config) { r.reaction(at, &c.OnMissing) }},
		{"on-errors", func(r *configReader, at place, c *config) { r.reaction(at, &c.OnErrors) }},
		{"noise", func(r *configReader, at place, c *config) { readFields(r, at, noiseKeys, c) }},
	}
	noiseKeys = []configKey[config]{
		{"times", func(r *configReader, at place, c *config) { c.NoiseTimes = r.share(at) }},
		{"counts", func(r *configReader, at place, c *config) { c.NoiseCounts = r.share(at) }},
	}
	suiteKeys = []configKey[suiteConfig]{
		{"command", (*configReader).command},
		{"format", (*configReader).format},
		{"runs", func(r *configReader, at place, s *suiteConfig) { r.set(at, &s.Runs) }},
		{"warmup", (*configReader).warmup},
		{"timeout", func(r *configReader, at place, s *suiteConfig) { r.set(at, (*runTimeout)(&s.Timeout)) }},
		{"results", func(r *configReader, at place, s *suiteConfig) { s.Results = r.text(at) }},
		{"working-directory", func(r *configReader, at place, s *suiteConfig) { s.WorkingDirectory = r.text(at) }},
		{"env", (*configReader).env},
	}
	ruleKeys = []configKey[ruleConfig]{
		{"warn", func(r *configReader, at place, c *ruleConfig) { c.Warn = r.threshold(at, "warn", c) }},
		{"fail", func(r *configReader, at place, c *ruleConfig) { c.Fail = r.threshold(at, "fail", c) }},
		{"limit", (*configReader).limit},
		{"gate", (*configReader).gate},
		{"better", (*configReader).better},
	}
)

// readConfig reads a configuration file; name is what it is called in errors.
// Every fault of it is reported, in the order of the file, and a file with a
// fault sets nothing.
func readConfig(data []byte, name string) (config, error) {
	r := &configReader{name: name, left: maxConfigEntries, merging: map[ast.Node]bool{}}
	root, err := r.parse(data)
	if err != nil {
		return config{}, err
	}
	var c config
	r.root(place{node: root, token: firstToken(root)}, &c)
	if len(r.faults) > 0 {
		return config{}, r.err()
	}
	// The exceptions win, wherever they are written.
	slices.SortStableFunc(c.Rules, func(a, b gate.Rule) int {
		return cmp.Compare(min(1, len(a.Benchmark)), min(1, len(b.Benchmark)))
	})
	return c, nil
}

// A configReader reads one configuration file and collects its faults.
type configReader struct {
	name    string
	anchors map[*ast.AliasNode]ast.Node // what each alias stands for
	left    int                         // entries that may still be read
	merging map[ast.Node]bool           // mappings whose merge keys are being followed
	faults  []configFault
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
	// One that is reached through several aliases is there as often.
	faults := slices.Compact(r.faults)
	errs := make([]error, len(faults))
	for i, f := range faults {
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
	anchors := anchorFinder{map[string]ast.Node{}, map[*ast.AliasNode]ast.Node{}}
	if root != nil {
		ast.Walk(anchors, root)
	}
	r.anchors = anchors.of
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
		case token.SequenceEntryType, token.MappingKeyType, token.AnchorType, token.TagType:
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

// An anchorFinder finds what each alias stands for: the last anchor of its name
// before it.
type anchorFinder struct {
	last map[string]ast.Node
	of   map[*ast.AliasNode]ast.Node
}

// Visit implements ast.Visitor.
func (f anchorFinder) Visit(node ast.Node) ast.Visitor {
	switch n := node.(type) {
	case nil:
		return nil
	case *ast.AnchorNode:
		f.last[n.Name.GetToken().Value] = n.Value
	case *ast.AliasNode:
		f.of[n] = f.last[n.Value.GetToken().Value]
	}
	return f
}

// resolve returns the node that anchors and aliases lead to, and false after a
// fault.
func (r *configReader) resolve(at place) (ast.Node, bool) {
	node := at.node
	for range maxConfigDepth {
		switch n := node.(type) {
		case *ast.AnchorNode:
			node = n.Value
		case *ast.MappingKeyNode:
			node = n.Value
		case *ast.AliasNode:
			node = r.anchors[n]
			if node == nil {
				name := n.Value.GetToken().Value
				r.fault(at, `want the anchor "&%s" before "*%s", have none: text that starts with * is written in quotes`, name, name)
				return nil, false
			}
		case *ast.TagNode:
			r.fault(at, "want a value without a YAML tag, have %s", n.Start.Value)
			return nil, false
		default:
			return node, true
		}
	}
	r.fault(at, "want an alias that ends at a value, have one that leads to itself")
	return nil, false
}

// A configEntry is a key of a mapping with its value.
type configEntry struct {
	name string
	key  place // of the mapping, shown at the key
	at   place // of the value
}

// entries returns the entries of a mapping in order, with what its merge keys
// bring in their place, and false after a fault that leaves it unread. what
// says what is wanted of it.
func (r *configReader) entries(at place, what string) ([]configEntry, bool) {
	node, ok := r.resolve(at)
	if !ok || !r.spend(at) {
		return nil, false
	}
	mapping, ok := node.(*ast.MappingNode)
	if !ok {
		r.fault(at, "want %s, have %s", what, describeNode(node))
		return nil, false
	}
	if r.merging[mapping] {
		r.fault(at, "want a mapping that is not merged into itself")
		return nil, false
	}
	r.merging[mapping] = true
	defer delete(r.merging, mapping)

	type merged struct {
		before  int // the entry of its own that it stands before
		entries []configEntry
	}
	var own []configEntry
	var merges []merged
	names := map[string]*token.Token{}
	for _, pair := range mapping.Values {
		if pair.Key.IsMergeKey() {
			merges = append(merges, merged{len(own), r.merge(place{at.path, pair.Value, pair.Key.GetToken()}, what)})
			continue
		}
		if !r.spend(at) {
			return nil, false
		}
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
		own = append(own, configEntry{name, key, r.below(key, name, pair.Value)})
	}
	// What is written in place wins over what is merged, and of what is merged
	// the first: https://yaml.org/type/merge.html.
	var all []configEntry
	for i := 0; ; i++ {
		for len(merges) > 0 && merges[0].before == i {
			for _, e := range merges[0].entries {
				if names[e.name] == nil {
					names[e.name] = e.key.token
					all = append(all, e)
				}
			}
			merges = merges[1:]
		}
		if i == len(own) {
			return all, true
		}
		all = append(all, own[i])
	}
}

// merge returns the entries that a merge key brings: those of a mapping, or of
// several in a list.
func (r *configReader) merge(at place, what string) []configEntry {
	node, ok := r.resolve(at)
	if !ok {
		return nil
	}
	list, ok := node.(*ast.SequenceNode)
	if !ok {
		all, _ := r.entries(at, what)
		return all
	}
	var all []configEntry
	for _, node := range list.Values {
		more, _ := r.entries(place{at.path, node, at.token}, what)
		all = append(all, more...)
	}
	return all
}

// spend takes one from the entries that may still be read, and reports whether
// there was one.
func (r *configReader) spend(at place) bool {
	r.left--
	if r.left == -1 {
		r.fault(at, "want at most %d entries, merged and repeated ones counted, have more", maxConfigEntries)
	}
	return r.left >= 0
}

// keyName returns the text of a key.
func (r *configReader) keyName(key place) (string, bool) {
	node, ok := r.resolve(key)
	if !ok {
		return "", false
	}
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

func keyNames[T any](keys []configKey[T]) []string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.name
	}
	return names
}

// root reads the whole file. A newer version of it is the only fault that is
// reported: what else is in it may be right there.
func (r *configReader) root(at place, c *config) {
	if _, empty := at.node.(*ast.NullNode); empty || at.node == nil {
		r.fault(at, `want "version: %d" and what is to be set, have an empty file`, configVersion)
		return
	}
	entries, ok := r.entries(at, "a mapping of "+strings.Join(keyNames(configKeys), ", "))
	if !ok {
		return
	}
	i := slices.IndexFunc(entries, func(e configEntry) bool { return e.name == "version" })
	if i < 0 {
		r.fault(at, `want "version: %d", have no version`, configVersion)
	} else if r.newer(entries[i].at) {
		return
	}
	readEntries(r, entries, configKeys, c)
}

// newer reports whether the file is of a later version, after noting that as
// its fault.
func (r *configReader) newer(at place) bool {
	node, ok := r.resolve(at)
	if !ok {
		return false
	}
	n, ok := node.(*ast.IntegerNode)
	if !ok {
		return false
	}
	v, err := strconv.ParseUint(n.GetToken().Value, 10, 15)
	if err != nil || v <= configVersion {
		return false
	}
	r.faults = nil
	r.fault(at, "want %d, have %d: this noslower reads version %[1]d, noslower %[2]d.0 or later reads version %[2]d", configVersion, v)
	return true
}

func (r *configReader) version(at place, _ *config) {
	node, ok := r.resolve(at)
	if !ok {
		return
	}
	if n, ok := node.(*ast.IntegerNode); !ok || n.GetToken().Value != strconv.Itoa(configVersion) {
		r.fault(at, "want %d, have %s", configVersion, describeNode(node))
	}
}

func (r *configReader) suites(at place, c *config) {
	entries, _ := r.entries(at, "a mapping of suites by name")
	for _, e := range entries {
		s := suiteConfig{Name: e.name}
		readFields(r, e.at, suiteKeys, &s)
		c.Suites = append(c.Suites, s)
	}
}

func (r *configReader) metrics(at place, c *config) { r.rules(at, "", c) }

func (r *configReader) benchmarks(at place, c *config) {
	entries, _ := r.entries(at, "a mapping of benchmarks by name or glob")
	for _, e := range entries {
		r.rules(e.at, e.name, c)
	}
}

// rules reads what is set by metric, of the benchmarks that a glob matches.
func (r *configReader) rules(at place, benchmark string, c *config) {
	entries, _ := r.entries(at, "a mapping of metrics by name or glob")
	for _, e := range entries {
		metric, err := knownMetric(e.name)
		if err != nil {
			r.fault(e.key, "%v", err)
		}
		rule := ruleConfig{metric: metric}
		faults := len(r.faults)
		readFields(r, e.at, ruleKeys, &rule)
		if rule.Rule == (gate.Rule{}) && len(r.faults) == faults {
			r.fault(e.at, "want at least one of %s, have none", strings.Join(keyNames(ruleKeys), ", "))
		}
		if rule.Better != bench.Unknown {
			rule.metric.Better = rule.Better
		}
		for _, s := range rule.shares {
			if err := checkDrop(rule.metric, s.verb, s.percentage); err != nil {
				r.fault(s.at, "%v", err)
			}
		}
		if q := rule.limit; q != nil {
			if err := checkLimit(rule.metric, q.quantity); err != nil {
				r.fault(q.at, "%v", err)
			}
			if q.Unit != "" {
				c.Limits = append(c.Limits, metricLimit{e.name, q.quantity})
			}
		}
		rule.Benchmark, rule.Metric = benchmark, e.name
		c.Rules = append(c.Rules, rule.Rule)
	}
}

// threshold reads a slowdown that is to fail or to be warned of.
func (r *configReader) threshold(at place, verb string, c *ruleConfig) *float64 {
	var p percentage
	if !r.set(at, &p) {
		return nil
	}
	c.shares = append(c.shares, placedShare{verb, p, at})
	return (*float64)(&p)
}

func (r *configReader) limit(at place, c *ruleConfig) {
	q := placedLimit{at: at}
	if r.set(at, &q.quantity) {
		c.limit = &q
		c.Limit = &q.V
	}
}

func (r *configReader) gate(at place, c *ruleConfig) {
	node, ok := r.resolve(at)
	if !ok {
		return
	}
	b, ok := node.(*ast.BoolNode)
	if !ok {
		r.fault(at, "want true or false, have %s", describeNode(node))
		return
	}
	c.Gate = &b.Value
}

func (r *configReader) better(at place, c *ruleConfig) {
	node, ok := r.resolve(at)
	if !ok {
		return
	}
	switch s, _ := scalarText(node); s {
	case bench.Lower.String():
		c.Better = bench.Lower
	case bench.Higher.String():
		c.Better = bench.Higher
	default:
		r.fault(at, "want %v or %v, have %s", bench.Lower, bench.Higher, describeNode(node))
	}
}

func (r *configReader) aliases(at place, c *config) {
	entries, _ := r.entries(at, "a mapping of benchmarks' old names to new ones")
	for _, e := range entries {
		to := r.text(e.at)
		if to == e.name {
			r.fault(e.at, "want another name than the old one, have %q", shorten(to))
		}
		if c.Aliases == nil {
			c.Aliases = map[string]string{}
		}
		c.Aliases[e.name] = to
	}
}

func (r *configReader) reaction(at place, into *gate.Reaction) {
	s, ok := r.scalar(at, "pass, warn or fail")
	if !ok {
		return
	}
	reaction, err := gate.ParseReaction(s)
	if err != nil {
		r.fault(at, "%v", err)
	}
	*into = reaction
}

// share reads a percentage; nil after a fault.
func (r *configReader) share(at place) *float64 {
	var p percentage
	if !r.set(at, &p) {
		return nil
	}
	return (*float64)(&p)
}

func (r *configReader) command(at place, s *suiteConfig) {
	node, ok := r.resolve(at)
	if !ok {
		return
	}
	list, ok := node.(*ast.SequenceNode)
	if !ok {
		s.Shell = r.text(at)
		return
	}
	for _, arg := range r.elements(at, list) {
		node, ok := r.resolve(arg)
		if !ok {
			continue
		}
		// "1000" needs no quotes: what is written is what the command gets.
		text, ok := scalarText(node)
		if !ok {
			hint := ""
			if m, ok := node.(*ast.MappingNode); ok && m.IsFlowStyle {
				hint = `: text that starts with { is written in quotes, such as "{ops}"`
			}
			r.fault(arg, "want text, have %s%s", describeNode(node), hint)
			continue
		}
		s.Args = append(s.Args, text)
	}
	if len(list.Values) == 0 {
		r.fault(at, "want a program and its arguments, have an empty list")
	} else if len(s.Args) > 0 && s.Args[0] == "" {
		r.fault(at, `want a program as the first of the list, have ""`)
	}
}

func (r *configReader) format(at place, s *suiteConfig) {
	name := r.text(at)
	if name == "" {
		return
	}
	s.Format = name
	known := append([]string{"auto", "none"}, format.Names()...)
	if !slices.Contains(known, name) {
		hint := ""
		if near := nearestName(name, known); near != "" {
			hint = fmt.Sprintf(": did you mean %q?", near)
		}
		r.fault(at, "want auto, none or a name that \"noslower formats\" lists, have %q%s", shorten(name), hint)
	}
}

func (r *configReader) warmup(at place, s *suiteConfig) {
	text, ok := r.scalar(at, "a number of runs")
	if !ok {
		return
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n > maxRuns {
		r.fault(at, "want a number of runs from 0 to %d, have %q", maxRuns, shorten(text))
		return
	}
	warmup := int(n)
	s.Warmup = &warmup
}

func (r *configReader) env(at place, s *suiteConfig) {
	node, ok := r.resolve(at)
	if !ok {
		return
	}
	list, ok := node.(*ast.SequenceNode)
	if !ok {
		r.fault(at, "want a list of names of variables, have %s: their values are the environment's", describeNode(node))
		return
	}
	for _, e := range r.elements(at, list) {
		name := r.text(e)
		if strings.ContainsAny(name, "=\x00") {
			r.fault(e, "want the name of a variable alone, have %q: its value is the environment's", shorten(name))
			continue
		}
		s.Env = append(s.Env, name)
	}
}

// elements returns the places of what is in a list.
func (r *configReader) elements(at place, list *ast.SequenceNode) []place {
	var places []place
	for i, node := range list.Values {
		if !r.spend(at) {
			break
		}
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
	node, ok := r.resolve(at)
	if !ok {
		return ""
	}
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
	node, ok := r.resolve(at)
	if !ok {
		return "", false
	}
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
