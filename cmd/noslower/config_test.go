package main

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
)

var update = flag.Bool("update", false, "write the golden files anew")

const schemaFile = "../../docs/noslower.schema.json"

// TestConfig reads every testdata/config/*.yml and compares what it sets, or
// its faults, with the .golden file beside it.
func TestConfig(t *testing.T) {
	for _, input := range configFiles(t, "config") {
		t.Run(filepath.Base(input), func(t *testing.T) {
			data, err := os.ReadFile(input)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			if c, err := readConfig(data, filepath.Base(input)); err != nil {
				fmt.Fprintln(&got, err)
			} else {
				writeConfig(&got, c)
			}
			golden := strings.TrimSuffix(input, ".yml") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got.String() != string(want) {
				t.Errorf("readConfig(%s) gives\n%swant (-update accepts it)\n%s", input, got.String(), want)
			}
		})
	}
}

// configFiles returns the configurations in a folder of testdata.
func configFiles(t testing.TB, folder string) []string {
	inputs, err := filepath.Glob(repository("testdata", folder, "*.yml"))
	if err != nil || len(inputs) == 0 {
		t.Fatalf("no input under testdata/%s: %v", folder, err)
	}
	return inputs
}

// writeConfig writes what is set, one setting a line.
func writeConfig(w *strings.Builder, c config) {
	for _, s := range c.Suites {
		fmt.Fprintf(w, "suite %q\n", s.Name)
		for _, f := range []struct {
			name  string
			set   bool
			value any
		}{
			{"shell", s.Shell != "", strconv.Quote(s.Shell)},
			{"args", s.Args != nil, fmt.Sprintf("%q", s.Args)},
			{"format", s.Format != "", s.Format},
			{"parse", s.Parse != nil, fmt.Sprintf("%+v", s.Parse)},
			{"runs", s.Runs != runCount{}, s.Runs},
			{"warmup", s.Warmup != nil, orUnset(s.Warmup)},
			{"timeout", s.Timeout != 0, s.Timeout},
			{"results", s.Results != "", s.Results},
			{"working-directory", s.WorkingDirectory != "", s.WorkingDirectory},
			{"env", s.Env != nil, fmt.Sprintf("%q", s.Env)},
		} {
			if f.set {
				fmt.Fprintf(w, "\t%s %v\n", f.name, f.value)
			}
		}
	}
	for _, r := range c.Rules {
		fmt.Fprintf(w, "rule %q %q", r.Benchmark, r.Metric)
		if r.Gate != nil {
			fmt.Fprintf(w, " gate=%v", *r.Gate)
		}
		if r.Warn != nil {
			fmt.Fprintf(w, " warn=%v", *r.Warn)
		}
		if r.Fail != nil {
			fmt.Fprintf(w, " fail=%v", *r.Fail)
		}
		if r.Limit != nil {
			fmt.Fprintf(w, " limit=%v", *r.Limit)
		}
		if r.Better != bench.Unknown {
			fmt.Fprintf(w, " better=%v", r.Better)
		}
		fmt.Fprintln(w)
	}
	for _, l := range c.Limits {
		fmt.Fprintf(w, "limit %q %v %q\n", l.Metric, l.V, l.Unit)
	}
	for _, from := range slices.Sorted(maps.Keys(c.Aliases)) {
		fmt.Fprintf(w, "alias %q %q\n", from, c.Aliases[from])
	}
	if c.OnInconclusive+c.OnNoBaseline+c.OnMissing+c.OnErrors != "" {
		fmt.Fprintf(w, "on inconclusive=%q no-baseline=%q missing=%q errors=%q\n", c.OnInconclusive, c.OnNoBaseline, c.OnMissing, c.OnErrors)
	}
	if c.NoiseTimes != nil || c.NoiseCounts != nil {
		fmt.Fprintf(w, "noise times=%v counts=%v\n", orUnset(c.NoiseTimes), orUnset(c.NoiseCounts))
	}
	if c.Creep != nil {
		fmt.Fprintf(w, "creep against=%q fail=%v warn=%v\n", c.Creep.Against, orUnset(c.Creep.Fail), orUnset(c.Creep.Warn))
	}
}

