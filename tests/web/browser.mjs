// A real browser and a real server for the tests of the page. Both need packages of `tools/setup test`.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const web = createRequire(join(ROOT, 'web/package.json'));

function stop(why) {
  console.error(why);
  process.exit(1);
}

export function load(name) {
  try {
    return web(name);
  } catch {
    return stop(`the npm package ${name} is missing: run npm install in web/`);
  }
}

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);

/** Starts `rightsize serve` with flags and environment variables (objects); returns its address and a function to stop it. */
export function startServer(program, ...given) {
  const environment = { ...process.env, XDG_DATA_HOME: '/nonexistent', XDG_CONFIG_HOME: '/nonexistent' };
  delete environment.RIGHTSIZE_CATALOG;
  const flags = given.filter((each) => typeof each === 'string');
  Object.assign(environment, ...given.filter((each) => typeof each === 'object'));
  const child = spawn(program, ['serve', '--listen', '127.0.0.1:0', ...flags], { cwd: ROOT, env: environment, stdio: ['ignore', 'ignore', 'pipe'] });
  return new Promise((done, failed) => {
    let said = '';
    child.stderr.on('data', (text) => {
      said += text;
      const found = /(https?:\/\/127\.0\.0\.1:\d+)\//.exec(said);
      if (found) done({ address: found[1], pid: child.pid, stop: () => child.kill('SIGTERM') });
    });
    child.on('exit', () => failed(new Error(`the server did not start: ${said}`)));
  });
}

/**
 * With PAGE=FOLDER, the page comes from a folder that `npm run build -- --outDir FOLDER` wrote, and only answers come from the server:
 * a changed page is tested without building the program.
 */
const KINDS = { '.js': 'text/javascript', '.css': 'text/css', '.html': 'text/html', '.svg': 'image/svg+xml' };
async function servePage(context, folder) {
  await context.route((url) => url.hostname === '127.0.0.1' && !url.pathname.startsWith('/api/'), (route) => {
    const wanted = join(folder, new URL(route.request().url()).pathname);
    const file = extname(wanted) !== '' && existsSync(wanted) ? wanted : join(folder, 'index.html');
    return route.fulfill({ body: readFileSync(file), contentType: KINDS[extname(file)] ?? 'application/octet-stream' });
  });
}

/** In the page: counts its requests, and its timers of up to a second, so that a test can wait for them. */
function countWork() {
  const pending = new Set();
  const counted = (promise) => {
    const work = {};
    pending.add(work);
    return promise.finally(() => { pending.delete(work); });
  };
  const { fetch, setTimeout, clearTimeout } = globalThis;
  globalThis.setTimeout = (run, delay = 0, ...rest) => {
    if (delay > 1000) return setTimeout(run, delay, ...rest);
    const id = setTimeout(() => { pending.delete(id); run(...rest); }, delay);
    pending.add(id);
    return id;
  };
  globalThis.clearTimeout = (id) => { pending.delete(id); clearTimeout(id); };
  globalThis.fetch = async (...given) => {
    const response = await counted(fetch(...given));
    for (const read of ['json', 'blob']) response[read] = () => counted(Response.prototype[read].call(response));
    return response;
  };
  globalThis.workLeft = () => pending.size;
}

/** Keeps the page's errors in `problems`. */
function watch(page) {
  page.problems = [];
  page.on('request', (request) => {
    const { protocol, hostname } = new URL(request.url());
    if (!['data:', 'blob:'].includes(protocol) && hostname !== '127.0.0.1') page.problems.push(`asked ${hostname}`);
  });
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') page.problems.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => page.problems.push(`error: ${error.message}`));
}

/** Waits until nothing is loading: no request, no timer, no old answer (but one that a wrong field keeps), and the page is drawn. Fails if that takes a minute. */
export async function settled(page) {
  const waitsFor = () => page.evaluate(() => new Promise((done) => {
    requestAnimationFrame(() => requestAnimationFrame(() => {
      const spinning = [...document.querySelectorAll('.stale:not(.kept), .busy')].map((each) => each.parentElement.innerText.trim().slice(0, 60));
      done(globalThis.workLeft() > 0 ? ['a request or timer', ...spinning] : spinning);
    }));
  }));
  const until = Date.now() + 60000;
  for (let calm = 0; calm < 2; await page.waitForTimeout(20)) {
    const waiting = await waitsFor();
    calm = waiting.length === 0 ? calm + 1 : 0;
    if (Date.now() > until) throw new Error(`the page still waits for ${waiting.join(', ')}`);
  }
}

