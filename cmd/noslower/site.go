package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
	"github.com/noslower/noslower/pkg/report"
)

func (w world) siteCommand() *cobra.Command {
	return w.subcommand("site [flags] --out FOLDER [RECORD…]", "site",
		"Write a static site of the trends: pages that stand alone, for Pages or any web server", cobra.ArbitraryArgs,
		func(cmd *cobra.Command, o *optionSet) error { return w.site(cmd.Context(), o) })
}

func (w world) site(ctx context.Context, o *optionSet) error {
	if o.Out == "" {
		return wrongUse(errors.New("--out: want the folder to write the pages into"))
	}
	pasts, err := w.pasts(ctx, o)
	if err != nil {
		return err
	}
	releases, err := w.releases(ctx)
	if err != nil {
		fmt.Fprintf(w.Stderr, "no releases are marked: %s\n", visible(err))
	}
	s := site{folder: o.Out, releases: releases, commits: w.commitPages(), version: release()}
	if err := s.write(pasts); err != nil {
		return undecided(err)
	}
	fmt.Fprintf(w.Stderr, "wrote %d pages: open %s\n", s.pages, filepath.Join(o.Out, "index.html"))
	return nil
}

// commitPages is the address that a commit's page begins with; "" outside a
// workflow.
func (w world) commitPages() string {
	server, repository := w.Getenv("GITHUB_SERVER_URL"), w.Getenv("GITHUB_REPOSITORY")
	if server == "" || repository == "" {
		return ""
	}
	return server + "/" + repository + "/commit/"
}

// A site is being written.
type site struct {
	folder   string
	releases map[string]string // tags by commit
	commits  string            // what the address of a commit begins with
	version  string
	pages    int
	made     []string // folders and files that were not there before
}

// What the templates are filled with. All text is as it came, and is escaped
// where it is put.
type (
	frame struct {
		Policy        string
		Style         template.CSS
		Title, Up     string // Up leads back to the overview
		Version       string
		Content       any
		Script        template.JS
		HasScript     bool
		Back, BackURL string
	}
	overviewPage struct {
		Suites  []suiteLink
		Changes []changeRow
		More    int
	}
	suiteLink struct {
		URL, Name          string
		Jobs, Benchmarks   int
		From, To, Latest   string
		Changes            int
		Commit, CommitPage string
	}
	suitePage struct {
		Name     string
		Jobs     int
		From, To string
		Machines bool
		Rows     []trendRow
		Changes  []changeRow
		More     int
	}
	trendRow struct {
		ID, URL, Name, Metric, Machine string
		Spark                          template.HTML
		Latest, Whole, Class, Last     string
		Day                            string // of Last
		Jobs                           int
	}
	changeRow struct {
		URL, Name, Metric, Machine, Size, Class, Time string
		From, To                                      commitLink
		when                                          time.Time
	}
	commitLink    struct{ Short, URL, Release string }
	benchmarkPage struct {
		Name   string
		Charts []chartPart
	}
	chartPart struct {
		ID, Metric, Unit, Better string
		chart
		Machines []machineKey
		Changes  []changeRow
		Rows     template.HTML
		Jobs     int
		Several  bool
	}
	machineKey struct {
		Class, Name string
	}
)

// mostChangeRows is how many changes a list has: the latest.
const mostChangeRows = 30

// write writes all pages.
func (s *site) write(pasts []past) error {
	folders, err := makeFolders(s.folder)
	if err != nil {
		return err
	}
	s.made = folders
	var overview overviewPage
	for _, p := range pasts {
		link, changes, err := s.writeSuite(p)
		if err != nil {
			return err
		}
		overview.Suites = append(overview.Suites, link)
		overview.Changes = append(overview.Changes, changes...)
	}
	overview.Changes, overview.More = latestChanges(overview.Changes)
	if err := s.page("index.html", "overview", frame{Title: "Trends", Content: overview}); err != nil {
		return err
	}
	if err := s.sweep(); err != nil {
		return err
	}
	return handOver(s.made)
}

// siteMark is in the head of each page of a site, and of nothing else.
const siteMark = `<meta name="generator" content="noslower site">`

// markedWithin is how far from its beginning a page has its mark.
const markedWithin = 1 << 10

// sweep deletes the pages of earlier sites in the folder that this one lacks, as
// of benchmarks that are gone: published again and again, they would tell of a
// past that nobody measures any more. What is no page of a site stays.
func (s *site) sweep() error {
	written := map[string]bool{}
	for _, path := range s.made {
		written[path] = true
	}
	suites, err := os.ReadDir(s.folder)
	if err != nil {
		return err
	}
	for _, suite := range suites {
		if !suite.IsDir() {
			continue
		}
		folder := filepath.Join(s.folder, suite.Name())
		files, err := os.ReadDir(folder)
		if err != nil {
			return err
		}
		for _, f := range files {
			path := filepath.Join(folder, f.Name())
			if written[path] || !f.Type().IsRegular() || filepath.Ext(path) != ".html" || !marked(path) {
				continue
			}
			if err := os.Remove(path); err != nil {
				return err
			}
			// Not empty, it is left alone.
			os.Remove(folder)
		}
	}
	return nil
}