func orUnset[T int | float64](n *T) any {
	if n == nil {
		return "unset"
	}
	return *n
}

// TestConfigSchema holds the schema against the reader by every file of
// testdata/config: what one takes the other takes. A file whose first line says
// "beyond a schema" has faults that only the reader can see.
func TestConfigSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, input := range slices.Concat(configFiles(t, "config"), configFiles(t, "custom")) {
		t.Run(filepath.Base(input), func(t *testing.T) {
			data, err := os.ReadFile(input)
			if err != nil {
				t.Fatal(err)
			}
			var doc any
			// What is no YAML to start with is no case for a schema.
			err = yaml.Unmarshal(data, &doc)
			if err == nil {
				err = schema.Validate(doc)
			}
			_, want := readConfig(data, filepath.Base(input))
			if first, _, _ := strings.Cut(string(data), "\n"); strings.Contains(first, "beyond a schema") {
				if want == nil {
					t.Error("readConfig takes it: it has no fault beyond a schema")
				}
				want = nil
			}
			if (err == nil) != (want == nil) {
				t.Errorf("the schema says %v\nwant %v", err, want)
			}
		})
	}
}

// TestConfigSchemaFaults gives the schema and the reader one fault at a time.
func TestConfigSchemaFaults(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range []string{
		`version: 2`,
		`version: "1"`,
		`{version: 1, creep: {against: best}}`,
		`{version: 1, creep: {against: 1.2, fail: 3%}}`,
		`{version: 1, creep: 0.03}`,
		`{version: 1, creep: {since: v1, fail: 3%}}`,
		`suites: {}`, // no version
		`{version: 1, suite: {}}`,
		`{version: 1, suites: [read]}`,
		`{version: 1, suites: {read: ./bench}}`,
		`{version: 1, suites: {read: {cmd: ./bench}}}`,
		`{version: 1, suites: {read: {command: 5}}}`,
		`{version: 1, suites: {read: {command: ""}}}`,
		`{version: 1, suites: {read: {command: []}}}`,
		`{version: 1, suites: {read: {command: [a, [b]]}}}`,
		`{version: 1, suites: {read: {command: [a, null]}}}`,
		`{version: 1, suites: {read: {format: true}}}`,
		`{version: 1, suites: {read: {parse: regex}}}`,
		`{version: 1, suites: {read: {parse: []}}}`,
		`{version: 1, suites: {read: {parse: {unit: ms}}}}`,
		`{version: 1, suites: {read: {parse: {csv: a, json: $.a}}}}`,
		`{version: 1, suites: {read: {parse: {csv: a, column: b}}}}`,
		`{version: 1, suites: {read: {parse: {csv: a, separator: ""}}}}`,
		`{version: 1, suites: {read: {parse: {csv: a, name: []}}}}`,
		`{version: 1, suites: {read: {parse: {csv: a, better: smaller}}}}`,
		`{version: 1, suites: {read: {parse: {csv: a, repeats: runs}}}}`,
		`{version: 1, suites: {read: {parse: {csv: a, unit: 5}}}}`,
		`{version: 1, suites: {read: {parse: [{csv: a}, {csv: ""}]}}}`,
		`{version: 1, suites: {read: {runs: 0}}}`,
		`{version: 1, suites: {read: {runs: 1001}}}`,
		`{version: 1, suites: {read: {runs: 1.5}}}`,
		`{version: 1, suites: {read: {runs: many}}}`,
		`{version: 1, suites: {read: {runs: 5-20}}}`,
		`{version: 1, suites: {read: {warmup: -1}}}`,
		`{version: 1, suites: {read: {timeout: 10}}}`,
		`{version: 1, suites: {read: {timeout: 10 minutes}}}`,
		`{version: 1, suites: {read: {results: [a, b]}}}`,
		`{version: 1, suites: {read: {working-directory: 1.10}}}`,
		`{version: 1, suites: {read: {env: {A: b}}}}`,
		`{version: 1, suites: {read: {env: [A=b]}}}`,
		`{version: 1, suites: {read: {env: [""]}}}`,
		`{version: 1, metrics: {time_per_op: }}`,
		`{version: 1, metrics: {time_per_op: {}}}`,
		`{version: 1, metrics: {time_per_op: 5%}}`,
		`{version: 1, metrics: {time_per_op: {fail: 0.05}}}`,
		`{version: 1, metrics: {time_per_op: {fail: "0.05"}}}`,
		`{version: 1, metrics: {time_per_op: {fail: -5%}}}`,
		`{version: 1, metrics: {time_per_op: {fail: "%"}}}`,
		`{version: 1, metrics: {time_per_op: {warn: 5}}}`,
		`{version: 1, metrics: {time_per_op: {warn: [5%]}}}`,
		`{version: 1, metrics: {time_per_op: {limit: -1}}}`,
		`{version: 1, metrics: {time_per_op: {limit: fast}}}`,
		`{version: 1, metrics: {time_per_op: {limit: "1,5 s"}}}`,
		`{version: 1, metrics: {time_per_op: {gate: "yes"}}}`,
		`{version: 1, metrics: {time_per_op: {better: smaller}}}`,
		`{version: 1, metrics: {time_per_op: {threshold: 5%}}}`,
		`{version: 1, benchmarks: {"Encode*": {fail: 5%}}}`,
		`{version: 1, benchmarks: {"Encode*": {time_per_op: {fails: 5%}}}}`,
		`{version: 1, aliases: [A, B]}`,
		`{version: 1, aliases: {A: [B]}}`,
		`{version: 1, aliases: {A: }}`,
		`{version: 1, on-inconclusive: ignore}`,
		`{version: 1, on-no-baseline: true}`,
		`{version: 1, on-missing: [fail]}`,
		`{version: 1, on-errors: }`,
		`{version: 1, noise: 2%}`,
		`{version: 1, noise: {times: 0.02}}`,
		`{version: 1, noise: {time: 2%}}`,
	} {
		var doc any
		if err := yaml.Unmarshal([]byte(fault), &doc); err != nil {
			t.Errorf("%s: %v", fault, err)
			continue
		}
		if schema.Validate(doc) == nil {
			t.Errorf("the schema takes %s", fault)
		}
		if _, err := readConfig([]byte(fault), "f.yml"); err == nil {
			t.Errorf("readConfig takes %s", fault)
		}
	}
}