const USUAL = { viewport: { width: 1440, height: 960 }, colorScheme: 'light' };

/**
 * The browser. `page` opens a page that records its errors. `borrow` lends the page of this name, as good as new: opening one
 * costs as much processor time as loading five views.
 */
export async function startBrowser() {
  if (!CHROMIUM) stop('chromium is not installed: run tools/setup test');
  const { chromium } = load('playwright-core');
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
  const page = async (options = {}) => {
    const context = await browser.newContext({ ...USUAL, permissions: ['clipboard-read', 'clipboard-write'], ...options });
    await context.addInitScript(countWork);
    if (process.env.PAGE) await servePage(context, process.env.PAGE);
    const made = await context.newPage();
    watch(made);
    return made;
  };
  const lent = new Map();
  const borrow = async (options = {}, name = JSON.stringify(options)) => {
    const known = lent.get(name);
    const made = known && !known.isClosed() ? known : await page(options);
    lent.set(name, made);
    if (made !== known) return made;
    await made.unrouteAll({ behavior: 'ignoreErrors' });
    if (made.url() !== 'about:blank') await made.evaluate(() => { localStorage.clear(); sessionStorage.clear(); });
    await made.goto('about:blank');
    made.problems.length = 0;
    const { viewport, colorScheme } = { ...USUAL, ...options };
    await made.setViewportSize(viewport);
    await made.emulateMedia({ colorScheme, media: null });
    return made;
  };
  return { page, borrow, close: () => browser.close() };
}

/** In the page: every kind of element, by its place, look and attributes, as numbers. */
function kindsOfElements() {
  const VALUES = ['class', 'role', 'type', 'fill', 'stroke', 'aria-pressed', 'aria-selected', 'aria-current', 'aria-invalid', 'aria-busy', 'aria-disabled'];
  const kinds = new Set();
  const walk = (element, above) => {
    const attributes = element.getAttributeNames().sort().map((name) => (VALUES.includes(name) ? `${name}=${element.getAttribute(name)}` : name));
    let hash = above;
    for (const letter of `${element.tagName} ${attributes.join(' ')} ${element.textContent.trim() === ''}`) hash = (Math.imul(hash, 31) + letter.codePointAt(0)) | 0;
    kinds.add(hash);
    for (const child of element.children) walk(child, hash);
  };
  walk(document.documentElement, 17);
  return [...kinds];
}

/** The kinds of elements that axe has seen, in each theme and width. */
const examined = new Map();

/** Serious and critical findings of axe. It looks at a page only if that has a kind of element it has not seen at this width and in this theme. */
export async function seriousFindings(page) {
  const look = `${page.viewportSize().width} ${await page.evaluate(() => document.documentElement.dataset.theme)}`;
  const kinds = await page.evaluate(kindsOfElements);
  const seen = examined.get(look) ?? new Set();
  if (kinds.every((kind) => seen.has(kind))) return [];
  examined.set(look, new Set([...seen, ...kinds]));
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(load('axe-core').source);
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } }));
  return found.violations
    .filter((violation) => ['serious', 'critical'].includes(violation.impact))
    .map((violation) => `${violation.id}: ${violation.nodes.slice(0, 3).map((node) => `${node.target.join(' ')} (${node.failureSummary?.split('\n')[1]?.trim()})`).join('; ')}`);
}

export function pictures(folder) {
  mkdirSync(folder, { recursive: true });
  return (page, name) => page.screenshot({ path: join(folder, `${name}.png`), fullPage: false });
}

export const failures = [];
export function check(condition, what) {
  if (condition) return;
  failures.push(what);
  if (process.env.VERBOSE) console.log(`FAILED ${what}`);
}
