package format_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/format"
)

// readAll returns what a format reads as lines of name, launch, value and unit.
func readAll(f format.Format, input string) string {
	var got strings.Builder
	for res, err := range f.Read(strings.NewReader(input), "in") {
		if err != nil {
			fmt.Fprintln(&got, "error:", err)
			continue
		}
		for _, v := range res.Values {
			fmt.Fprintf(&got, "%s/%d %s %.6g %s %s\n", res.Name, res.Launch, v.Metric.Name, v.V, v.Metric.Unit, v.Metric.Better)
		}
	}
	return got.String()
}

func TestCustom(t *testing.T) {
	for _, tt := range []struct {
		name    string
		customs []format.Custom
		in      string
		want    string
	}{
		{
			"regex: a name and a unit in the line, and ANSI",
			[]format.Custom{{Regex: `(?P<name>\S+) took (?P<value>\S+) (?P<unit>ms|s)$`}},
			"\ufeffstart\r\n\x1b[1mencode\x1b[0m took 1,250.5 ms\r\nencode took 2 s\ndecode took fast ms\n",
			"encode/0 time_per_op 1.2505 s/op lower\nencode/0 time_per_op 2 s/op lower\n" +
				`error: in:4: want a finite number, have "fast": "decode took fast ms"` + "\n",
		},
		{
			"regex: several in a line, launches, and a direction",
			[]format.Custom{{Regex: `fps=(?P<value>[-\d.]+)`, Metric: "Frames", Unit: "fps", Better: bench.Higher, Launches: true}},
			"fps=60 fps=59.5\nfps=-1\n",
			"/0 frames 60 fps higher\n/1 frames 59.5 fps higher\n" + `error: in:2: want frames of 0 or more, have -1: "fps=-1"` + "\n",
		},
		{
			"regex: two descriptions",
			[]format.Custom{
				{Regex: `^(?P<name>\w+) .*rps=(?P<value>\d+)`, Unit: "rps"},
				{Regex: `^(?P<name>\w+) .*p99=(?P<value>\d+)`, Unit: "us", Metric: "latency_p99"},
			},
			"get rps=1000 p99=20\nset rps=900 p99=30\n",
			"get/0 throughput 1000 ops/s higher\nset/0 throughput 900 ops/s higher\nget/0 latency_p99 2e-05 s lower\nset/0 latency_p99 3e-05 s lower\n",
		},
		{
			"json: lists, names and units at paths",
			[]format.Custom{{JSON: "$.runs[*]", Name: []string{"$.test", "$.size"}, Value: "$.times", Unit: "$.unit"}},
			"[INFO] started\n" + `{"runs": [{"test": "sort", "size": 10, "times": [1, 2.5, null, "3"], "unit": "ms"}, {"test": "find", "size": true}]}`,
			"sort/10/0 time_per_op 0.001 s/op lower\nsort/10/0 time_per_op 0.0025 s/op lower\n" +
				`error: in:2: want a finite number, have "null": "sort/10"` + "\nsort/10/0 time_per_op 0.003 s/op lower\n" +
				`error: in:2: want a number in each result, have none: "find/true"` + "\n",
		},
		{
			"json: one a line, the last cut off",
			[]format.Custom{{JSON: "$.ns", Name: []string{"all"}, Unit: "ns/op"}},
			"{\"ns\": 5}\n{\"level\": \"info\"}\n{\"ns\": 6}\n{\"ns\": ",
			"all/0 time_per_op 5e-09 s/op lower\nall/0 time_per_op 6e-09 s/op lower\n" +
				`error: in:4: want the rest of the JSON document, have its end: what follows is not read: "\"ns\":"` + "\n",
		},
		{
			"json: none",
			[]format.Custom{{JSON: "$.ns"}},
			"no JSON\n",
			"error: in: want a JSON document of this format, have none\n",
		},
		{
			"csv: names of two columns, a log before, a short row",
			[]format.Custom{{CSV: "p99 (ms)", Name: []string{"test", "size"}, Unit: "ms", Metric: "latency_p99"}},
			"\ufeffstarting, now\r\ntest,size,p99 (ms)\r\nget, 10,1.5\r\nget\r\n\r\nset,10\r\n\"set, all\",20,\"2,500\"\r\n",
			"get/10/0 latency_p99 0.0015 s lower\nerror: in:6: want 3 columns, have 2: \"set,10\"\nset, all/20/0 latency_p99 2.5 s lower\n",
		},
		{
			"csv: tabs, the column's name as metric",
			[]format.Custom{{CSV: "branch misses", Separator: "\t", Launches: true}},
			"a\tbranch misses\n1\t20\n1\t30\n",
			"/0 branch_misses 20  unknown\n/1 branch_misses 30  unknown\n",
		},
		{
			"csv: one column alone",
			[]format.Custom{{CSV: "p99", Unit: "us", Metric: "latency_p99"}},
			"p99\n1\n2\n",
			"/0 latency_p99 1e-06 s lower\n/0 latency_p99 2e-06 s lower\n",
		},
		{
			"csv: a quotation mark without another",
			[]format.Custom{{CSV: "ops", Name: []string{"test"}, Unit: "krps"}},
			"test,ops\na,1\n\"h,4\ni,5\n",
			"a/0 throughput 1000 ops/s higher\n" +
				`error: in:3: want a row on one line, have several in quotation marks: they are not read: "h,4\ni,5\n"` + "\n",
		},
		{
			"regex: several, of which one finds nothing",
			[]format.Custom{{Regex: `zzz (?P<value>\d+)`, Metric: "zz"}, {Regex: `a (?P<value>\d+)`, Unit: "ms"}},
			"a 5\n",
			`error: in: want something that this description finds, have nothing: "zzz (?P<value>\\d+)"` + "\n/0 time_per_op 0.005 s/op lower\n",
		},
		{
			"csv: several, of which one finds nothing",
			[]format.Custom{{CSV: "zz", Unit: "ms"}, {CSV: "ops", Unit: "ops/s"}},
			"test,ops\na,1\n",
			`error: in: want a table with columns ["zz"], have none: ""` + "\n/0 throughput 1 ops/s higher\n",
		},
		{
			"csv: no such column",
			[]format.Custom{{CSV: "time", Name: []string{"test"}}},
			"a,b\n1,2\n",
			`error: in: want a table with columns ["time" "test"], have none` + "\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := format.NewCustom(tt.customs...)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.ReplaceAll(readAll(f, tt.in), `have "-1": "fps=-1"`, `have "-1": "fps=-1"`)
			if got != tt.want {
				t.Errorf("reads\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// TestCustomCutOff cuts inputs at every place: what is read is what is read of the
// whole, and there is a warning or an error.
func TestCustomCutOff(t *testing.T) {
	for _, tt := range []struct {
		name   string
		custom format.Custom
		in     string
		late   int // values that are read when all but the last byte is there
	}{
		{
			"json: a list of results",
			format.Custom{JSON: "$.runs[*]", Name: []string{"$.test", "$.size"}, Value: "$.ms", Unit: "$.unit"},
			`{"runs": [{"test": "sort", "size": 10, "ms": [1.5, 20], "unit": "ms"}, {"test": "find", "size": 20, "ms": 345, "unit": "ms"}]}`, 3,
		},
		{
			"json: one result, its unit last",
			format.Custom{JSON: "$", Name: []string{"$.test"}, Value: "$.times[*]", Unit: "$.unit"},
			`{"test": "sort", "times": [1.5, 20, 345], "unit": "ms", "by": "me"}`, 3,
		},
		{
			"json: a list of numbers",
			format.Custom{JSON: "$.result.ns[*]", Unit: "ns"},
			`{"result": {"at": "noon", "ns": [15, 20, 345], "end": "one"}}`, 3,
		},
		{
			"json: the last of a list",
			format.Custom{JSON: "$.ns[-1]", Unit: "ns"},
			`{"ns": [15, 20, 345]}`, 0,
		},
		{
			"json: those that did not fail",
			format.Custom{JSON: "$[?!@.failed]", Value: "$.ns", Unit: "ns"},
			`{"a": {"ns": 15}, "b": {"ns": 20, "failed": true}}`, 0,
		},
		{
			"csv",
			format.Custom{CSV: "ms", Name: []string{"test", "size"}, Unit: "ms"},
			"test,size,ms,by\nsort,10,15.25,me\n\"find, all\",20,345,you\n", 2,
		},
		{
			"csv: the value first",
			format.Custom{CSV: "ms", Name: []string{"test"}, Unit: "ms"},
			"ms;test\n15.25;sort\n345;find\n", 2,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if strings.HasPrefix(tt.in, "ms;") {
				tt.custom.Separator = ";"
			}
			f, err := format.NewCustom(tt.custom)
			if err != nil {
				t.Fatal(err)
			}
			whole := results(f, tt.in)
			for at := 1; at < len(tt.in); at++ {
				cut := tt.in[:at]
				if at > 1 && strings.HasSuffix(cut, "\n") {
					continue // between rows
				}
				got := results(f, cut)
				if faults(f, cut) == "" {
					t.Errorf("%q: no warning", cut)
				}
				if at == len(tt.in)-1 && len(got) != tt.late {
					t.Errorf("%q: want %d values, have %d: %s", cut, tt.late, len(got), faults(f, cut))
				}
				isSaid := tt.custom.CSV != "" && lastError(f, cut) != nil // of the numbers in the last line
				if invented := missing(got, whole); len(invented) > 0 && !isSaid {
					t.Errorf("%q: invents %q", cut, invented)
				}
			}
		})
	}
}

// TestCustomFaults checks what a description is refused for.
func TestCustomFaults(t *testing.T) {
	for _, tt := range []struct {
		customs []format.Custom
		want    string
	}{
		{nil, "want a description, have none"},
		{[]format.Custom{{}}, "want one of regex, json, csv, have 0 of them"},
		{[]format.Custom{{Regex: "(?P<value>x)", CSV: "b"}}, "have 2 of them"},
		{[]format.Custom{{Regex: "(?P<value>x)"}, {CSV: "b"}}, "want descriptions of one kind, have regex and csv"},
		{[]format.Custom{{Regex: "("}}, "regex: want a regular expression in Go's syntax: "},
		{[]format.Custom{{Regex: `\d+`}}, `regex: want a group named "value" around the number`},
		{[]format.Custom{{Regex: `(?P<value>\d+)(?P<units>ms)`}}, `want groups named value, name, metric, unit, have "units"`},
		{[]format.Custom{{Regex: `(?P<value>\d+)`, Name: []string{"a"}}}, `want the benchmark's name as a group named "name"`},
		{[]format.Custom{{Regex: `(?P<value>\d+)`, Value: "$.a"}}, "regex: want no value and no separator besides"},
		{[]format.Custom{{JSON: "results"}}, "json: want a JSON path such as $.results[*]: "},
		{[]format.Custom{{JSON: "$", Value: "$["}}, "value: want a JSON path"},
		{[]format.Custom{{JSON: "$", Name: []string{"$["}}}, "name: want a JSON path"},
		{[]format.Custom{{JSON: "$", Unit: "$["}}, "unit: want a JSON path"},
		{[]format.Custom{{JSON: "$", Separator: ";"}}, "json: want no separator"},
		{[]format.Custom{{CSV: "a", Separator: ";;"}}, "separator: want one character"},
		{[]format.Custom{{CSV: "a", Separator: "\""}}, "separator: want one character"},
		{[]format.Custom{{CSV: "a", Value: "b"}}, "csv: want no value besides"},
		{[]format.Custom{{CSV: "a", Metric: "!"}}, `metric: want a name with a letter or digit in it, have "!"`},
	} {
		if _, err := format.NewCustom(tt.customs...); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("NewCustom(%+v) = %v, want %q", tt.customs, err, tt.want)
		}
	}
}

// FuzzCustom reads any bytes by descriptions of each kind.
func FuzzCustom(f *testing.F) {
	for _, in := range []string{"a took 5 ms\n", `{"a": [{"b": 1, "n": "x"}]}`, "n,b\nx,1\n", "n;b\n\"x;1\n", "{\"a\":[\n"} {
		f.Add([]byte(in))
	}
	var formats []format.Format
	for _, c := range []format.Custom{
		{Regex: `(?P<name>\S*) took (?P<value>\S+) (?P<unit>\S*)`},
		{JSON: "$..[*]", Name: []string{"$.n"}, Value: "$.b", Unit: "$.u", Metric: "$.m", Launches: true},
		{CSV: "b", Name: []string{"n"}, Separator: ";"},
		{CSV: "b", Name: []string{"n"}},
	} {
		custom, err := format.NewCustom(c)
		if err != nil {
			f.Fatal(err)
		}
		formats = append(formats, custom)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		for _, fm := range formats {
			for res, err := range fm.Read(bytes.NewReader(input), "input") {
				if err != nil {
					continue
				}
				for _, v := range res.Values {
					if !finite(v.V) || v.V < 0 || v.Metric.Name == "" || res.Launch < 0 {
						t.Errorf("%s: %+v", fm.Name, res)
					}
				}
			}
		}
	})
}
