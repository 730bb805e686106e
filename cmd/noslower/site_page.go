package main

import "html/template"

// siteTemplates has the three kinds of pages.
var siteTemplates = template.Must(template.New("").Parse(siteSource))

const siteSource = `
{{define "head"}}<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
` + siteMark + `
<meta http-equiv="Content-Security-Policy" content="{{.Policy}}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>{{.Title}} – noslower</title>
<link rel="icon" href="data:,">
<style>{{.Style}}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
{{if .Up}}<nav aria-label="Pages"><ol class="path"><li><a href="{{.Up}}">Overview</a></li>{{if .Back}}<li><a href="{{.BackURL}}">{{.Back}}</a></li>{{end}}</ol></nav>
{{end}}<main id="content">
{{end}}

{{define "foot"}}</main>
<footer><p>noslower {{.Version}}</p></footer>
{{if .HasScript}}<script>{{.Script}}</script>
{{end}}</body>
</html>
{{end}}

{{define "commit"}}{{if .URL}}<a href="{{.URL}}"><code>{{.Short}}</code></a>{{else}}<code>{{.Short}}</code>{{end}}{{if .Release}} {{.Release}}{{end}}{{end}}

{{define "change"}}<b class="{{.Class}}">{{.Size}}{{if ne .Class "moved"}}, {{.Class}}{{end}}</b> between {{template "commit" .From}} and {{template "commit" .To}}, {{.Time}}{{if .Machine}}, on {{.Machine}}{{end}}{{end}}

{{define "changes"}}<ul class="changes">
{{range .}}<li><a href="{{.URL}}">{{.Name}} {{.Metric}}</a> {{template "change" .}}</li>
{{end}}</ul>
{{end}}

{{define "overview"}}{{template "head" .}}{{with .Content}}<h1>Trends</h1>
<div class="wide" role="region" aria-label="Suites" tabindex="0"><table id="suites">
<caption>Suites</caption>
<thead><tr><th scope="col">Suite</th><th scope="col" class="n">Benchmarks</th><th scope="col" class="n">Jobs</th><th scope="col">From</th><th scope="col">To</th><th scope="col">Latest</th><th scope="col" class="n">Changes</th></tr></thead>
<tbody>
{{range .Suites}}<tr><th scope="row"><a href="{{.URL}}">{{.Name}}</a></th><td class="n">{{.Benchmarks}}</td><td class="n">{{.Jobs}}</td><td>{{.From}}</td><td>{{.To}}</td><td>{{if .CommitPage}}<a href="{{.CommitPage}}"><code>{{.Commit}}</code></a>{{else}}<code>{{.Commit}}</code>{{end}}</td><td class="n">{{.Changes}}</td></tr>
{{end}}</tbody>
</table></div>
{{if .Changes}}<h2>Latest changes of level</h2>
{{template "changes" .Changes}}{{if .More}}<p>{{.More}} more stand in the pages of the suites.</p>
{{end}}{{end}}{{end}}{{template "foot" .}}{{end}}

{{define "suite"}}{{template "head" .}}{{with .Content}}<h1>{{.Name}}</h1>
<p class="about">{{.Jobs}} jobs, {{.From}} to {{.To}}</p>
<form id="filter" role="search" aria-label="Benchmarks" hidden>
<label>Name <input type="search" name="name" autocomplete="off" spellcheck="false"></label>
<label><input type="checkbox" name="changed"> only those that changed</label>
<span id="status" role="status"></span>
</form>
<div class="wide" role="region" aria-label="Benchmarks" tabindex="0"><table id="trends">
<caption>Benchmarks, with their latest jobs</caption>
<thead><tr><th scope="col">Benchmark</th><th scope="col">Metric</th><th scope="col">Trend</th><th scope="col" class="n">Latest</th><th scope="col" class="n">Since the first job</th><th scope="col">Last change of level</th><th scope="col" class="n">Jobs</th></tr></thead>
<tbody>
{{$machines := .Machines}}{{range .Rows}}<tr id="{{.ID}}"{{if .Last}} class="changed"{{end}}><th scope="row"><a href="{{.URL}}">{{.Name}}</a></th><td>{{.Metric}}{{if $machines}}<span class="machine">{{.Machine}}</span>{{end}}</td><td>{{.Spark}}</td><td class="n">{{.Latest}}</td><td class="n">{{.Whole}}</td><td>{{if .Last}}<b class="{{.Class}}">{{.Last}}, <span>{{.Day}}</span></b>{{else}}–{{end}}</td><td class="n">{{.Jobs}}</td></tr>
{{end}}</tbody>
</table></div>
{{if .Changes}}<h2>Latest changes of level</h2>
{{template "changes" .Changes}}{{if .More}}<p>{{.More}} more stand in the pages of the benchmarks.</p>
{{end}}{{end}}{{end}}{{template "foot" .}}{{end}}

{{define "benchmark"}}{{template "head" .}}{{with .Content}}<h1>{{.Name}}</h1>
{{if gt (len .Charts) 1}}<ul class="jumps">{{range .Charts}}<li><a href="#{{.ID}}">{{.Metric}}</a></li>{{end}}</ul>
{{end}}{{range .Charts}}<section id="{{.ID}}">
<h2><a href="#{{.ID}}">{{.Metric}}</a></h2>
<p class="about">{{.Unit}}{{if .Better}}, {{.Better}}{{end}}</p>
<div class="frame">{{.Names}}<span class="high">{{.High}}</span>{{.SVG}}<span class="low">{{.Low}}</span><span class="first">{{.First}}</span><span class="last">{{.Last}}</span></div>
{{if or .Several .Names .Kinds}}<ul class="legend">{{if .Several}}{{range .Machines}}<li><svg class="key" viewBox="0 0 24 12" aria-hidden="true"><path class="line {{.Class}}" d="M0 6H24"/><path class="dot {{.Class}}" d="M12 6h0"/></svg> {{.Name}}</li>{{end}}{{end}}{{if .Names}}<li><svg class="key" viewBox="0 0 24 12" aria-hidden="true"><path class="release" d="M12 0V12"/></svg> release</li>{{end}}{{range .Kinds}}<li><svg class="key" viewBox="0 0 24 12" aria-hidden="true"><path class="change {{.}}" d="M12 0V12"/></svg> change of level{{if ne . "moved"}}, {{.}}{{end}}</li>{{end}}</ul>
{{end}}{{if .Changes}}<h3>Changes of level</h3>
<ul class="changes">
{{range .Changes}}<li>{{template "change" .}}</li>
{{end}}</ul>
{{end}}<details><summary>All {{.Jobs}} jobs</summary>
<div class="wide" role="region" aria-label="Jobs of {{.Metric}}" tabindex="0"><table class="jobs">
<thead><tr><th scope="col">Commit</th><th scope="col">Time (UTC)</th><th scope="col" class="n">Median</th><th scope="col" class="n">Against the job before</th>{{if .Several}}<th scope="col">Machine</th>{{end}}</tr></thead>
<tbody>
{{.Rows}}</tbody>
</table></div>
</details>
</section>
{{end}}{{end}}{{template "foot" .}}{{end}}
`

