// Run inside the page: what a reader would complain about, as a list of sentences.
(expected) => {
  const wrong = [];
  const box = (e) => e.getBoundingClientRect();
  const visible = (e, w = 1, h = 1) => { const b = box(e); return b.width >= w && b.height >= h && getComputedStyle(e).visibility !== 'hidden'; };
  const name = (e) => `${e.tagName.toLowerCase()} "${(e.textContent || '').trim().slice(0, 60)}"`;

  // Every table has its diagram, with a row for every column.
  const diagrams = new Map([...document.querySelectorAll('table.chebotko')].map((t) => [t.querySelector('th').textContent.replace(/ view$/, ''), t]));
  for (const [table, columns] of Object.entries(expected.tables || {})) {
    const diagram = diagrams.get(table);
    if (!diagram || !visible(diagram, 100, 30)) wrong.push(`table ${table} has no visible diagram`);
    else if (diagram.querySelectorAll('tbody tr').length !== columns) wrong.push(`the diagram of ${table} does not have ${columns} columns`);
    else if (![...diagram.querySelectorAll('td:last-child')].some((td) => td.textContent === 'K')) wrong.push(`${table} shows no partition key`);
  }
  // Findings are there, all of them, and can be read.
  const findings = [...document.querySelectorAll('article.finding')];
  if (expected.findings !== undefined && findings.length !== expected.findings) wrong.push(`${findings.length} findings are shown, not ${expected.findings}`);
  for (const f of findings) if (!visible(f, 200, 20)) wrong.push(`not visible: ${name(f)}`);
  for (const text of expected.texts || []) if (!document.documentElement.textContent.includes(text)) wrong.push(`the page does not say ${text}`);
  // Charts have boxes, and what they draw is not empty.
  const growth = [...document.querySelectorAll('svg.growth')];
  if (expected.growth !== undefined && growth.length < expected.growth) wrong.push(`${growth.length} growth curves, not ${expected.growth}`);
  for (const chart of growth) {
    const lines = [...chart.querySelectorAll('polyline')];
    if (!visible(chart, 200, 80) || !lines.length || lines.some((l) => l.getBBox().width < 100)) wrong.push('a growth curve is empty');
  }
  if (expected.edges !== undefined) {
    const graph = document.querySelector('svg.graph');
    const edges = graph ? [...graph.querySelectorAll('path')] : [];
    if (!graph || !visible(graph, 400, 60)) wrong.push('the access-pattern graph is not visible');
    if (edges.length !== expected.edges) wrong.push(`${edges.length} lines in the access-pattern graph, not ${expected.edges}`);
    for (const edge of edges) if (edge.getBBox().width < 50) wrong.push('a line of the graph is empty');
  }
  for (const [selector, least] of Object.entries(expected.shapes || {})) {
    const shapes = [...document.querySelectorAll(selector)].filter((s) => visible(s, 0.5, 0.5));
    if (shapes.length < least) wrong.push(`${shapes.length} visible ${selector}, not ${least}`);
  }
  // No text leaves its box.
  if (document.documentElement.scrollWidth > innerWidth + 1) wrong.push(`the page is ${document.documentElement.scrollWidth} wide, the window ${innerWidth}`);
  for (const e of document.querySelectorAll('h1,h2,h3,p,li,td,th,summary,article,small')) {
    if (visible(e) && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== 'inline') wrong.push(`overflows its box: ${name(e)}`);
  }
  for (const svg of document.querySelectorAll('svg')) {
    const outer = box(svg);
    const texts = [...svg.querySelectorAll('text')].filter((t) => t.textContent.trim());
    for (const t of texts) {
      const b = box(t);
      if (b.left < outer.left - 1 || b.right > outer.right + 1 || b.top < outer.top - 1 || b.bottom > outer.bottom + 1) wrong.push(`leaves its picture: ${name(t)}`);
      const card = t.closest('g.box');
      if (card && b.right > box(card.querySelector('rect')).right) wrong.push(`leaves its box: ${name(t)}`);
    }
    for (let i = 0; i < texts.length; i++) for (let j = i + 1; j < texts.length; j++) {
      const a = box(texts[i]), b = box(texts[j]);
      const w = Math.min(a.right, b.right) - Math.max(a.left, b.left), h = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (w > 2 && h > 4) wrong.push(`texts on top of each other: ${name(texts[i])} and ${name(texts[j])}`);
    }
  }
  // Text stands out from its background: 4.5 to 1, as WCAG asks.
  const rgb = (c) => (c.match(/[\d.]+/g) || []).map(Number);
  const light = (c) => { const [r, g, b] = c.map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const behind = (e) => { for (let p = e; p; p = p.parentElement) { const c = rgb(getComputedStyle(p).backgroundColor); if (c.length && (c.length < 4 || c[3] > 0)) return c; } return [255, 255, 255]; };
  const seen = new Set();
  for (const e of document.querySelectorAll('p,h1,h2,h3,small,td,th,li,b,span,a,pre,summary,mark,footer')) {
    if (!visible(e) || ![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) continue;
    const [a, b] = [light(rgb(getComputedStyle(e).color).slice(0, 3)), light(behind(e).slice(0, 3))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const key = `${e.tagName}.${e.className}`;
    if (contrast < 4.5 && !seen.has(key)) { seen.add(key); wrong.push(`contrast ${contrast.toFixed(1)} is too low: ${key} ${name(e)}`); }
  }
  return JSON.stringify(wrong);
}
