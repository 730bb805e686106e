// Package known reads measurements of which the truth is known: the real series
// by which the project judges itself. They lie beside the repository, not in it.
package known

import (
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// A Row is one value of a file.
type Row struct {
	Series, Run, Metric, Unit string
	Order                     int // of the run, a number or a time; of rows whose file has neither, their place
	Better                    bench.Better
	Value                     float64
	Label                     string // what is known: "same-commit", "slow=5", …
}

// Read returns the rows of a file of a folder.
func Read(dir, name string) ([]Row, error) {
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
	var rows []Row
	for {
		// source,series,run_id,order,metric,unit,better,value,label
		f, err := in.Read()
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		r := Row{Series: strings.Clone(f[1]), Run: strings.Clone(f[2]), Metric: strings.Clone(f[4]), Unit: strings.Clone(f[5]), Label: strings.Clone(f[8])}
		if r.Better, err = bench.ParseBetter(f[6]); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if r.Value, err = strconv.ParseFloat(f[7], 64); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if r.Order, err = strconv.Atoi(strings.ReplaceAll(f[3], "_", "")); err != nil {
			r.Order = len(rows)
		}
		rows = append(rows, r)
	}
}
