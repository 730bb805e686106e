package run

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// A Place is a piece of a program that instructions are charged to: a function,
// or the part of one that comes of another file, as inlined functions do.
type Place struct {
	Function string // as in the source, parameters included; "???" if not known
	Object   string // file name of the program or library, without its folder
	Home     string // source file that the function is defined in; "" if not known
	File     string // source file of these instructions; "" if not known
}

// A Cost is what a place costs.
type Cost struct {
	Place
	Line int    // the first line in File that cost anything; 0 if not known
	Self uint64 // instructions in this place, those of called functions not included
}

// A Profile says which places a run's instructions were spent in.
type Profile struct {
	Costs []Cost // each place once, in the order in which the profile names them
	Total uint64 // instructions in all, as the profile says; 0 if it does not
}

// readProfile reads what callgrind wrote about one process (callgrind.out.PID),
// with all its parts and threads. The format is that of
// https://valgrind.org/docs/manual/cl-format.html. Names are made readable where
// they are those of C++ or Rust. What r holds is called name in errors.
func readProfile(r io.Reader, name string) (Profile, error) {
	p := profileReader{
		files: map[string]string{}, functions: map[string]string{}, objects: map[string]string{},
		readable: map[string]string{}, index: map[Place]int{},
		positions: []string{"line"}, event: -1,
	}
	in := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := in.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return Profile{}, fmt.Errorf("%s: %w", name, err)
		}
		if fault := p.line(strings.TrimRight(line, "\r\n")); fault != nil {
			return Profile{}, fmt.Errorf("%s:%d: %w", name, n, fault)
		}
		if err != nil {
			break
		}
	}
	if p.event < 0 {
		return Profile{}, fmt.Errorf("%s: want a profile of callgrind with a line such as \"events: Ir\", have none: check that the program ended by itself", name)
	}
	p.Total = p.totals
	if p.Total == 0 {
		p.Total = p.summary
	}
	return p.Profile, nil
}

// instructions is the name that valgrind has for an executed instruction.
const instructions = "Ir"

type profileReader struct {
	Profile
	totals, summary uint64

	// Names are written out once, as "(id) name", and then as "(id)".
	files, functions, objects map[string]string

	readable map[string]string // function names as they are shown
	index    map[Place]int     // of Costs

	positions []string // what the numbers in front of a cost mean
	event     int      // which of the costs is of instructions; -1 if not known yet

	at        Place
	lineno    uint64
	inclusive bool // the next cost is of a called function, and in its own place too
}

// line reads one line.
func (p *profileReader) line(s string) error {
	if s == "" || s[0] == '#' {
		return nil
	}
	if c := s[0]; c == '+' || c == '-' || c == '*' || '0' <= c && c <= '9' {
		return p.cost(s)
	}
	i := strings.IndexAny(s, "=:")
	if i < 0 {
		return fmt.Errorf("want a cost, a name or a header, have %s", quote(s))
	}
	key, value := s[:i], strings.TrimSpace(s[i+1:])
	if s[i] == ':' {
		return p.header(key, value)
	}
	var err error
	switch key {
	case "ob":
		var object string
		object, err = name(p.objects, value)
		p.at.Object = path.Base(object)
	case "fl": // the file of the function that follows
		p.at.Home, err = source(p.files, value)
		p.at.File = p.at.Home
	case "fi", "fe": // of code that is inlined, and of the end of it
		p.at.File, err = source(p.files, value)
	case "fn":
		p.at.Function, err = name(p.functions, value)
		p.at.File = p.at.Home
		p.inclusive = false
	case "cfn":
		_, err = name(p.functions, value)
	case "cfi", "cfl":
		_, err = name(p.files, value)
	case "cob":
		_, err = name(p.objects, value)
	case "calls":
		p.inclusive = true
	}
	return err
}

func (p *profileReader) header(key, value string) error {
	switch key {
	case "positions":
		p.positions = strings.Fields(value)
	case "events":
		p.event = -1
		for i, e := range strings.Fields(value) {
			if e == instructions {
				p.event = i
			}
		}
		if p.event < 0 {
			return fmt.Errorf("want %s among the events, have %s", instructions, quote(value))
		}
	case "totals":
		return p.sum(&p.totals, key, value)
	case "summary":
		return p.sum(&p.summary, key, value)
	}
	return nil
}

// sum adds the instructions of a line of totals, of which each part has one.
func (p *profileReader) sum(to *uint64, key, value string) error {
	f := strings.Fields(value)
	if p.event < 0 || p.event >= len(f) {
		return fmt.Errorf("want a number of instructions in %q, have %s", key, quote(value))
	}
	n, err := strconv.ParseUint(f[p.event], 0, 64)
	if err != nil {
		return fmt.Errorf("want a number of instructions in %q, have %s", key, quote(value))
	}
	return add(to, n)
}

