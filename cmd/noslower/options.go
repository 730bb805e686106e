package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/noslower/noslower/pkg/baseline"
	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
	"github.com/noslower/noslower/pkg/run"
)

// An options is what the user asked for. Each field is a flag and, by the same
// name, an input of the action. A flag wins over an input, an input over the
// configuration, and that over the default.
type options struct {
	// What to measure.
	Config           string
	Suite            string
	Command          string   // a command line for sh -c
	Args             []string // what follows "--": a program and its arguments
	WorkingDirectory string
	Env              []string // names that the child is given beside the usual ones
	Runs             runCount
	Warmup           int
	Timeout          runTimeout
	Results          string
	Counters         run.Counter // "" for auto where Ops is given, else none
	Ops              sizeList
	Format           string
	Measurements     string
	Program          []string // globs of the built files that the command runs
	Against          string   // commit whose program is built and run beside head's
	Build            string   // command line that builds either

	// What to compare with.
	Mode             mode
	Baseline         string
	BaselineWorkflow string
	SaveBaseline     bool
	RequireBaseline  bool
	Pair             []string

	// What to decide.
	Fail           metricSettings
	Warn           metricSettings
	Limit          metricSettings
	Expect         []string
	AllowFewRuns   bool
	OnInconclusive reaction
	OnNoBaseline   reaction
	OnMissing      reaction
	OnErrors       reaction

	// What to show.
	Benchmark, Metric string // globs

	// What to write.
	Out    string
	Output string
	Report []string

	// What to say on a pull request.
	Comment     commentWhen
	AcceptLabel string

	given map[string]bool // by flag or input
}

// defaults is what holds where neither flag nor input nor configuration says.
func defaults() *options {
	p := gate.DefaultPolicy()
	return &options{
		Suite: p.Suite, Runs: runCount{10, 10}, Warmup: 1, Format: "auto", Output: "text",
		Mode: modeAuto, Comment: commentAlways, AcceptLabel: "perf-regression-accepted",
		Fail: metricSettings{Flag: "fail"}, Warn: metricSettings{Flag: "warn"}, Limit: metricSettings{Flag: "limit"},
		OnInconclusive: reaction(p.OnInconclusive), OnNoBaseline: reaction(p.OnNoBaseline),
		OnMissing: reaction(p.OnMissing), OnErrors: reaction(p.OnErrors),
		given: map[string]bool{},
	}
}

