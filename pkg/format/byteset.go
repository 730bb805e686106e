package format

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A byteSet is a set of bytes. What package strings trims a text of it makes into a
// set at each call, which takes longer than most of the trims.
type byteSet [256]bool

// whiteSpace is that of ASCII.
const whiteSpace = " \t\n\v\f\r"

var (
	whites = bytesOf(whiteSpace)
	blanks = bytesOf(" \t") // within a line
)

// bytesOf returns the set of the bytes of a text.
func bytesOf(members string) *byteSet {
	var s byteSet
	for i := range len(members) {
		s[members[i]] = true
	}
	return &s
}

// prefix returns how many bytes of the set a text begins with.
func (s *byteSet) prefix(text string) int {
	n := 0
	for n < len(text) && s[text[n]] {
		n++
	}
	return n
}

// index returns where the first byte of the set is in a text, or -1.
func (s *byteSet) index(text string) int {
	for i := range len(text) {
		if s[text[i]] {
			return i
		}
	}
	return -1
}

// appendFields appends what bytes of the set part a text into, and white space: that
// of the set of ASCII, strings.Fields.
func (s *byteSet) appendFields(fields []string, text string) []string {
	start := 0 // of the field
	for i := range len(text) {
		c := text[i]
		if c >= utf8.RuneSelf {
			parts := func(r rune) bool { return r < utf8.RuneSelf && s[r] || unicode.IsSpace(r) }
			return slices.AppendSeq(fields, strings.FieldsFuncSeq(text[start:], parts))
		}
		if !s[c] {
			continue
		}
		if start < i {
			fields = append(fields, text[start:i])
		}
		start = i + 1
	}
	if start < len(text) {
		fields = append(fields, text[start:])
	}
	return fields
}

// trim returns a text without the bytes of the set that it begins and ends with.
func (s *byteSet) trim(text string) string {
	text = text[s.prefix(text):]
	n := len(text)
	for n > 0 && s[text[n-1]] {
		n--
	}
	return text[:n]
}

// onlyOf reports whether a text is of bytes of the set alone.
func (s *byteSet) onlyOf(text string) bool { return s.prefix(text) == len(text) }