// marked reports whether a file is a page of a site.
func marked(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, markedWithin))
	return err == nil && bytes.Contains(head, []byte(siteMark))
}

func latestChanges(changes []changeRow) (latest []changeRow, more int) {
	changes = slices.Clone(changes)
	slices.SortStableFunc(changes, func(a, b changeRow) int { return b.when.Compare(a.when) })
	n := min(len(changes), mostChangeRows)
	return changes[:n], len(changes) - n
}

// writeSuite writes the page of a suite, and one for each of its benchmarks. It
// returns what the overview has of it.
func (s *site) writeSuite(p past) (suiteLink, []changeRow, error) {
	folder := pageName(p.suite)
	shown := suitePage{
		Name: report.Printable(p.suite), Jobs: len(p.jobs), Machines: len(p.machines()) > 1,
		From: day(p.jobs[0].Time), To: day(p.jobs[len(p.jobs)-1].Time),
	}
	var names []string
	of := map[string][]trend{}
	for _, t := range p.trends {
		if of[t.name] == nil {
			names = append(names, t.name)
		}
		of[t.name] = append(of[t.name], t)
	}
	var all []changeRow // with addresses from a suite's folder
	for _, name := range names {
		file := pageName(name) + ".html"
		part, changes := s.benchmark(name, of[name])
		if err := s.page(filepath.Join(folder, file), "benchmark", frame{
			Title: part.Name + " – " + shown.Name, Content: part, Up: "../index.html", Back: shown.Name, BackURL: "index.html",
		}); err != nil {
			return suiteLink{}, nil, err
		}
		for _, t := range of[name] {
			shown.Rows = append(shown.Rows, s.row(file, t))
		}
		for _, c := range changes {
			c.URL = file + c.URL
			all = append(all, c)
		}
	}
	shown.Changes, shown.More = latestChanges(all)
	err := s.page(filepath.Join(folder, "index.html"), "suite", frame{Title: shown.Name, Content: shown, Up: "../index.html", Script: siteScript, HasScript: true})
	for i := range all {
		all[i].URL = folder + "/" + all[i].URL
		all[i].Name = shown.Name + ": " + all[i].Name
	}
	latest := s.commit(p.jobs[len(p.jobs)-1].Commit)
	return suiteLink{
		URL: folder + "/index.html", Name: shown.Name, Jobs: len(p.jobs), Benchmarks: len(names), From: shown.From, To: shown.To,
		Changes: len(all), Commit: latest.Short, CommitPage: latest.URL,
	}, all, err
}

// row is a trend in the table of its suite.
func (s *site) row(file string, t trend) trendRow {
	unit := report.Printable(t.watch.Metric.Unit)
	r := trendRow{
		ID: rowID(t), URL: file + "#" + pageName(t.key.Metric), Name: report.Printable(t.name), Metric: report.Printable(t.key.Metric), Machine: machineName(t.machine),
		Spark: miniature(t), Latest: gate.Quantity(t.latest(), unit), Whole: gate.SignedPercent(t.whole()), Jobs: len(t.points),
	}
	if n := len(t.changes); n > 0 {
		c := t.changes[n-1]
		r.Last, r.Day, r.Class = gate.SignedPercent(c.Size), day(c.To.Time), changeClass(t.watch, c.Size)
		if r.Class != "moved" {
			r.Last += ", " + r.Class
		}
	}
	return r
}

// benchmark fills the page of a benchmark, a part a metric.
func (s *site) benchmark(name string, trends []trend) (page benchmarkPage, changes []changeRow) {
	page.Name = report.Printable(name)
	var metrics []string
	of := map[string][]trend{}
	for _, t := range trends {
		if of[t.key.Metric] == nil {
			metrics = append(metrics, t.key.Metric)
		}
		of[t.key.Metric] = append(of[t.key.Metric], t)
	}
	for _, metric := range metrics {
		group := of[metric]
		part := chartPart{
			ID: pageName(metric), Metric: report.Printable(metric), Unit: report.Printable(group[0].watch.Metric.Unit),
			Better: betterWords[group[0].watch.Metric.Better], Several: len(group) > 1,
		}
		places := placesOf(group)
		part.chart = s.draw(group, places)
		part.Rows, part.Jobs = s.jobRows(group, places), len(places)
		machine := func(t trend) string {
			if len(group) == 1 {
				return ""
			}
			return machineName(t.machine)
		}
		for i, t := range group {
			part.Machines = append(part.Machines, machineKey{seriesClass(i), machineName(t.machine)})
			for _, c := range slices.Backward(t.changes) {
				part.Changes = append(part.Changes, changeRow{
					URL: "#" + part.ID, Name: page.Name, Metric: part.Metric, Machine: machine(t),
					Size: gate.SignedPercent(c.Size), Class: changeClass(t.watch, c.Size), Time: day(c.To.Time), when: c.To.Time,
					From: s.commit(c.From.Commit), To: s.commit(c.To.Commit),
				})
			}
		}
		changes = append(changes, part.Changes...)
		page.Charts = append(page.Charts, part)
	}
	return page, changes
}

