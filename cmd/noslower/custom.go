package main

import (
	"fmt"
	"slices"

	"github.com/goccy/go-yaml/ast"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/format"
)

// customKeys are what describes output that no format knows. They stand below a
// suite's "parse".
var customKeys = []configKey[format.Custom]{
	{"regex", func(r *configReader, at place, c *format.Custom) { c.Regex = r.text(at) }},
	{"json", func(r *configReader, at place, c *format.Custom) { c.JSON = r.text(at) }},
	{"csv", func(r *configReader, at place, c *format.Custom) { c.CSV = r.text(at) }},
	{"separator", (*configReader).separator},
	{"name", (*configReader).customName},
	{"value", func(r *configReader, at place, c *format.Custom) { c.Value = r.text(at) }},
	{"metric", func(r *configReader, at place, c *format.Custom) { c.Metric = r.text(at) }},
	{"unit", func(r *configReader, at place, c *format.Custom) { c.Unit = r.text(at) }},
	{"better", (*configReader).customBetter},
	{"repeats", (*configReader).repeats},
}

// custom reads a description, or a list of them.
func (r *configReader) custom(at place, s *suiteConfig) {
	places := []place{at}
	if list, ok := at.node.(*ast.SequenceNode); ok {
		places = r.elements(at, list)
	}
	faults := len(r.faults)
	for _, p := range places {
		var c format.Custom
		before := len(r.faults)
		readFields(r, p, customKeys, &c)
		if _, err := format.NewCustom(c); err != nil && len(r.faults) == before {
			r.fault(p, "%v", err)
		}
		s.Parse = append(s.Parse, c)
	}
	if len(r.faults) > faults {
		return
	}
	f, err := format.NewCustom(s.Parse...)
	if err != nil {
		r.fault(at, "%v", err)
		return
	}
	s.custom = f.Name
}

// checkCustom holds a suite's format to its description.
func (r *configReader) checkCustom(at place, s *suiteConfig) {
	switch {
	case s.custom != "" && s.Format == "":
		s.Format = s.custom
	case s.custom != "" && s.Format != s.custom:
		r.fault(at, "want format %s, which parse describes, or no format, have %s", s.custom, shorten(s.Format))
	case s.Parse == nil && slices.Contains(format.CustomNames(), s.Format):
		r.fault(at, "want parse besides format %s, which describes it", s.Format)
	}
}

// separator reads a character, which may be a blank one.
func (r *configReader) separator(at place, c *format.Custom) {
	s, ok := r.scalar(at, `a character such as ";"`)
	if ok && s == "" {
		r.fault(at, `want a character such as ";", have ""`)
	}
	c.Separator = s
}

// customName reads where a name stands, or a list of where its parts do.
func (r *configReader) customName(at place, c *format.Custom) {
	list, ok := at.node.(*ast.SequenceNode)
	if !ok {
		c.Name = []string{r.text(at)}
		return
	}
	for _, e := range r.elements(at, list) {
		c.Name = append(c.Name, r.text(e))
	}
	if len(c.Name) == 0 {
		r.fault(at, "want a name or parts of one, have an empty list")
	}
}

func (r *configReader) customBetter(at place, c *format.Custom) {
	rule := ruleConfig{}
	if r.better(at, &rule); rule.Better != bench.Unknown {
		c.Better = rule.Better
	}
}

func (r *configReader) repeats(at place, c *format.Custom) {
	switch s, _ := scalarText(at.node); s {
	case "values":
	case "launches":
		c.Launches = true
	default:
		r.fault(at, "want values, of one process, or launches, of processes of their own, have %s", describeNode(at.node))
	}
}

// customFormat returns the format that a suite describes by this name.
func customFormat(name string, parse []format.Custom) (format.Format, error) {
	if len(parse) == 0 {
		return format.Format{}, fmt.Errorf("%s is described by parse, of a suite in the configuration: have none", name)
	}
	f, err := format.NewCustom(parse...)
	if err == nil && f.Name != name {
		err = fmt.Errorf("the configuration describes %s under parse, not %s", f.Name, name)
	}
	return f, err
}