// siteStyle is the look of all pages. Its colours are those of a report's page.
const siteStyle = `
:root{--bg:#fff;--soft:#f4f6f8;--fg:#1c2128;--dim:#57606a;--line:#d5dbe1;--bad:#b3261e;--good:#1a6f35;--c0:#0b5cad;--c1:#855300;--c2:#7a3fa0;--c3:#1a6f6a}
@media (prefers-color-scheme:dark){:root{--bg:#12161b;--soft:#1b2128;--fg:#e4e8ec;--dim:#a3adb8;--line:#333c46;--bad:#ff9086;--good:#6fce8b;--c0:#6cb2ff;--c1:#e6b455;--c2:#d0a2f0;--c3:#6fcfc9}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0 auto;max-width:75rem;padding:1.5rem clamp(.75rem,3vw,2.5rem) 4rem;background:var(--bg);color:var(--fg);font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans","DejaVu Sans",sans-serif}
[hidden]{display:none!important}
a{color:var(--c0)}
:focus-visible{outline:3px solid var(--c0);outline-offset:2px}
.skip{position:absolute;left:-100vw}
.skip:focus{left:1rem;top:.5rem;padding:.25rem .75rem;background:var(--bg);z-index:3}
h1{margin:.5rem 0 .75rem;font-size:1.375rem;line-height:1.35;font-weight:600}
h2{margin:2.5rem 0 .25rem;font-size:1.125rem}
h2 a{color:inherit;text-decoration:none}
h2 a:hover{text-decoration:underline}
h3{margin:1rem 0 .25rem;font-size:1rem}
h1,h2,p,li,th,td{overflow-wrap:anywhere}
.about,.machine,#status,footer{color:var(--dim)}
.about{margin:0 0 .75rem}
.machine{display:block;font-size:.8125rem;white-space:normal}
.path,.jumps,.legend{display:flex;flex-wrap:wrap;gap:.35rem 1.25rem;margin:0 0 1rem;padding:0;list-style:none}
.path li+li::before{content:"/ ";color:var(--dim)}
.legend{margin:.5rem 0;font-size:.875rem}
.changes{padding-left:1.25rem}
.worse{color:var(--bad)}.better{color:var(--good)}
code{font-size:.9em}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
caption{text-align:left;color:var(--dim);font-size:.875rem;padding:.25rem 0}
th,td{padding:.35rem 1rem .35rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line);font-weight:400}
thead th{color:var(--dim);font-size:.875rem;font-weight:600;overflow-wrap:normal}
tbody th{min-width:9rem}
#trends tbody th{min-width:min(16rem,24vw)}
td{white-space:nowrap}
.n,.jobs td:nth-child(3),.jobs td:nth-child(4){text-align:right}
#trends b span{white-space:nowrap}
tr:target{background:var(--soft)}
.jobs tr.worse>*,.jobs tr.better>*,.jobs tr.moved>*{font-weight:600}
.mini{width:7.5rem;height:1.5rem;background:var(--soft);border-radius:.2rem;vertical-align:middle}
.frame{display:grid;grid-template-columns:auto 1fr auto;gap:.15rem .75rem;font-size:.8125rem;color:var(--dim)}
.names{grid-area:1/2/2/4;width:100%;height:1.2em;fill:currentColor;overflow:visible}
.chart{grid-area:2/2/4/4;width:100%;height:13rem;background:var(--soft);border-radius:.25rem}
.high{grid-area:2/1}.low{grid-area:3/1;align-self:end}
.first{grid-area:4/2}.last{grid-area:4/3}
.key{width:24px;height:12px;vertical-align:-1px}
svg path{fill:none;vector-effect:non-scaling-stroke}
.line{stroke-width:1.5px;opacity:.6}
.dot{stroke-width:6px;stroke-linecap:round;pointer-events:stroke}
.many .dot{stroke-width:3px}
.dot path:hover{stroke-width:12px}
.c0{stroke:var(--c0)}.c1{stroke:var(--c1)}.c2{stroke:var(--c2)}.c3{stroke:var(--c3)}
.line.d1{stroke-dasharray:9 4}.line.d2{stroke-dasharray:3 3}.line.d3{stroke-dasharray:9 3 3 3}
.dot:is(.d1,.d3){stroke-linecap:square}
.change,.release{stroke:var(--dim);stroke-width:2px;pointer-events:stroke}
.change.worse{stroke:var(--bad)}.change.better{stroke:var(--good);stroke-dasharray:8 3}
.release{stroke-dasharray:2 4}
summary{cursor:pointer;margin:.75rem 0}
#filter{display:flex;flex-wrap:wrap;gap:.5rem 1.25rem;align-items:center;margin:1rem 0 .5rem;padding:.75rem 1rem;background:var(--soft);border-radius:.5rem}
input[type=search]{font:inherit;width:16rem;max-width:60vw;margin-left:.35rem;padding:.25rem .5rem;color:var(--fg);background:var(--bg);border:1px solid var(--dim);border-radius:.3rem}
input[type=checkbox]{width:1rem;height:1rem;vertical-align:-2px;accent-color:var(--c0)}
footer{margin-top:3rem;font-size:.875rem}
@media (max-width:40rem){
:is(#suites,#trends) thead,#trends td:is(:nth-child(5),:nth-child(7)){display:none}
:is(#suites,#trends) tr{display:grid;grid-template-columns:1fr 1fr;gap:.1rem 1rem;padding:.5rem 0;border-bottom:1px solid var(--line)}
:is(#suites,#trends) :is(th,td){padding:0;border:0;white-space:normal;text-align:left}
:is(#suites,#trends) tbody th{grid-column:1/-1;min-width:0}
#trends td:is(:nth-child(4),:nth-child(6)){text-align:right;grid-column:2}
#trends td:nth-child(4){grid-row:2}
#suites td::before{color:var(--dim)}
#suites td:nth-child(2)::before{content:"benchmarks "}
#suites td:nth-child(3)::before{content:"jobs "}
#suites td:nth-child(4)::before{content:"from "}
#suites td:nth-child(5)::before{content:"to "}
#suites td:nth-child(6)::before{content:"latest "}
#suites td:nth-child(7)::before{content:"changes "}
.frame{grid-template-columns:1fr auto}
.names{grid-area:2/1/3/3}
.roomy{display:none}
.chart{grid-area:3/1/4/3;height:10rem}
.high{grid-area:1/1}
.low{grid-area:4/1/5/3}
.first{grid-area:5/1}
.last{grid-area:5/2}
}
@media print{.skip,#filter{display:none}}
`

