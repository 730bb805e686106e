package report

// pageStyle is the look of the page. A comparison is laid out as a grid of
// fixed columns and only when it comes into view: that, and not the size of the
// page, is what ten thousand of them would freeze a browser by.
const pageStyle = `
:root{--bg:#fff;--soft:#f4f6f8;--fg:#1c2128;--dim:#57606a;--line:#d5dbe1;--bad:#b3261e;--open:#855300;--good:#1a6f35;--base:#6a737d;--head:#0b5cad;--zone:#b3261e1c;--focus:#0b5cad}
@media (prefers-color-scheme:dark){:root{--bg:#12161b;--soft:#1b2128;--fg:#e4e8ec;--dim:#a3adb8;--line:#333c46;--bad:#ff9086;--open:#e6b455;--good:#6fce8b;--base:#98a3ae;--head:#6cb2ff;--zone:#ff908626;--focus:#6cb2ff}}
*{box-sizing:border-box}
html{scroll-padding-top:3.5rem;-webkit-text-size-adjust:100%}
body{margin:0 auto;max-width:90rem;padding:1.5rem clamp(.75rem,3vw,2.5rem) 4rem;background:var(--bg);color:var(--fg);font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans","DejaVu Sans",sans-serif}
[hidden]{display:none!important}
a{color:var(--head)}
:focus-visible{outline:3px solid var(--focus);outline-offset:2px}
.skip,.unseen{position:absolute;left:-100vw}
.skip:focus{left:1rem;top:.5rem;padding:.25rem .75rem;background:var(--bg);z-index:3}
h1{margin:.5rem 0 .75rem;font-size:1.375rem;line-height:1.35;font-weight:600;max-width:62rem}
h2{margin:2.5rem 0 .5rem;font-size:1.0625rem}
header p,section li,section p{max-width:62rem;margin:.25rem 0}
h1,p,li,summary,td,th{overflow-wrap:anywhere}
.about{color:var(--dim)}
.word{display:inline-block;margin-right:.5rem;padding:.05rem .6rem;border:1px solid;border-radius:1rem;font-weight:600}
.bad{color:var(--bad)}.open{color:var(--open)}.good{color:var(--good)}
ul{padding-left:1.25rem}
.jumps,.legend{display:flex;flex-wrap:wrap;gap:.35rem 1.25rem;margin:1rem 0;padding:0;list-style:none}
.legend{margin:.5rem 0;font-size:.8125rem;color:var(--dim)}
.key{width:24px;height:12px;vertical-align:-1px}
#filter{display:flex;flex-wrap:wrap;gap:.5rem 1.25rem;align-items:center;margin:1.5rem 0 .5rem;padding:.75rem 1rem;background:var(--soft);border-radius:.5rem}
#filter fieldset{display:flex;flex-wrap:wrap;gap:.25rem 1rem;margin:0;padding:0;border:0;min-width:0}
#filter legend{float:left;margin-right:1rem;padding:0;color:var(--dim)}
#filter label{white-space:nowrap}
.name{color:var(--dim)}
.count{color:var(--dim);font-variant-numeric:tabular-nums}
input[type=search]{font:inherit;width:16rem;max-width:60vw;margin-left:.35rem;padding:.25rem .5rem;color:var(--fg);background:var(--bg);border:1px solid var(--dim);border-radius:.3rem}
input[type=checkbox]{width:1rem;height:1rem;vertical-align:-2px;accent-color:var(--head)}
button{font:inherit;color:inherit;cursor:pointer}
.steps button{padding:.2rem .7rem;background:var(--bg);border:1px solid var(--dim);border-radius:.3rem}
#status{min-width:12rem;color:var(--dim)}
caption{text-align:left;color:var(--dim);font-size:.875rem;padding:.25rem 0}
#comparisons,#comparisons caption,#comparisons thead,#comparisons tbody{display:block}
#comparisons thead{position:sticky;top:0;z-index:2;background:var(--bg);border-bottom:2px solid var(--line);font-size:.875rem}
#comparisons tr{display:grid;grid-template-columns:8rem minmax(0,1.3fr) minmax(10.5rem,.8fr) 7.75rem 7.75rem 5.5rem 4.5rem minmax(12rem,1.4fr);grid-template-rows:auto 1fr;column-gap:.9rem;align-items:start}
#comparisons th{padding:0;text-align:left;font-weight:600}
#comparisons thead th{padding:.5rem 0;color:var(--dim);white-space:nowrap}
#comparisons thead th:nth-child(9){position:absolute;left:-100vw}
#comparisons thead th:nth-child(n+4):nth-child(-n+7){text-align:right}
thead button{padding:0;background:none;border:0;font-weight:inherit;text-decoration:underline dotted;text-underline-offset:.2em}
[aria-sort=ascending] button::after{content:" ▲"}
[aria-sort=descending] button::after{content:" ▼"}
[data-slowdown]{padding:.6rem 0;border-bottom:1px solid var(--line);content-visibility:auto;contain-intrinsic-size:auto 5.75rem}
[data-slowdown] td{padding:0;font-variant-numeric:tabular-nums}
[data-slowdown] td:nth-child(n+4):nth-child(-n+7){text-align:right}
[data-slowdown] td:nth-child(1) span{display:block;font-weight:400;font-size:.8125rem;color:var(--dim)}
:is(.regressed,.warned,.improved)>td:nth-child(1){font-weight:600}
:is(.regressed,.warned,.inconclusive.gates)>td:nth-child(1){color:var(--open)}
.regressed.gates>td:nth-child(1){color:var(--bad)}
.improved>td:nth-child(1){color:var(--good)}
[data-slowdown] td:nth-child(6){font-weight:600;white-space:nowrap}
[data-slowdown] td:nth-child(8){grid-area:1/8/3/9;display:grid;grid-template-columns:1fr 1fr;font-size:.75rem;line-height:1.2;color:var(--dim)}
[data-slowdown] td:nth-child(8) span{text-align:right}
[data-slowdown] td:nth-child(9){grid-column:2/8;max-width:62rem;font-size:.875rem;color:var(--dim)}
[data-slowdown] p{margin:0}
[data-slowdown] p::before{content:"note: "}
[data-slowdown] div{margin:.35rem 0 .25rem 1rem;white-space:pre-line;color:var(--fg)}
summary{cursor:pointer}
.plot{grid-column:1/-1;width:100%;height:2.75rem;background:var(--soft);border-radius:.2rem;overflow:hidden}
.plot path,.key path{fill:none;vector-effect:non-scaling-stroke;stroke-width:2px}
:is(.plot,.key) :is(.b,.h){stroke-width:5px;stroke-linecap:round;opacity:.75}
.past{height:1.5rem;margin-top:.3rem}
.past .h{opacity:1}
.b,.p{stroke:var(--base)}
.h{stroke:var(--head)}
.i{stroke:var(--fg)}
.t{stroke:var(--bad);stroke-dasharray:4 3}
.a{stroke:var(--dim);stroke-dasharray:4 3}
.l{stroke:var(--open);stroke-dasharray:1 3}
:is(.plot,.key) .z{fill:var(--zone);stroke:none}
[data-slowdown]:not(.gates) .t{stroke:var(--dim)}
[data-slowdown]:not(.gates) .z{fill:var(--line);opacity:.5}
.near>td:nth-child(8){grid-area:auto/1/auto/-1;margin:.5rem 0}
.near .plot{height:9rem}
.near .past{height:5rem}
.sides{border-collapse:collapse}
.sides th,.sides td{padding:.2rem 1.5rem .2rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}
.sides th{font-weight:400;color:var(--dim)}
.sides thead th{font-weight:600}
h2::first-letter{text-transform:uppercase}
.moved tbody th{color:var(--fg)}
.moved :is(th,td):nth-child(n+3){text-align:right;font-variant-numeric:tabular-nums}
.differs th b{color:var(--open)}
pre{margin:.5rem 0;padding:.75rem 1rem;background:var(--soft);border-radius:.5rem;overflow:auto}
code{font:.875rem/1.5 ui-monospace,"Cascadia Mono","DejaVu Sans Mono",Menlo,Consolas,monospace}
footer{margin-top:3rem;color:var(--dim);font-size:.875rem}
@media (max-width:70rem){
#comparisons thead{position:static}
#comparisons thead tr{display:flex;flex-wrap:wrap;gap:0 1rem}
#comparisons thead th{padding:.25rem 0}
#comparisons thead th:not([data-sort]){position:absolute;left:-100vw}
#comparisons [data-slowdown]{grid-template:none/repeat(4,minmax(0,1fr));row-gap:.2rem;contain-intrinsic-size:auto 10rem}
[data-slowdown] :nth-child(n):is(th,td:nth-child(3),td:nth-child(8),td:nth-child(9)){grid-area:auto/1/auto/-1}
[data-slowdown] td:nth-child(1){grid-column:1/3}
[data-slowdown] td:nth-child(1) span{display:inline}
[data-slowdown] td:nth-child(3){color:var(--dim)}
[data-slowdown] td:nth-child(n+4):nth-child(-n+5){text-align:left}
[data-slowdown] td:nth-child(6){grid-column:3/5;grid-row:1}
[data-slowdown] td:nth-child(7){grid-column:3/5}
[data-slowdown] td::before{color:var(--dim)}
[data-slowdown] td:nth-child(4)::before{content:"base "}
[data-slowdown] td:nth-child(5)::before{content:"head "}
[data-slowdown] td:nth-child(7)::before{content:"fails at "}
}
@media (max-width:34rem){
#comparisons [data-slowdown]{grid-template-columns:repeat(2,minmax(0,1fr));contain-intrinsic-size:auto 12rem}
[data-slowdown] td:nth-child(1){grid-column:1/2}
[data-slowdown] td:nth-child(1) span{display:block}
[data-slowdown] td:nth-child(6){grid-column:2/3}
#comparisons [data-slowdown] td:nth-child(7){grid-column:1/-1;text-align:left}
h1{font-size:1.125rem}
#filter .name{display:flex;align-items:center;width:100%}
input[type=search]{flex:1;min-width:0;max-width:none}
#filter legend{float:none;width:100%}
}
@media print{
:root{--bg:#fff;--soft:#fff;--fg:#000;--dim:#444;--line:#bbb;--bad:#b3261e;--open:#855300;--good:#1a6f35;--base:#6a737d;--head:#0b5cad;--zone:#b3261e1c}
#filter,#status,nav,.skip{display:none}
body{max-width:none;padding:0;font-size:.8125rem}
#comparisons thead{position:static}
[data-slowdown]{content-visibility:visible;break-inside:avoid}
.plot,.key{print-color-adjust:exact;-webkit-print-color-adjust:exact}
details::details-content{content-visibility:visible;display:block}
}
`
