package report

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// columns measures text as terminals draw it. It is fixed here because the
// library's own default follows the environment.
var columns = &runewidth.Condition{StrictEmojiNeutral: true}

// width returns the number of columns that s takes.
func width(s string) int {
	if isPlain(s) {
		return len(s)
	}
	return columns.StringWidth(s)
}

// isPlain reports whether s is of nothing but the printable characters of ASCII,
// as nearly every cell of a table of thousands is.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// mostMarks is how many combining marks one letter may carry; more of them
// climb over the neighbouring lines.
const mostMarks = 2

// Printable makes visible whatever a terminal or a browser would act on instead
// of showing it: control characters, escapes, newlines, characters without
// width, changes of direction, bytes that are no text. It also breaks what the
// log of a GitHub workflow takes for a command: "##[" anywhere in a line, and
// "::" where one may begin.
func Printable(s string) string {
	if isPlain(s) && !strings.ContainsAny(s, "#:") {
		return s
	}
	var b strings.Builder
	marks := 0
	atStart := true
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if unicode.Is(unicode.M, r) {
			marks++
		} else {
			marks = 0
		}
		switch rest := s[i:]; {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case invisible(r) || marks > mostMarks:
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		case strings.HasPrefix(rest, "##["):
			b.WriteString(`\x23`)
		case atStart && strings.HasPrefix(rest, "::"):
			b.WriteString(`\x3a`)
		default:
			b.WriteRune(r)
		}
		atStart = r == ' '
		i += size
	}
	return b.String()
}

// invisible reports whether a rune does something else than be seen.
func invisible(r rune) bool {
	return !strconv.IsPrint(r) || r == '\u2800' || // the empty Braille pattern
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Cell returns s as a column of names in a terminal's table shows it: printable,
// and no wider than 100 columns, which real names keep within.
func Cell(s string) string { return Cut(s, 100) }

// Cut makes text for a place that has room for so many columns.
func Cut(s string, most int) string { return cut(Printable(s), most) }

// cut shortens s to at most so many columns. What is left out is in the middle,
// marked by an ellipsis: names tend to differ at their ends.
func cut(s string, most int) string {
	if width(s) <= most {
		return s
	}
	if most < 1 {
		return ""
	}
	runes := []rune(s)
	head := fitting(runes, (most-1)/2, false)
	tail := fitting(runes, most-1-(most-1)/2, true)
	// Runes that join, as those of flags do, can be wider together than apart.
	for head > 0 && width(string(runes[:head])+"…"+string(runes[len(runes)-tail:])) > most {
		head--
	}
	return string(runes[:head]) + "…" + string(runes[len(runes)-tail:])
}

// fitting returns how many runes from the start, or the end, fit into so many
// columns.
func fitting(runes []rune, most int, fromEnd bool) int {
	n, taken := 0, 0
	for ; n < len(runes); n++ {
		r := runes[n]
		if fromEnd {
			r = runes[len(runes)-1-n]
		}
		if taken += columns.RuneWidth(r); taken > most {
			break
		}
	}
	// A mark must not leave its letter and sit on the ellipsis.
	for fromEnd && n > 0 && unicode.Is(unicode.M, runes[len(runes)-n]) {
		n--
	}
	return n
}

// padRight fills s with spaces to so many columns.
func padRight(s string, columns int) string { return s + strings.Repeat(" ", max(0, columns-width(s))) }

// padLeft fills s with spaces before it to so many columns.
func padLeft(s string, columns int) string { return strings.Repeat(" ", max(0, columns-width(s))) + s }

// wrap breaks a sentence into lines of at most so many columns, at spaces. The
// first line starts with first, the others with as many spaces as indent says.
func wrap(first, s string, indent, most int) []string {
	var lines []string
	var line strings.Builder
	line.WriteString(first)
	taken, empty := width(first), true
	widest := most - max(indent, taken)
	for word := range strings.FieldsSeq(s) {
		word = cut(word, widest)
		w := width(word)
		if !empty && taken+1+w > most {
			lines = append(lines, line.String())
			line.Reset()
			line.WriteString(strings.Repeat(" ", indent))
			taken, empty = indent, true
		}
		if !empty {
			line.WriteByte(' ')
			taken++
		}
		line.WriteString(word)
		taken += w
		empty = false
	}
	return append(lines, line.String())
}