var betterWords = map[bench.Better]string{bench.Lower: "lower is better", bench.Higher: "higher is better"}

// changeClass is the look of a change: what it is, for better or worse.
func changeClass(w gate.Watch, size float64) string {
	switch {
	case w.Metric.Better == bench.Unknown:
		return "moved"
	case w.Worse(size):
		return "worse"
	}
	return "better"
}

// hash is what a commit's name looks like, if it is to be led to.
var hash = regexp.MustCompile(`^[0-9a-f]{7,64}$`)

func (s *site) commit(commit string) commitLink {
	l := commitLink{Short: report.Printable(bench.ShortCommit(commit)), Release: report.Printable(s.releases[commit])}
	if l.Short == "" {
		l.Short = "–"
	}
	if s.commits != "" && hash.MatchString(commit) {
		l.URL = s.commits + commit
	}
	return l
}

func day(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.UTC().Format(time.DateOnly)
}

// plainPageName is a name that can be a file's and an address's as it is. It
// leaves out capitals, which some file systems take for small letters.
var plainPageName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,59}$`)

var notInPageNames = regexp.MustCompile(`[^a-z0-9]+`)

// pageName is the part of an address that stands for a name: always the same for
// the same name, and another for another.
func pageName(name string) string {
	if plainPageName.MatchString(name) && name != "index" {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	readable := strings.Trim(notInPageNames.ReplaceAllString(strings.ToLower(name), "-"), "-")
	return cmp.Or(strings.Trim(readable[:min(40, len(readable))], "-"), "name") + "." + hex.EncodeToString(sum[:6])
}

// rowID is where a link into the page of a suite leads.
func rowID(t trend) string {
	id := pageName(t.name) + "/" + pageName(t.key.Metric)
	if t.machine != "" {
		id += "/" + pageName(t.machine)
	}
	return id
}

var sitePolicy = report.PagePolicy(siteScript, siteStyle)

// page writes one page.
func (s *site) page(path, kind string, f frame) error {
	f.Policy, f.Style, f.Version = sitePolicy, siteStyle, s.version
	var b bytes.Buffer
	if err := siteTemplates.ExecuteTemplate(&b, kind, f); err != nil {
		return err
	}
	path = filepath.Join(s.folder, path)
	folders, err := makeFolders(filepath.Dir(path))
	if err != nil {
		return err
	}
	s.made = append(append(s.made, folders...), path)
	s.pages++
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// A slot is a job's place on the axis of a chart.
type slot struct {
	series int // of the chart: a machine class
	point  int // of the series
}

// placesOf puts the jobs of several series in one order, that of their times.
func placesOf(group []trend) []slot {
	var places []slot
	for i, t := range group {
		for k := range t.points {
			places = append(places, slot{i, k})
		}
	}
	slices.SortStableFunc(places, func(a, b slot) int {
		return cmp.Or(group[a.series].points[a.point].Time.Compare(group[b.series].points[b.point].Time), cmp.Compare(a.point, b.point))
	})
	return places
}

// jobRows are the rows of the table of all jobs, the latest first. They are
// written here and not by the template, which would take most of the time that a
// site of a million values takes: every text in them is escaped here.
func (s *site) jobRows(group []trend, places []slot) template.HTML {
	var b strings.Builder
	for _, at := range slices.Backward(places) {
		t := group[at.series]
		p := t.points[at.point]
		before := "–"
		if at.point > 0 {
			before = gate.SignedPercent(math.Expm1(p.Center - t.points[at.point-1].Center))
		}
		class := ""
		for _, c := range t.changes {
			if c.At == at.point {
				class = ` class="` + changeClass(t.watch, c.Size) + `"`
			}
		}
		link := s.commit(p.Commit)
		commit := template.HTMLEscapeString(link.Short)
		if link.URL != "" {
			commit = `<a href="` + template.HTMLEscapeString(link.URL) + `">` + commit + `</a>`
		}
		if link.Release != "" {
			commit += " " + template.HTMLEscapeString(link.Release)
		}
		fmt.Fprintf(&b, "<tr%s><th scope=\"row\">%s</th><td>%s</td><td>%s</td><td>%s</td>", class, commit, minute(p.Time),
			template.HTMLEscapeString(gate.Quantity(value(p), report.Printable(t.watch.Metric.Unit))), before)
		if len(group) > 1 {
			fmt.Fprintf(&b, "<td>%s</td>", template.HTMLEscapeString(machineName(t.machine)))
		}
		b.WriteString("</tr>\n")
	}
	return template.HTML(b.String())
}

func minute(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.UTC().Format("2006-01-02 15:04")
}