// flags declares every option once.
func (o *options) flags() *pflag.FlagSet {
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.StringVar(&o.Config, "config", o.Config, "read the configuration from this `file` (default: .github/noslower.yml or noslower.yml, where there is one)")
	f.StringVar(&o.Suite, "suite", o.Suite, "`name` of the benchmarks that the command measures; one of the configuration's, where there is one")
	f.StringVar(&o.Command, "command", o.Command, "run this `command line` by sh -c (or give a program and its arguments after --)")
	f.StringVar(&o.WorkingDirectory, "working-directory", o.WorkingDirectory, "run the command in this `folder`")
	f.StringArrayVar(&o.Env, "env", o.Env, "hand this environment variable to the command too, by `name` (repeatable)")
	f.Var(&o.Runs, "runs", "run the command `n` times; a..b, such as 5..20, ends as soon as everything that gates is decided")
	f.IntVar(&o.Warmup, "warmup", o.Warmup, "run the command `n` times before the runs that count")
	f.Var(&o.Timeout, "timeout", "give up on a run after this `duration`, such as 10m (default: none)")
	f.StringVar(&o.Results, "results", o.Results, "read the results from the files of this `glob` that a run wrote, not from its output")
	f.Var(&o.Counters, "counters", "count instructions by `auto|perf|valgrind|none` (default: auto with --ops, else none)")
	f.Var(&o.Ops, "ops", "numbers of operations that the command is told as {ops}, such as `10000,20000`: the slope between them is the cost of one, start-up excluded")
	f.StringVar(&o.Format, "format", o.Format, "how to read the output: auto, none, the `name` of a format (see \"noslower formats\"), or regex, json or csv as the suite's parse describes it")
	f.StringVar(&o.Measurements, "measurements", o.Measurements, "take head's measurements from the documents of this `glob`, and run nothing; artifact:GLOB takes them from artifacts of this workflow run")

	f.StringArrayVar(&o.Program, "program", o.Program, "keep the benchmark's built files that match this `glob` with the baseline, so that base's own program is run beside head's; the command names them as {dir}/… (repeatable)")
	f.StringVar(&o.Against, "against", o.Against, "build this `commit` in a worktree and run it beside the working tree, without any baseline")
	f.StringVar(&o.Build, "build", o.Build, "with --against: the `command line` that builds each side")

	f.Var(&o.Mode, "mode", "what a gate is there for, `auto|gate|baseline|compare|report`: measure and fail, keep a baseline, only compare, comment for a finished run; auto goes by the workflow's event")
	f.StringVar(&o.Baseline, "baseline", o.Baseline, "`where` the baseline is: artifact, of the branch's workflow runs (in a workflow), dir:PATH, a folder with one record a suite (elsewhere, dir:"+defaultFolder+"), file:PATH, or branch:NAME, a branch of data that keeps years")
	f.StringVar(&o.BaselineWorkflow, "baseline-workflow", o.BaselineWorkflow, "`path` of the workflow whose runs keep the baseline, where it is another one than this")
	f.BoolVar(&o.SaveBaseline, "save-baseline", o.SaveBaseline, "keep what was measured as the next baseline")
	f.BoolVar(&o.RequireBaseline, "require-baseline", o.RequireBaseline, "end with status 3 where there is no baseline")
	f.StringArrayVar(&o.Pair, "pair", o.Pair, "compare `BASE NAME=HEAD NAME`: benchmarks of different names (repeatable)")

	f.Var(&o.Fail, "fail", "`METRIC=PERCENT`: this slowdown of it fails the check (repeatable)")
	f.Var(&o.Warn, "warn", "`METRIC=PERCENT`: this slowdown of it is warned of (repeatable)")
	f.Var(&o.Limit, "limit", "`METRIC=VALUE`: beyond this it fails, whatever the baseline, such as latency_p99=20ms (repeatable)")
	f.StringArrayVar(&o.Expect, "expect", o.Expect, "`BENCHMARK[/METRIC]` that must have been measured (repeatable)")
	f.BoolVar(&o.AllowFewRuns, "allow-few-runs", o.AllowFewRuns, "only warn where the numbers are too few for a regression ever to be called")
	f.Var(&o.OnInconclusive, "on-inconclusive", "a gating comparison that is inconclusive does this to the check: `pass|warn|fail`")
	f.Var(&o.OnNoBaseline, "on-no-baseline", "no baseline does this: `pass|warn|fail`; fail is status 3")
	f.Var(&o.OnMissing, "on-missing", "a benchmark of base that head lacks does this: `pass|warn|fail`")
	f.Var(&o.OnErrors, "on-errors", "more errors on head than on base do this: `pass|warn|fail`")

	f.Var(&o.Comment, "comment", "comment on the pull request `always|on-regression|never`")
	f.StringVar(&o.AcceptLabel, "accept-label", o.AcceptLabel, "the `label` by which a regression of a pull request is accepted")

	f.StringVar(&o.Benchmark, "benchmark", o.Benchmark, "show only the benchmarks that this `glob` matches")
	f.StringVar(&o.Metric, "metric", o.Metric, "show only the metrics that this `glob` matches")

	f.StringVar(&o.Out, "out", o.Out, "also write the measurements to this `file`")
	f.StringVar(&o.Output, "output", o.Output, "the `FORM` of what goes to standard output: "+formNames())
	f.StringArrayVar(&o.Report, "report", o.Report, "also write a report to a file, `KIND=PATH`, the kind as in --output (repeatable)")
	return f
}

