package report

// pageSource is the template of the page. Roles are spelled out where a style
// takes an element of a table out of its table's layout: some readers go by the
// layout.
const pageSource = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{{.Policy}}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>{{.Word}}: {{.Suite}} – noslower</title>
<link rel="icon" href="data:,">
<style>{{.Style}}</style>
</head>
<body>
<a class="skip" href="#comparisons">Skip to the comparisons</a>
<header>
<p class="about"><strong class="word {{.Class}}">{{.Word}}</strong> <span>{{.Suite}}</span></p>
<h1>{{.Headline}}</h1>
{{range .More}}<p>{{.}}</p>
{{end}}{{if .Jumps}}<nav aria-label="Comparisons by outcome">
<ul class="jumps">
{{range .Jumps}}<li><a href="#{{.To}}"><b>{{.Count}}</b> {{.Of}}</a></li>
{{end}}</ul>
</nav>
{{end}}</header>
<main>
{{if .Rows}}<form id="filter" role="search" aria-label="Comparisons" hidden>
<label class="name">Name <input type="search" name="name" autocomplete="off" spellcheck="false"></label>
<fieldset><legend>Outcome</legend>
{{range .Kinds}}<label><input type="checkbox" name="kind" value="{{.Name}}" checked> {{.Name}} <span class="count">{{.Count}}</span></label>
{{end}}</fieldset>
{{if .Informational}}<label><input type="checkbox" name="gating"> gating only</label>
{{end}}<span class="steps"><button type="button" id="previous">Previous regression</button> <button type="button" id="next">Next regression</button></span>
<span id="status" role="status"></span>
</form>
<ul class="legend" aria-hidden="true">
<li><svg class="key" viewBox="0 0 24 12"><path class="b" d="M4 4h0M11 8h0M18 5h0"/></svg> base, a dot a launch</li>
<li><svg class="key" viewBox="0 0 24 12"><path class="h" d="M4 4h0M11 8h0M18 5h0"/></svg> head</li>
<li><svg class="key" viewBox="0 0 24 12"><path class="i" d="M12 0V12"/></svg> median</li>
<li><svg class="key" viewBox="0 0 24 12"><path class="i" d="M2 6H22M2 3v6M22 3v6M12 3v6"/></svg> where head is, by the bounds</li>
<li><svg class="key" viewBox="0 0 24 12"><path class="z" d="M8 0H24V12H8Z"/><path class="t" d="M8 0V12"/></svg> fails from here on</li>
<li><svg class="key" viewBox="0 0 24 12"><path class="l" d="M12 0V12"/></svg> limit</li>
{{if .HasTrends}}<li><svg class="key" viewBox="0 0 24 12"><path class="p" d="M1 9 6 8 11 9 16 4 21 3"/><path class="h" d="M21 3h0"/></svg> the jobs before, and head</li>
{{end}}{{if .HasAnchors}}<li><svg class="key" viewBox="0 0 24 12"><path class="a" d="M0 6H24"/></svg> the level that head crept from</li>
{{end}}</ul>
<table id="comparisons" role="table">
<caption>Comparisons, the worst first. Each opens to its values.</caption>
<thead role="rowgroup"><tr role="row">
<th role="columnheader" scope="col" data-sort="outcome" aria-sort="descending">Outcome</th>
<th role="columnheader" scope="col" data-sort="benchmark">Benchmark</th>
<th role="columnheader" scope="col" data-sort="metric">Metric</th>
<th role="columnheader" scope="col">Base</th>
<th role="columnheader" scope="col">Head</th>
<th role="columnheader" scope="col" data-sort="change">Change</th>
<th role="columnheader" scope="col">Fails at</th>
<th role="columnheader" scope="col">Values, from–to</th>
<th role="columnheader" scope="col">Why</th>
</tr></thead>
<tbody role="rowgroup">
{{range .Rows}}<tr role="row" id="{{.ID}}" class="{{.Kind}}{{if .Gating}} gates{{end}}" data-slowdown="{{.Slowdown}}"><td role="cell">{{.Outcome}}{{if not .Gating}} <span>not gating</span>{{end}}</td><th role="rowheader" scope="row">{{.Benchmark}}</th><td role="cell">{{.Metric}}</td><td role="cell">{{.Base}}</td><td role="cell">{{.Head}}</td><td role="cell">{{.Change}}</td><td role="cell">{{.Fail}}</td><td role="cell">{{with .Plot}}{{if .SVG}}{{.SVG}}{{.From}} <span>{{.To}}</span>{{else}}–{{end}}{{end}}{{.Trend}}</td><td role="cell"><details><summary>{{.Why}}</summary><div>{{.Numbers}}</div></details>{{range .Notes}}<p>{{.}}</p>{{end}}</td></tr>
{{end}}</tbody>
</table>
{{else}}<p id="comparisons">There is no comparison.</p>
{{end}}{{if .Moved}}<section>
<h2 id="moved">{{.MovedTitle}}</h2>
<table class="sides moved" aria-labelledby="moved">
<thead><tr><th scope="col">Function</th><th scope="col">In</th><th scope="col">Base</th><th scope="col">Head</th><th scope="col">Change</th></tr></thead>
<tbody>
{{range .Moved}}<tr><th scope="row">{{.Name}}</th><td>{{.Place}}</td><td>{{.Base}}</td><td>{{.Head}}</td><td>{{.Change}}</td></tr>
{{end}}</tbody>
</table>
</section>
{{end}}{{range .Lists}}<section>
<h2>{{.Title}}</h2>
{{if .Folded}}<details><summary>{{len .Items}} of them</summary>{{end}}<ul>
{{range .Items}}<li>{{.}}</li>
{{end}}</ul>{{if .Folded}}</details>{{end}}
</section>
{{end}}{{if .Sides}}<section>
<h2>What was compared</h2>
<table class="sides">
<caption class="unseen">Commit and machine of both sides</caption>
<thead><tr><td></td>{{if .HasBase}}<th scope="col">Base</th>{{end}}<th scope="col">Head</th></tr></thead>
<tbody>
{{$both := .HasBase}}{{range .Sides}}<tr{{if .Differs}} class="differs"{{end}}><th scope="row">{{.What}}{{if .Differs}} <b>differs</b>{{end}}</th>{{if $both}}<td>{{.Base}}</td>{{end}}<td>{{.Head}}</td></tr>
{{end}}</tbody>
</table>
</section>
{{end}}{{if .Reproduce}}<section>
<h2>Measure it yourself</h2>
<p>With the benchmark built before each measurement, and its command in the configuration:</p>
<pre tabindex="0" aria-label="Commands"><code>{{.Reproduce}}</code></pre>
</section>
{{end}}</main>
{{if .Version}}<footer><p>noslower {{.Version}}</p></footer>
{{end}}{{if .Rows}}<script>{{.Script}}</script>
{{end}}</body>
</html>
`