// readSchema reads the schema as YAML, which keeps the order that JSON's maps
// would lose.
func readSchema(t *testing.T) yaml.MapSlice {
	t.Helper()
	data, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	var doc yaml.MapSlice
	if err := yaml.UnmarshalWithOptions(data, &doc, yaml.UseOrderedMap()); err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestConfigSchemaKeys holds the schema's properties against the keys that the
// reader knows, in number and order, and wants a description of each.
func TestConfigSchemaKeys(t *testing.T) {
	doc := readSchema(t)
	for _, tt := range []struct {
		at   []string
		want []string
	}{
		{nil, keyNames(configKeys)},
		{[]string{"properties", "noise"}, keyNames(noiseKeys)},
		{[]string{"$defs", "suite"}, keyNames(suiteKeys)},
		{[]string{"$defs", "rule"}, keyNames(ruleKeys)},
		{[]string{"$defs", "description"}, keyNames(customKeys)},
	} {
		properties := member(t, doc, append(tt.at, "properties")...)
		var got []string
		for _, p := range properties {
			got = append(got, p.Key.(string))
			if !slices.ContainsFunc(p.Value.(yaml.MapSlice), func(i yaml.MapItem) bool { return i.Key == "description" }) {
				t.Errorf("%q of the schema's %q has no description", p.Key, tt.at)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("the schema's %q has properties %q, want %q", tt.at, got, tt.want)
		}
	}
}

// TestConfigSchemaDefaults holds what the schema says of defaults against the
// policy of a user without a configuration.
func TestConfigSchemaDefaults(t *testing.T) {
	doc := readSchema(t)
	p := gate.DefaultPolicy()
	for _, tt := range []struct {
		path string
		want any
	}{
		{"properties/on-inconclusive", p.OnInconclusive},
		{"properties/on-no-baseline", p.OnNoBaseline},
		{"properties/on-missing", p.OnMissing},
		{"properties/on-errors", p.OnErrors},
		{"properties/noise/properties/times", percentage(p.NoiseTimes)},
		{"properties/noise/properties/counts", percentage(p.NoiseCounts)},
	} {
		if got := member(t, doc, strings.Split(tt.path, "/")...).ToMap()["default"]; got != fmt.Sprint(tt.want) {
			t.Errorf("the default of the schema's %s is %v, want %v", tt.path, got, tt.want)
		}
	}
}

// member returns what is at a path of the schema.
func member(t *testing.T, doc yaml.MapSlice, path ...string) yaml.MapSlice {
	for _, name := range path {
		i := slices.IndexFunc(doc, func(i yaml.MapItem) bool { return i.Key == name })
		if i < 0 {
			t.Fatalf("the schema has no %q", path)
		}
		doc = doc[i].Value.(yaml.MapSlice)
	}
	return doc
}

// TestConfigBounds reads files that are small to write and large to read.
func TestConfigBounds(t *testing.T) {
	for _, tt := range []struct{ name, data, want string }{
		{"size", strings.Repeat("# comment\n", 200_000), "f.yml: want at most 1048576 bytes, have 2000000"},
		{"keys", "version: 1\n" + strings.Repeat("a: b\n", 100_000), "words and signs, have 300003"},
		{"blank lines", "version: 1\naliases:\n  a: |\n" + strings.Repeat(" \r\n", 100_000), "f.yml:260:1: want at most 256 blank lines in a row"},
		{"flow", strings.Repeat("[", 10_000), "f.yml:1:33: want at most 32 levels of nesting"},
		{"flow in flow", strings.Repeat("{a: ", 4_000), "levels of nesting"},
		{"list on a line", strings.Repeat("- ", 10_000), "levels of nesting"},
		{"keys on a line", strings.Repeat("? ", 10_000), "levels of nesting"},
		{"tags", strings.Repeat("!a ", 10_000), "want plain YAML"},
		{"merged", "version: 1\nmetrics: &m\n  <<: *m\n", "f.yml:2:10: want plain YAML"},
		{"not UTF-8", "version: \xff", "f.yml: want UTF-8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := readConfig([]byte(tt.data), "f.yml"); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("readConfig = %v, want %q in it", err, tt.want)
			}
		})
	}
}

