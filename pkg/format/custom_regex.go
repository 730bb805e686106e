package format

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// regexGroups are the groups that an expression may name.
var regexGroups = []string{"value", "name", "metric", "unit"}

// newRegex returns what reads the matches of an expression in each line.
func newRegex(c Custom) (customReader, error) {
	re, err := regexp.Compile(c.Regex)
	if err != nil {
		return nil, fmt.Errorf("regex: want a regular expression in Go's syntax: %w", err)
	}
	groups := re.SubexpNames()
	for _, name := range groups {
		if name != "" && !slices.Contains(regexGroups, name) {
			return nil, fmt.Errorf("regex: want groups named %s, have %q", strings.Join(regexGroups, ", "), name)
		}
	}
	if !slices.Contains(groups, "value") {
		return nil, errors.New(`regex: want a group named "value" around the number, such as (?P<value>[\d.]+)`)
	}
	switch {
	case len(c.Name) > 0:
		return nil, errors.New(`regex: want the benchmark's name as a group named "name", have name besides`)
	case c.Value != "" || c.Separator != "":
		return nil, errors.New("regex: want no value and no separator besides")
	}
	return func(in *customInput) error {
		for l, err := range lines(bytes.NewReader(in.data), in.document) {
			if err != nil { // of a line: to read what is in memory does not fail
				if in.stopped = !passOn(err, in.yield); in.stopped {
					return nil
				}
				continue
			}
			for _, match := range re.FindAllStringSubmatch(l.text, -1) {
				found := map[string]string{}
				for i, name := range groups {
					if match[i] != "" {
						found[name] = match[i]
					}
				}
				in.number(l, oneBlank(found["name"]), cmp.Or(found["metric"], in.Metric), found["value"], cmp.Or(found["unit"], in.Unit))
				if in.stopped {
					return nil
				}
			}
		}
		return nil
	}, nil
}
