package report

// pageScript sorts and filters the comparisons and leads from one regression to
// the next. Everything else is there without it, and so is what it works with:
// it is only shown once it can be used.
const pageScript = `
'use strict';
(() => {
  const table = document.getElementById('comparisons');
  const form = document.getElementById('filter');
  const status = document.getElementById('status');
  const body = table.tBodies[0];
  const original = [...body.rows];
  let rows = original;

  let facts;
  const factsOf = (row) => {
    facts ??= new Map(original.map((r, i) => [r, {
      place: i, benchmark: r.children[1].textContent, metric: r.children[2].textContent, slowdown: Number(r.dataset.slowdown),
      name: (r.children[1].textContent + ' ' + r.children[2].textContent).toLowerCase(),
      kind: r.classList[0], gates: r.classList.contains('gates'),
    }]));
    return facts.get(row);
  };

  const say = () => {
    const n = rows.reduce((n, r) => n + (r.hidden ? 0 : 1), 0);
    status.textContent = n === rows.length ? '' : n + ' of ' + rows.length + ' comparisons are shown';
  };

  const filter = () => {
    const words = form.elements.name.value.toLowerCase().split(/\s+/).filter(Boolean);
    const kinds = new Set([...form.querySelectorAll('[name=kind]:checked')].map((box) => box.value));
    const gating = form.elements.gating?.checked;
    for (const row of rows) {
      const fact = factsOf(row);
      const shown = kinds.has(fact.kind) && (!gating || fact.gates) && words.every((w) => fact.name.includes(w));
      if (row.hidden === shown) row.hidden = !shown;
    }
    say();
  };

  const names = new Intl.Collator('en', {numeric: true});
  const orders = {
    outcome: (a, b) => b.place - a.place,
    benchmark: (a, b) => names.compare(a.benchmark, b.benchmark) || a.place - b.place,
    metric: (a, b) => names.compare(a.metric, b.metric) || a.place - b.place,
    change: (a, b) => a.slowdown === b.slowdown ? b.place - a.place : a.slowdown - b.slowdown,
  };
  const first = {outcome: 'descending', benchmark: 'ascending', metric: 'ascending', change: 'descending'};

  const sort = (header) => {
    const key = header.dataset.sort;
    const old = header.getAttribute('aria-sort');
    const direction = old === null ? first[key] : old === 'ascending' ? 'descending' : 'ascending';
    for (const h of table.tHead.rows[0].cells) h.removeAttribute('aria-sort');
    header.setAttribute('aria-sort', direction);
    const sign = direction === 'ascending' ? 1 : -1;
    rows = [...original].sort((a, b) => sign * orders[key](factsOf(a), factsOf(b)));
    body.append(...rows);
  };

  for (const header of table.querySelectorAll('th[data-sort]')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = header.textContent;
    button.addEventListener('click', () => sort(header));
    header.replaceChildren(button);
  }

  const step = (by) => {
    const found = rows.filter((r) => r.classList.contains('regressed') && !r.hidden);
    if (found.length === 0) {
      status.textContent = 'No regression is shown';
      return;
    }
    const at = found.indexOf(document.querySelector('tr[tabindex]'));
    const to = at < 0 ? (by > 0 ? 0 : found.length - 1) : (at + by + found.length) % found.length;
    document.querySelector('tr[tabindex]')?.removeAttribute('tabindex');
    found[to].tabIndex = -1;
    found[to].focus();
    found[to].scrollIntoView({block: 'center'});
    status.textContent = 'Regression ' + (to + 1) + ' of ' + found.length;
  };
  // An open comparison is looked at from near.
  body.addEventListener('toggle', (e) => e.target.closest('tr').classList.toggle('near', e.target.open), true);

  const next = document.getElementById('next');
  const previous = document.getElementById('previous');
  if (original.some((r) => r.classList.contains('regressed'))) {
    next.addEventListener('click', () => step(1));
    previous.addEventListener('click', () => step(-1));
  } else {
    next.parentElement.hidden = true;
  }

  form.addEventListener('submit', (e) => e.preventDefault());
  form.addEventListener('input', filter);
  form.addEventListener('keydown', (e) => {
    if (e.key === 'Escape' && e.target.name === 'name') {
      e.target.value = '';
      filter();
    }
  });
  form.hidden = false;
  if (form.elements.name.value !== '' || form.querySelector('[name=kind]:not(:checked)') || form.elements.gating?.checked) filter();
})();
`