// siteScript filters the table of a suite. What is asked for stands in the
// address, so that it can be sent to somebody.
const siteScript = `
(() => {
  const form = document.getElementById('filter'), status = document.getElementById('status');
  const rows = [...document.querySelectorAll('#trends tbody tr')].map(row => ({
    row, text: (row.cells[0].textContent + ' ' + row.cells[1].textContent).toLowerCase(), changed: row.classList.contains('changed')
  }));
  const apply = () => {
    const words = form.elements.name.value.toLowerCase().split(/\s+/).filter(Boolean), changed = form.elements.changed.checked;
    let shown = 0;
    for (const r of rows) {
      const show = (!changed || r.changed) && words.every(word => r.text.includes(word));
      r.row.hidden = !show;
      shown += show;
    }
    status.textContent = shown === rows.length ? '' : shown + ' of ' + rows.length;
  };
  const read = () => {
    const asked = new URLSearchParams(location.hash.startsWith('#?') ? location.hash.slice(2) : '');
    form.elements.name.value = asked.get('name') || '';
    form.elements.changed.checked = asked.has('changed');
    apply();
  };
  form.addEventListener('input', () => {
    const ask = new URLSearchParams();
    if (form.elements.name.value) ask.set('name', form.elements.name.value);
    if (form.elements.changed.checked) ask.set('changed', '');
    history.replaceState(null, '', '#?' + ask);
    apply();
  });
  form.addEventListener('submit', event => event.preventDefault());
  addEventListener('hashchange', read);
  form.hidden = false;
  read();
})();
`
