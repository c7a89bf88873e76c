// The console asks CQL through /api/query as the role that has logged in, and draws what comes back. No libraries, nothing from elsewhere:
// these files are sent one behind the other as /console.js. This one holds what the others share.
'use strict';

const $ = (id) => document.getElementById(id);
const EVERY_MS = 2000;

async function call(path, body) {
  const response = await fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json', 'X-Partita-Console': '1' }, body: JSON.stringify(body) });
  let answer;
  try {
    answer = await response.json();
  } catch {
    throw new Error(`the server answered ${response.status} and nothing that can be read`);
  }
  if (response.status === 401 && path === '/api/query') showLogin();
  if (answer.error) throw new Error(answer.error);
  return answer;
}

// Rows as objects by column name.
async function rows(cql) {
  const answer = await call('/api/query', { cql });
  return answer.rows.map((row) => Object.fromEntries(answer.columns.map((column, at) => [column.name, row[at]])));
}

// The same of a table that the role may not be allowed to read: then it is empty, and the page says what is missing.
let forbidden = '';
async function shown(cql) {
  try {
    return await rows(cql);
  } catch (error) {
    if (!/permission/.test(error.message)) throw error;
    forbidden = `${error.message}. GRANT SELECT ON KEYSPACE system_views lets a role see all of this page.`;
    return [];
  }
}

function trouble(text) {
  $('trouble').hidden = !text;
  $('trouble').textContent = text || '';
}

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function drawn(name, attributes, ...children) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// Columns: [title, value of a row, class, class of a row]. On narrow screens the titles stand beside the values.
function fill(table, found, columns, empty) {
  const head = element('tr', {}, ...columns.map(([title, , kind]) => element('th', { scope: 'col', class: kind || '' }, title)));
  const cell = (row) => ([title, value, kind, of]) => element('td', { class: [kind, of && of(row)].filter(Boolean).join(' '), 'data-title': title }, value(row) ?? '');
  const body = found.map((row) => element('tr', {}, ...columns.map(cell(row))));
  if (!body.length) body.push(element('tr', {}, element('td', { colspan: columns.length, class: 'unseen' }, empty || 'nothing yet')));
  table.replaceChildren(element('thead', {}, head), element('tbody', {}, ...body));
}

const number = (text) => Number(text || 0);
// A list as CQL writes it.
const list = (text) => (text || '[]').replace(/[[\]]/g, '').split(',').filter((part) => part.trim()).map(Number);

function short(n) {
  if (n >= 1e9) return (n / 1e9).toFixed(1) + ' G';
  if (n >= 1e6) return (n / 1e6).toFixed(1) + ' M';
  if (n >= 1e4) return (n / 1e3).toFixed(1) + ' k';
  if (n >= 10 || n === Math.round(n)) return n.toFixed(0);
  return n >= 0.05 ? n.toFixed(1) : '0';
}
const bytes = (n) => (n < 1e4 ? `${n.toFixed(0)} B` : short(n) + 'B');
const percent = (text) => (number(text) * 100).toFixed(1) + ' %';
const rate = (column) => (row) => short(number(row[column]));
const millis = (text) => (text === null || text === undefined ? '' : number(text).toFixed(1));
const moment = (text) => (text ? new Date(text.replace(' ', 'T')).toLocaleString() : '');

// The last values of something, kept while the page is open; drawn as a small line.
const lines = new Map();
const LINE_LENGTH = 60;
function sparkline(name, value, about) {
  const values = lines.get(name) || [];
  values.push(value);
  if (values.length > LINE_LENGTH) values.shift();
  lines.set(name, values);
  const top = Math.max(1e-9, ...values);
  const points = values.map((v, at) => `${(at + LINE_LENGTH - values.length) * 2},${(19 - (17 * v) / top).toFixed(1)}`);
  return drawn('svg', { class: 'spark', viewBox: '0 0 118 20', role: 'img', 'aria-label': `${about}, now ${short(value)}` }, drawn('polyline', { points: points.join(' ') }));
}
