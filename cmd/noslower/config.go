package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/format"
	"github.com/noslower/noslower/pkg/gate"
)

// configVersion is the version of the configuration file that this program
// reads.
const configVersion = 1

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

	Creep *creepConfig
}

// A suiteConfig is a suite as the configuration file sets it: by the names of
// the flags.
type suiteConfig struct {
	Name             string
	Shell            string   // a command given as a string
	Args             []string // a command given as a list
	Format           string
	Parse            []format.Custom // what describes output that no format knows
	custom           string          // the kind of Parse
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
		{"creep", (*configReader).creep},
	}
	noiseKeys = []configKey[config]{
		{"times", func(r *configReader, at place, c *config) { c.NoiseTimes = r.share(at) }},
		{"counts", func(r *configReader, at place, c *config) { c.NoiseCounts = r.share(at) }},
	}
	suiteKeys = []configKey[suiteConfig]{
		{"command", (*configReader).command},
		{"format", (*configReader).format},
		{"parse", (*configReader).custom},
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
	r := &configReader{name: name}
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
	node := at.node
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
	node := at.node
	if n, ok := node.(*ast.IntegerNode); !ok || n.GetToken().Value != strconv.Itoa(configVersion) {
		r.fault(at, "want %d, have %s", configVersion, describeNode(node))
	}
}

func (r *configReader) suites(at place, c *config) {
	entries, _ := r.entries(at, "a mapping of suites by name")
	for _, e := range entries {
		s := suiteConfig{Name: e.name}
		readFields(r, e.at, suiteKeys, &s)
		r.checkCustom(e.at, &s)
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
	node := at.node
	b, ok := node.(*ast.BoolNode)
	if !ok {
		r.fault(at, "want true or false, have %s", describeNode(node))
		return
	}
	c.Gate = &b.Value
}

func (r *configReader) better(at place, c *ruleConfig) {
	node := at.node
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
	node := at.node
	list, ok := node.(*ast.SequenceNode)
	if !ok {
		s.Shell = r.text(at)
		return
	}
	for _, arg := range r.elements(at, list) {
		node := arg.node
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
	known := slices.Concat([]string{"auto", "none"}, format.Names(), format.CustomNames())
	if !slices.Contains(known, name) {
		hint := ""
		if near := nearestName(name, known); near != "" {
			hint = fmt.Sprintf(": did you mean %q?", near)
		}
		r.fault(at, "want auto, none, regex, json, csv or a name that \"noslower formats\" lists, have %q%s", shorten(name), hint)
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
	node := at.node
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