// TestConfigFromWindows reads a byte order mark and carriage returns as nothing.
func TestConfigFromWindows(t *testing.T) {
	c, err := readConfig([]byte("\ufeffversion: 1\r\nsuites:\r\n  read:\r\n    command: ./bench\r\n    runs: 5..20\r\n"), "f.yml")
	if err != nil || len(c.Suites) != 1 || c.Suites[0].Shell != "./bench" || c.Suites[0].Runs != (runCount{5, 20}) {
		t.Errorf("readConfig = %+v, %v", c, err)
	}
	_, err = readConfig([]byte("version: 1\r\nsuite: 1\r\n"), "f.yml")
	if want := "f.yml:2:1: "; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("readConfig = %v, want it to start with %q", err, want)
	}
}

// FuzzConfig wants an end without a panic, faults that say where, and of two
// readings the same.
func FuzzConfig(f *testing.F) {
	for _, input := range configFiles(f, "config") {
		data, err := os.ReadFile(input)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := readConfig(data, "f.yml")
		again, errAgain := readConfig(data, "f.yml")
		if fmt.Sprint(err) != fmt.Sprint(errAgain) {
			t.Errorf("%v, and then %v", err, errAgain)
		}
		var one, two strings.Builder
		writeConfig(&one, c)
		writeConfig(&two, again)
		if one.String() != two.String() {
			t.Errorf("%s, and then %s", one.String(), two.String())
		}
		if err == nil {
			return
		}
		if one.Len() > 0 {
			t.Errorf("a configuration with a fault sets %s", one.String())
		}
		var joined interface{ Unwrap() []error }
		faults := []error{err}
		if errors.As(err, &joined) {
			faults = joined.Unwrap()
		}
		for _, fault := range faults {
			if !strings.HasPrefix(fault.Error(), "f.yml:") {
				t.Errorf("%q does not say where", fault)
			}
		}
	})
}
