package report

import (
	"fmt"
	"path"
	"strings"

	"github.com/noslower/noslower/pkg/gate"
)

// A movedRow is a function in which instructions moved: where it is, what an
// operation cost there before and now, and by how much that moved.
type movedRow struct{ name, place, base, head, change string }

// movedRows are the functions of a verdict, and a last row that says how much of
// the difference they explain.
func movedRows(m *gate.Moved) []movedRow {
	var rows []movedRow
	var sum float64
	for _, f := range m.Functions {
		sum += f.Head - f.Base
		row := movedRow{f.Name, placeOf(f), instructions(f.Base), instructions(f.Head), signed(f.Head - f.Base)}
		switch {
		case f.New:
			row.base = "new"
		case f.Vanished:
			row.head = "gone"
		}
		rows = append(rows, row)
	}
	all := fmt.Sprintf("all of these, of %s in all", signed(m.Head-m.Base))
	return append(rows, movedRow{all, gate.Percent(m.Explained) + " explained", "", "", signed(sum)})
}

func placeOf(f gate.MovedFunction) string {
	switch {
	case f.File == "":
		return ""
	case f.Line == 0:
		return path.Base(f.File)
	}
	return fmt.Sprintf("%s:%d", path.Base(f.File), f.Line)
}

// instructions writes a cost with up to three digits behind the point, where a
// slope has them.
func instructions(v float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.3f", v), "0"), ".")
}

func signed(v float64) string {
	if v > 0 {
		return "+" + instructions(v)
	}
	return instructions(v)
}

// movedTitle stands above the functions.
func movedTitle(v gate.Verdict) string {
	return fmt.Sprintf("where the instructions of an operation moved, %s", nameOf(v, v.Moved.Benchmark))
}
