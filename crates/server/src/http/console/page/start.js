// Tabs, keys, light and dark, login; and the start of it all.

const refresh = { overview, keys, patterns, copies, tenants, schema, statements: async () => {} };
let tab = 'overview';
let timer = null;
// A look that was overtaken by a change of tab draws nothing that anybody sees, and must not set the clock either.
let turn = 0;

async function look() {
  clearTimeout(timer);
  const mine = (turn += 1);
  forbidden = '';
  try {
    await refresh[tab]();
    if (mine === turn) trouble(forbidden);
    // For whoever measures how long that took.
    const told = document.documentElement.dataset;
    told.looked = tab;
    told.lookedAt ??= performance.now().toFixed();
  } catch (error) {
    if (mine === turn && $('login').hidden) trouble(error.message);
  }
  if (mine === turn && $('login').hidden && tab !== 'schema' && tab !== 'statements') timer = setTimeout(look, EVERY_MS);
}

function show(name) {
  tab = name;
  for (const section of document.querySelectorAll('#console > section')) section.hidden = section.id !== name;
  for (const button of document.querySelectorAll('nav button')) button.setAttribute('aria-current', String(button.dataset.tab === name));
  if (location.hash.slice(1) !== name) location.hash = name;
  look();
}

function showLogin() {
  clearTimeout(timer);
  turn += 1;
  $('console').hidden = true;
  $('login').hidden = false;
  $('logout').hidden = true;
  $('sections').hidden = true;
  $('who').textContent = '';
  $('role').focus();
}

async function login(role, password) {
  await call('/api/login', { role, password });
  enter(role);
}

function enter(role) {
  $('login').hidden = true;
  $('console').hidden = false;
  $('sections').hidden = false;
  $('who').textContent = role ? `as ${role}` : 'no login needed';
  $('logout').hidden = !role;
  trouble('');
  const wanted = location.hash.slice(1);
  show(refresh[wanted] ? wanted : 'overview');
}

$('login-form').addEventListener('submit', async (event) => {
  event.preventDefault();
  try {
    await login($('role').value, $('password').value);
  } catch (error) {
    trouble(error.message);
  }
  $('password').value = '';
});
$('logout').addEventListener('click', async () => {
  await call('/api/logout', {}).catch(() => {});
  showLogin();
});
for (const button of document.querySelectorAll('nav button')) button.addEventListener('click', () => show(button.dataset.tab));
for (const id of ['window', 'by', 'of', 'rows-are']) {
  $(id).addEventListener('change', () => {
    zoomed = null;
    look();
  });
}
window.addEventListener('hashchange', () => {
  const wanted = location.hash.slice(1);
  if (refresh[wanted] && wanted !== tab && $('login').hidden) show(wanted);
});
window.addEventListener('resize', () => {
  if (tab === 'keys') drawHeat();
});

// Digits choose a tab, r looks again; not while somebody types.
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(input|textarea|select)$/i.test(event.target.tagName) || !$('login').hidden) return;
  const wanted = Object.keys(refresh)[Number(event.key) - 1];
  if (wanted) show(wanted);
  if (event.key === 'r') look();
});

// As the system has it, or the other way round; remembered in this browser.
const THEMES = ['auto', 'light', 'dark'];
function theme(name) {
  document.documentElement.dataset.theme = name;
  $('theme').textContent = { auto: 'Theme: system', light: 'Theme: light', dark: 'Theme: dark' }[name];
}
$('theme').addEventListener('click', () => {
  const next = THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length];
  theme(next);
  localStorage.setItem('theme', next);
});
theme(THEMES.includes(localStorage.getItem('theme')) ? localStorage.getItem('theme') : 'auto');

// Who is logged in already, or is not asked for a password, is let in.
call('/api/session', {}).then((answer) => enter(answer.role)).catch((error) => {
  showLogin();
  if (error.message !== 'log in first') trouble(error.message);
});
