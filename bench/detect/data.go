package main

import (
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// A row is one value of a measurements file.
type row struct {
	series, run, metric, label string
	order                      int
	better                     bench.Better
	value                      float64
}

// read returns the rows of a file of the data folder.
func read(dir, name string) ([]row, error) {
	path := filepath.Join(dir, name+".csv.gz")
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	in := csv.NewReader(unzipped)
	in.ReuseRecord = true
	if _, err := in.Read(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var rows []row
	for {
		// source,series,run_id,order,metric,unit,better,value,label
		f, err := in.Read()
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		r := row{series: strings.Clone(f[1]), run: strings.Clone(f[2]), metric: strings.Clone(f[4]), label: strings.Clone(f[8])}
		if r.better, err = bench.ParseBetter(f[6]); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if r.value, err = strconv.ParseFloat(f[7], 64); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if r.order, err = strconv.Atoi(f[3]); err != nil {
			r.order = len(rows)
		}
		rows = append(rows, r)
	}
}

// A series is what was measured of one benchmark.
type series struct {
	name   string
	better bench.Better
	jobs   []job
}

// A job is the values that were measured together, in order.
type job struct {
	name   string
	values []float64
}

// group returns the rows by series and by the job that a function names, all in
// the order in which they come first. A row of no job is left out.
func group(rows []row, jobOf func(row) string) []series {
	var all []series
	for _, r := range rows {
		name := jobOf(r)
		if name == "" {
			continue
		}
		i := slices.IndexFunc(all, func(s series) bool { return s.name == r.series })
		if i < 0 {
			i = len(all)
			all = append(all, series{name: r.series, better: r.better})
		}
		s := &all[i]
		k := slices.IndexFunc(s.jobs, func(j job) bool { return j.name == name })
		if k < 0 {
			k = len(s.jobs)
			s.jobs = append(s.jobs, job{name: name})
		}
		s.jobs[k].values = append(s.jobs[k].values, r.value)
	}
	return all
}