var (
	measuringOptions = []string{"config", "suite", "command", "working-directory", "env", "runs", "warmup", "timeout", "results", "counters", "ops", "format"}
	decidingOptions  = []string{"pair", "fail", "warn", "limit", "expect", "on-inconclusive", "on-missing", "on-errors", "output", "report"}
	keepingOptions   = []string{"mode", "measurements", "program", "against", "build", "save-baseline", "allow-few-runs", "out"}
	findingOptions   = []string{"baseline", "baseline-workflow", "require-baseline", "on-no-baseline", "comment", "accept-label"}
)

// optionsOf has the options of each subcommand. Those of gate are the inputs of
// the action.
var optionsOf = map[string][]string{
	"gate":          slices.Concat(measuringOptions, keepingOptions, findingOptions, decidingOptions),
	"measure":       slices.Concat(measuringOptions, []string{"out"}),
	"noise":         slices.Concat(measuringOptions, []string{"fail", "output"}),
	"compare":       slices.Concat([]string{"config", "suite", "format"}, decidingOptions),
	"badge":         slices.Concat([]string{"config", "suite", "format"}, decidingOptions),
	"report":        slices.Concat([]string{"config"}, findingOptions, decidingOptions),
	"parse":         {"config", "suite", "format", "output"},
	"baseline list": {"baseline", "baseline-workflow"},
	"baseline show": {"config", "baseline", "baseline-workflow", "suite"},
	"baseline pull": {"config", "baseline", "baseline-workflow", "suite", "out"},
	"baseline push": {"config", "baseline", "suite", "format"},
	"history":       {"config", "baseline", "baseline-workflow", "suite", "benchmark", "metric", "output"},
	"site":          {"config", "baseline", "baseline-workflow", "suite", "benchmark", "metric", "out"},
	"import":        {"config", "baseline", "suite"},
	"formats":       {"output"},
}

// usagesOf has what an option of a subcommand means where that is narrower than
// what it means to gate.
var usagesOf = map[string]map[string]string{
	"measure":       {"out": "write the measurements to this `file`, not to standard output"},
	"noise":         {"output": textOrJSON},
	"parse":         {"output": textOrJSON},
	"baseline pull": {"out": "write the record to this `file`, not to standard output"},
	"history":       {"output": "what to write to standard output: `text|json|csv`"},
	"site":          {"out": "write the pages into this `folder`"},
	"formats":       {"output": textOrJSON},
}

const textOrJSON = "what to write to standard output: `text|json`"

// subcommand makes a command whose flags are its options; do gets them complete,
// with the configuration that was read.
func (w world) subcommand(use, options, short string, args cobra.PositionalArgs, do func(cmd *cobra.Command, o *optionSet) error) *cobra.Command {
	o := &optionSet{options: defaults()}
	all := o.flags()
	cmd := &cobra.Command{Use: use, Short: short, Args: operands(use, args), DisableFlagsInUseLine: true}
	for _, name := range optionsOf[options] {
		cmd.Flags().AddFlag(all.Lookup(name))
	}
	for name, usage := range usagesOf[options] {
		cmd.Flags().Lookup(name).Usage = usage
	}
	cmd.Flags().SortFlags = false
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.Args = args
		o.anchor = func(against string, jobs []baseline.Job) (string, string, error) {
			return w.findAnchor(cmd.Context(), against, jobs)
		}
		if err := o.complete(cmd.Flags(), w.Getenv); err != nil {
			return wrongUse(err)
		}
		return do(cmd, o)
	}
	return cmd
}

// An optionSet is the options of one call, with the configuration that they name.
type optionSet struct {
	*options
	config *config // nil where there is none
	suite  suiteConfig
	beside map[string]*bench.Set // what other suites of the job measured
	// anchor finds the job that head is held against, among those of a record.
	anchor func(against string, jobs []baseline.Job) (commit, name string, err error)
}

// worded says an error of strconv, by which pflag reads the simple ones, in words of
// ours.
func worded(err error) error {
	number, ok := errors.AsType[*strconv.NumError](err)
	switch {
	case !ok:
		return err
	case number.Func == "ParseBool":
		return fmt.Errorf("want true or false, have %q", number.Num)
	}
	return fmt.Errorf("want a whole number, have %q", number.Num)
}