// cost reads a line of positions and costs.
func (p *profileReader) cost(s string) error {
	f := strings.Fields(s)
	if p.event < 0 {
		return fmt.Errorf("want a line such as \"events: %s\" before the first cost, have %s", instructions, quote(s))
	}
	if len(f) < len(p.positions) {
		return fmt.Errorf("want a position for each of %q, have %s", p.positions, quote(s))
	}
	for i, kind := range p.positions {
		if kind != "line" {
			continue
		}
		if err := p.move(f[i]); err != nil {
			return err
		}
	}
	inclusive := p.inclusive
	p.inclusive = false
	f = f[len(p.positions):]
	if p.event >= len(f) {
		return nil // costs of 0 at the end may be left out
	}
	n, err := strconv.ParseUint(f[p.event], 0, 64)
	if err != nil {
		return fmt.Errorf("want a cost, have %s", quote(f[p.event]))
	}
	if inclusive || n == 0 {
		return nil
	}
	return p.charge(n)
}

// move goes to a line number, which may be relative to that of the cost before.
func (p *profileReader) move(to string) error {
	digits := strings.TrimLeft(to, "+-*")
	var n uint64
	if digits != "" {
		var err error
		if n, err = strconv.ParseUint(digits, 0, 31); err != nil {
			return fmt.Errorf("want a line number, have %s", quote(to))
		}
	}
	switch {
	case to == "*":
	case to == "+"+digits && digits != "":
		p.lineno += n
	case to == "-"+digits && n <= p.lineno && digits != "":
		p.lineno -= n
	case to == digits:
		p.lineno = n
	default:
		return fmt.Errorf("want a line number, have %s after line %d", quote(to), p.lineno)
	}
	if p.lineno >= 1<<31 {
		return fmt.Errorf("want a line number, have %d", p.lineno)
	}
	return nil
}

// charge adds n to the cost of the current place.
func (p *profileReader) charge(n uint64) error {
	at := p.at
	at.Function = p.show(at.Function)
	i, ok := p.index[at]
	if !ok {
		i = len(p.Costs)
		p.index[at] = i
		p.Costs = append(p.Costs, Cost{Place: at})
	}
	c := &p.Costs[i]
	if line := int(p.lineno); line > 0 && (c.Line == 0 || line < c.Line) {
		c.Line = line
	}
	return add(&c.Self, n)
}

var (
	// recursion is how callgrind tells levels of recursion apart.
	recursion = regexp.MustCompile(`'\d+$`)
	// clone is how GCC and LLVM name what they make of a function of C, and linkers
	// the version of a library's.
	clone = regexp.MustCompile(`(\.(isra|constprop|part|cold|lto_priv|llvm|specialized)(\.\d+)*)+$|@@?\w[\w.]*$`)
	// address is the name of a function that has none, at an address that differs
	// from build to build.
	address = regexp.MustCompile(`^0x[0-9a-f]+$`)
)

// show makes the name of a function one that a person can read, and that is the
// same in another build of the program.
func (p *profileReader) show(function string) string {
	if s, ok := p.readable[function]; ok {
		return s
	}
	s := recursion.ReplaceAllString(function, "")
	// Its substitutions let a short name stand for one without bound.
	if plain := demangle.Filter(s, demangle.NoClones, demangle.MaxLength(16)); plain != s {
		s = plain
	} else {
		s = clone.ReplaceAllString(s, "")
	}
	if s == "" || address.MatchString(s) {
		s = unknown
	}
	p.readable[function] = s
	return s
}

// unknown is what callgrind writes where there is no name.
const unknown = "???"

// source is name for source files.
func source(known map[string]string, value string) (string, error) {
	s, err := name(known, value)
	if s == unknown {
		s = ""
	}
	return s, err
}

// name reads a name, or the number of one that was read before.
func name(known map[string]string, value string) (string, error) {
	end := strings.IndexByte(value, ')')
	if end < 2 || value[0] != '(' || strings.Trim(value[1:end], "0123456789") != "" {
		return value, nil // as it is; "(below main)" is one
	}
	id := value[:end]
	if s := strings.TrimSpace(value[end+1:]); s != "" {
		known[id] = s
		return s, nil
	}
	s, ok := known[id]
	if !ok {
		return "", fmt.Errorf("want a number that was given a name before, have %s", quote(value))
	}
	return s, nil
}

// add adds n to a sum, as long as it fits.
func add(to *uint64, n uint64) error {
	s, carry := bits.Add64(*to, n, 0)
	if carry != 0 {
		return fmt.Errorf("want counts whose sum is below 2^64, have %d and %d", *to, n)
	}
	*to = s
	return nil
}

func quote(s string) string { return strconv.Quote(cut(s, 80)) }

// mergeProfiles returns the sum of the profiles of several processes.
func mergeProfiles(profiles []Profile) (Profile, error) {
	var sum Profile
	index := map[Place]int{}
	for _, p := range profiles {
		if err := add(&sum.Total, p.Total); err != nil {
			return Profile{}, err
		}
		for _, c := range p.Costs {
			i, ok := index[c.Place]
			if !ok {
				index[c.Place] = len(sum.Costs)
				sum.Costs = append(sum.Costs, c)
				continue
			}
			known := &sum.Costs[i]
			known.Line = firstLine(known.Line, c.Line)
			if err := add(&known.Self, c.Self); err != nil {
				return Profile{}, err
			}
		}
	}
	return sum, nil
}

// firstLine returns the smaller of two line numbers, of which 0 is none.
func firstLine(a, b int) int {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
