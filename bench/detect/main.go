// Command detect judges rules that say whether a program became slower, on
// measurements of which the truth is known: noslower's, by the code that gates
// with it, and those of other gates. It prints one table, in Markdown.
//
//	go run ./bench/detect -data ../shared/detect
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/noslower/noslower/pkg/gate"
)

// steps are the slowdowns that have a column.
var steps = []float64{.005, .01, .02, .03, .04, .05, .1}

func main() {
	log.SetFlags(0)
	log.SetPrefix("detect: ")
	data := flag.String("data", "../shared/detect", "the `folder` of measurements")
	quick := flag.Bool("quick", false, "noslower's own rows alone")
	row := flag.String("row", "", "instead of the table, list what the rules with this `text` in their names get wrong")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Print("want no arguments")
		flag.Usage()
		os.Exit(2)
	}
	parts, err := load(*data, *quick)
	if err != nil {
		log.Fatal(err)
	}
	out := bufio.NewWriter(os.Stdout)
	if *row == "" {
		write(out, parts)
	} else {
		list(out, parts, *row)
	}
	if err := out.Flush(); err != nil {
		log.Fatal(err)
	}
}

// A part of the table is trials of one kind and the rules that are judged on
// them at one threshold.
type part struct {
	name      string
	threshold float64
	trials    trials
	rules     []rule
}

// load reads the measurements and returns the parts of the table.
func load(dir string, quick bool) ([]part, error) {
	var (
		within  = ours{name: "noslower, nothing between jobs"}.rule()
		fresh   = ours{name: "noslower, base stops with head", fresh: true}.rule()
		history = ours{name: "noslower, history", history: true}.rule()
		prior   = ours{name: "noslower, 2 % assumed", prior: true}.rule()
		patient = ours{name: "noslower, 2 % assumed, red only at the end", prior: true, patient: true}.rule()
		turns   = ours{name: "noslower"}.rule()
		blind   = ours{name: "noslower, waiting not looked at", blind: true}.rule()
	)
	var parts []part
	for _, p := range []struct {
		name      string
		threshold float64
		read      func(string) (trials, error)
		rules     []rule
		alone     bool // noslower's own rows alone
	}{
		{"One toolchain, base the day before", .01, days(0), []rule{within, fresh}, false},
		{"The same, six days or more before base", .01, days(6), []rule{within, history}, false},
		{"One toolchain, base the day before", .02, days(0), []rule{within, prior}, true},
		{"One toolchain, base the day before", .05, days(0), []rule{within, prior}, true},
		{"One commit in the cloud", .01, executions, []rule{within, fresh}, false},
		{"Made up: no drift", .01, drifting(0), []rule{within, fresh}, false},
		{"Made up: drift, AR(1) of 0.8", .01, drifting(.8), []rule{within, fresh}, false},
		{"Contended, in turn, processor time", .02, local{"inter", "throughput_cpu", true}.read, []rule{turns, blind}, false},
		{"Contended, in turn, wall time", .02, local{"inter", "throughput_wall", true}.read, []rule{turns}, false},
		{"Contended, at once, processor time", .02, local{"duet", "throughput_cpu", true}.read, []rule{turns, blind}, false},
		{"Made up: others' load, in turn, processor time", .02, crowded(0), []rule{turns, blind}, true},
		{"Made up: the same, head waits 5 % less by itself", .02, crowded(-.05), []rule{turns, blind}, true},
		{"Made up: the same, head waits 5 % longer by itself", .02, crowded(.05), []rule{turns, blind}, true},
		{"Contended, blocks, processor time", .05, local{"block", "throughput_cpu", false}.read, []rule{within, prior, patient}, false},
		{"Contended, blocks, wall time", .05, local{"block", "throughput_wall", false}.read, []rule{within, prior, patient}, false},
		{"One commit by night, hardware instructions, one run", .003, nights("instructions"), []rule{history}, false},
		{"One commit by night, time, one run", .05, nights("time"), []rule{history}, false},
		{"Instructions, one run", .0005, counts, []rule{turns}, false},
	} {
		ts, err := p.read(dir)
		if err != nil {
			return nil, err
		}
		if !quick && !p.alone {
			p.rules = append(p.rules, peersFor(ts[0][0])...)
		}
		parts = append(parts, part{p.name, p.threshold, ts, p.rules})
	}
	return parts, nil
}

// A score is how often a rule gave which answer.
type score struct{ trials, regressed, open, runs int }

func (r rule) score(ts []trial, threshold float64) score {
	s := score{trials: len(ts)}
	for _, t := range ts {
		outcome, runs := r.judge(t, threshold)
		s.runs += runs
		switch outcome {
		case gate.Regressed:
			s.regressed++
		case gate.Inconclusive:
			s.open++
		}
	}
	return s
}

// percent returns n as a share of the trials.
func (s score) percent(n int) float64 { return 100 * float64(n) / float64(s.trials) }

// spent returns the mean of the runs of head.
func (s score) spent() float64 { return float64(s.runs) / float64(s.trials) }

// write writes the table.
func write(w io.Writer, parts []part) {
	fmt.Fprint(w, "| rule | false alarms % |")
	for _, step := range steps {
		fmt.Fprintf(w, " +%g %% |", 100*step)
	}
	fmt.Fprintf(w, " runs | left open %% |\n|---%s|\n", strings.Repeat("|--:", len(steps)+3))
	for _, p := range parts {
		fmt.Fprintf(w, "| **%s, *T* = %g %%** | *of %d* %s|\n", p.name, 100*p.threshold, len(p.trials[0]), strings.Repeat("| ", len(steps)+2))
		for _, r := range p.rules {
			same := r.score(p.trials[0], p.threshold)
			fmt.Fprintf(w, "| %s | %.2f |", r.name, same.percent(same.regressed))
			for _, step := range steps {
				if len(p.trials[step]) == 0 {
					fmt.Fprint(w, " |")
					continue
				}
				s := r.score(p.trials[step], p.threshold)
				fmt.Fprintf(w, " %.1f |", s.percent(s.regressed))
			}
			fmt.Fprintf(w, " %.1f | %.1f |\n", same.spent(), same.percent(same.open))
		}
	}
}

// list writes what rules get wrong: false alarms, and slowdowns of the
// threshold or more that they do not call.
func list(w io.Writer, parts []part, name string) {
	for _, p := range parts {
		for _, r := range p.rules {
			if !strings.Contains(r.name, name) {
				continue
			}
			for _, step := range append([]float64{0}, steps...) {
				for _, t := range p.trials[step] {
					outcome, runs := r.judge(t, p.threshold)
					if step == 0 && outcome == gate.Regressed || step >= p.threshold && outcome != gate.Regressed {
						fmt.Fprintf(w, "%s, T = %g %%: %s: +%g %%: %s: %s after %d runs\n", p.name, 100*p.threshold, r.name, 100*step, t.name, outcome, runs)
					}
				}
			}
		}
	}
}
