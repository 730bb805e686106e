package format

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// newCSV returns what reads the columns of a table. The first row with the
// columns' names is its header; what stands before it is passed over.
func newCSV(c Custom) (customReader, error) {
	if c.Value != "" {
		return nil, errors.New("csv: want no value besides: it is the column of the values")
	}
	separator, size := utf8.DecodeRuneInString(cmp.Or(c.Separator, ","))
	if size < len(c.Separator) || strings.ContainsRune("\"\r\n\ufffd", separator) {
		return nil, fmt.Errorf(`separator: want one character such as ";" or "\t", have %q`, c.Separator)
	}
	return func(in *customInput) error {
		table := csv.NewReader(bytes.NewReader(in.data))
		table.Comma, table.LazyQuotes, table.FieldsPerRecord, table.ReuseRecord = separator, true, -1, true
		var columns []int // of the value and the names
		rows := 0
		isEnded := bytes.HasSuffix(in.data, []byte("\n"))
		for {
			row, err := table.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if fault, ok := errors.AsType[*csv.ParseError](err); ok {
				in.warnf(line{document: in.document, number: fault.Line}, "want a table: %v", fault.Err)
			} else if err != nil {
				return fmt.Errorf("%s: %w", in.document, err)
			} else if i := slices.IndexFunc(row, func(cell string) bool { return strings.Contains(cell, "\n") }); i >= 0 {
				at, _ := table.FieldPos(i)
				in.warnf(line{in.document, at, row[i]}, "want a row on one line, have several in quotation marks: they are not read")
			} else if header := in.header(row); header != nil {
				columns = header
			} else if isCut := !isEnded && table.InputOffset() == int64(len(in.data)); columns != nil && (len(row) > 1 || len(in.Name) == 0 || isCut) {
				rows++ // others of one cell are a log's lines
				at, _ := table.FieldPos(0)
				in.row(line{in.document, at, strings.Join(row, string(separator))}, row, columns)
			}
			if in.stopped {
				return nil
			}
		}
		if columns != nil && rows == 0 {
			return fmt.Errorf("%s: want rows below the header of the table, have none", in.document)
		}
		if columns == nil {
			return fmt.Errorf("%s: want a table with columns %q, have none", in.document, append([]string{in.CSV}, in.Name...))
		}
		return nil
	}, nil
}

// header returns where the columns are, if a row is a header that has them.
func (c *customInput) header(row []string) []int {
	var columns []int
	for _, name := range append([]string{c.CSV}, c.Name...) {
		i := slices.IndexFunc(row, func(cell string) bool { return strings.TrimSpace(cell) == name })
		if i < 0 {
			return nil
		}
		columns = append(columns, i)
	}
	return columns
}

// row reads the value of a row.
func (c *customInput) row(l line, row []string, columns []int) {
	if len(row) <= slices.Max(columns) {
		c.warnf(l, "want %d columns, have %d", slices.Max(columns)+1, len(row))
		return
	}
	var names []string
	for _, i := range columns[1:] {
		names = append(names, strings.TrimSpace(row[i]))
	}
	metric := c.Metric
	if metric == "" && c.Unit == "" {
		metric = c.CSV
	}
	c.number(l, strings.Join(names, "/"), metric, row[columns[0]], c.Unit)
}