// ofSuite returns the options for one of several suites of a job.
func (o *optionSet) ofSuite(suite string, beside map[string]*bench.Set) *optionSet {
	set, own := *o, *o.options
	own.Suite = suite
	set.options, set.beside = &own, beside
	return &set
}

// complete adds inputs and configuration to what the flags said. Every fault is
// reported.
func (o *optionSet) complete(flags *pflag.FlagSet, getenv func(string) string) error {
	var faults []error
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed {
			o.given[f.Name] = true
			// As a variable that is not set leaves it. Without the label nothing is accepted.
			if f.Value.Type() == "string" && f.Value.String() == "" && f.Name != "accept-label" {
				faults = append(faults, fmt.Errorf("--%s: want a value, have an empty one", f.Name))
			}
			return
		}
		// https://docs.github.com/actions/reference/metadata-syntax-for-github-actions#inputs
		input := strings.TrimSpace(getenv("INPUT_" + strings.ToUpper(f.Name)))
		if input == "" {
			return
		}
		o.given[f.Name] = true
		if err := setInput(f.Value, input); err != nil {
			faults = append(faults, fmt.Errorf("input %s: %w", f.Name, worded(err)))
		}
	})
	for _, name := range o.Env {
		if name == "" || strings.Contains(name, "=") {
			faults = append(faults, fmt.Errorf("--env: want the name of a variable alone, have %q: its value is the environment's", name))
		}
	}
	if o.Warmup < 0 || o.Warmup > maxRuns {
		faults = append(faults, fmt.Errorf("--warmup: want from 0 to %d, have %d", maxRuns, o.Warmup))
	}
	if o.Command != "" && len(o.Args) > 0 && flags.Lookup("command") != nil {
		faults = append(faults, errors.New("a command is given twice, by --command and after --: give one"))
	}
	// A report takes it from the branch, whatever lies here.
	reports := getenv("GITHUB_EVENT_NAME") == "workflow_run"
	if flags.Lookup("config") != nil && !reports {
		if err := o.readConfiguration(flags.Lookup("command") != nil); err != nil {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// limits are the absolute bounds that are asked for, with their units.
func (o *optionSet) limits() []metricLimit {
	if o.config == nil {
		return o.Limit.Limits
	}
	return slices.Concat(o.config.Limits, o.Limit.Limits)
}

// setInput sets an option from an input: a repeatable one has one value a line.
func setInput(v pflag.Value, input string) error {
	list, ok := v.(pflag.SliceValue)
	switch {
	case !ok && v.Type() == "bool" && v.Set(input) != nil:
		return fmt.Errorf("want true or false, have %q", input)
	case !ok:
		return v.Set(input)
	}
	var faults []error
	for line := range strings.Lines(input) {
		if line = strings.TrimSpace(line); line != "" {
			faults = append(faults, list.Append(line))
		}
	}
	return errors.Join(faults...)
}

// readConfiguration reads the configuration and takes from its suite what
// neither flag nor input gave. A call that measures must name its suite where
// there are several.
func (o *optionSet) readConfiguration(measures bool) error {
	path, data, err := findConfiguration(o.Config)
	if err != nil || path == "" {
		return err
	}
	return o.useConfiguration(path, data, measures)
}

// useConfiguration takes from a configuration what neither flag nor input gave.
func (o *optionSet) useConfiguration(path string, data []byte, measures bool) error {
	c, err := readConfig(data, path)
	if err != nil {
		return err
	}
	o.config = &c
	set := func(name string, r gate.Reaction, to *reaction) {
		if r != "" && !o.given[name] {
			*to = reaction(r)
		}
	}
	set("on-inconclusive", c.OnInconclusive, &o.OnInconclusive)
	set("on-no-baseline", c.OnNoBaseline, &o.OnNoBaseline)
	set("on-missing", c.OnMissing, &o.OnMissing)
	set("on-errors", c.OnErrors, &o.OnErrors)
	if !measures && !o.given["suite"] && len(c.Suites) != 1 {
		return nil
	}
	return o.takeSuite(path, c.Suites)
}

// configurations are where the configuration is looked for.
var configurations = []string{".github/noslower.yml", "noslower.yml"}

// findConfiguration reads the configuration at a path, or the first of the usual
// ones; path is "" where there is none.
func findConfiguration(named string) (path string, data []byte, err error) {
	if named != "" {
		data, err = readBounded(named)
		return named, data, err
	}
	for _, path := range configurations {
		data, err := readBounded(path)
		if !errors.Is(err, fs.ErrNotExist) {
			return path, data, err
		}
	}
	return "", nil, nil
}

// takeSuite picks the suite that is asked for, or the only one.
func (o *optionSet) takeSuite(path string, suites []suiteConfig) error {
	var names []string
	at := -1
	for i, s := range suites {
		names = append(names, s.Name)
		if s.Name == o.Suite {
			at = i
		}
	}
	switch {
	case at >= 0:
	case len(suites) == 1 && !o.given["suite"]:
		at = 0
	case len(suites) == 0, o.Command != "" || len(o.Args) > 0 || o.Measurements != "":
		// The call says itself what to measure.
		return nil
	case !o.given["suite"]:
		return fmt.Errorf("%s: it has %d suites: say which one with --suite (one of %s)", path, len(suites), strings.Join(names, ", "))
	default:
		return fmt.Errorf("%s: want a suite of %s, have %q", path, strings.Join(names, ", "), o.Suite)
	}
	o.useSuite(suites[at])
	return nil
}

func (o *optionSet) useSuite(s suiteConfig) {
	o.suite = s
	o.Suite = s.Name
	if o.Command == "" && len(o.Args) == 0 {
		o.Command, o.Args = s.Shell, s.Args
	}
	take(o, "runs", s.Runs != runCount{}, s.Runs, &o.Runs)
	take(o, "timeout", s.Timeout != 0, runTimeout(s.Timeout), &o.Timeout)
	take(o, "format", s.Format != "", s.Format, &o.Format)
	take(o, "results", s.Results != "", s.Results, &o.Results)
	take(o, "working-directory", s.WorkingDirectory != "", s.WorkingDirectory, &o.WorkingDirectory)
	take(o, "env", len(s.Env) > 0, s.Env, &o.Env)
	if s.Warmup != nil {
		take(o, "warmup", true, *s.Warmup, &o.Warmup)
	}
}

// take sets an option that is configured, unless a flag or an input gave it.
func take[T any](o *optionSet, name string, isConfigured bool, configured T, to *T) {
	if isConfigured && !o.given[name] {
		*to = configured
	}
}

// policy is what the gate is asked for.
func (o *optionSet) policy() gate.Policy {
	p := gate.DefaultPolicy()
	p.Suite, p.Beside = o.Suite, o.beside
	if c := o.config; c != nil {
		for _, r := range c.Rules {
			// With several suites, most rules are for another one.
			r.Meant = len(c.Suites) <= 1
			p.Rules = append(p.Rules, r)
		}
		p.Aliases = c.Aliases
		if c.NoiseTimes != nil {
			p.NoiseTimes = *c.NoiseTimes
		}
		if c.NoiseCounts != nil {
			p.NoiseCounts = *c.NoiseCounts
		}
	}
	p.Rules = slices.Concat(p.Rules, o.Fail.Rules, o.Warn.Rules, o.Limit.Rules)
	p.Pairs, p.Expect = o.Pair, o.Expect
	p.OnInconclusive, p.OnNoBaseline = gate.Reaction(o.OnInconclusive), gate.Reaction(o.OnNoBaseline)
	p.OnMissing, p.OnErrors = gate.Reaction(o.OnMissing), gate.Reaction(o.OnErrors)
	if o.RequireBaseline {
		p.OnNoBaseline = gate.Fail
	}
	return p
}

// A reaction is an option for gate.Reaction.
type reaction gate.Reaction

func (r *reaction) String() string { return string(*r) }
func (r *reaction) Type() string   { return "reaction" }

// Set reads pass, warn or fail.
func (r *reaction) Set(s string) error {
	parsed, err := gate.ParseReaction(s)
	*r = reaction(parsed)
	return err
}
