package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/format"
	"github.com/noslower/noslower/pkg/gate"
	"github.com/noslower/noslower/pkg/report"
)

func (w world) formatsCommand() *cobra.Command {
	return w.subcommand("formats [flags]", "formats", "List the input formats: name, tool, how it is recognised", cobra.NoArgs,
		func(_ *cobra.Command, o *optionSet) error {
			switch o.Output {
			case "text":
				table := tabwriter.NewWriter(w.Stdout, 0, 0, 2, ' ', 0)
				fmt.Fprintln(table, "NAME\tTOOL\tRECOGNISED BY")
				for _, f := range format.All() {
					fmt.Fprintf(table, "%s\t%s\t%s\n", f.Name, f.Tool, f.How)
				}
				return table.Flush()
			case "json":
				type row struct {
					Name  string `json:"name"`
					Tool  string `json:"tool"`
					Print string `json:"print"`
					How   string `json:"how"`
				}
				rows := []row{}
				for _, f := range format.All() {
					rows = append(rows, row{f.Name, f.Tool, f.Print, f.How})
				}
				e := json.NewEncoder(w.Stdout)
				e.SetIndent("", "  ")
				return e.Encode(rows)
			}
			return wrongUse(fmt.Errorf("--output: want text or json, have %q", o.Output))
		})
}

func (w world) parseCommand() *cobra.Command {
	return w.subcommand("parse [flags] [FILE…]", "parse",
		"What a benchmark's output says, as measurements (- or none: standard input)", cobra.ArbitraryArgs,
		func(_ *cobra.Command, o *optionSet) error {
			if o.Output != "text" && o.Output != "json" {
				return wrongUse(fmt.Errorf("--output: want text or json, have %q", o.Output))
			}
			r, err := newFileReader(o, w.Stderr)
			if err != nil {
				return wrongUse(err)
			}
			if len(o.Args) == 0 {
				o.Args = []string{"-"}
			}
			var faults []error
			var g gathering
			for i, path := range o.Args {
				faults = append(faults, w.parseFile(r, &g, i, path))
			}
			g.bound()
			s, err := g.only()
			faults = append(faults, err)
			if s.Set.Len() > 0 {
				faults = append(faults, w.show(s.Measurements, o.Output))
			} else if errors.Join(faults...) == nil {
				faults = append(faults, errors.New("there is no measurement in it"))
			}
			return undecided(errors.Join(faults...))
		})
}

// parseFile reads one file of a call; the others are read whatever is wrong
// with it.
func (w world) parseFile(r *reader, g *gathering, run int, path string) error {
	if path != "-" {
		_, err := r.readFile(g, run, path)
		return err
	}
	data, err := readAllBounded(w.Stdin, "standard input")
	if err != nil {
		return err
	}
	_, err = r.readDocument(g, run, "standard input", bytes.NewReader(data))
	return err
}

// show writes measurements to standard output: as a table, or as the document.
func (w world) show(m bench.Measurements, output string) error {
	if output == "json" {
		data, err := m.Encode()
		if err != nil {
			return err
		}
		_, err = w.Stdout.Write(data)
		return err
	}
	table := tabwriter.NewWriter(w.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "BENCHMARK\tMETRIC\tMEDIAN\tMIN\tMAX\tVALUES\tLAUNCHES\tBETTER")
	for _, sample := range m.Set.Samples() {
		name := sample.Benchmark
		if name == "" {
			name = m.Suite
		}
		unit := sample.Metric.Unit
		d := gate.Describe(sample)
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%d\t%d\t%s\n", report.Cell(name), report.Cell(sample.Metric.Name),
			gate.Quantity(d.Median, report.Printable(unit)), gate.Quantity(d.Min, report.Printable(unit)), gate.Quantity(d.Max, report.Printable(unit)),
			d.Values, d.Launches, sample.Metric.Better)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, text := range m.Warnings {
		fmt.Fprintf(w.Stderr, "warning: %s\n", report.Printable(text))
	}
	return nil
}
