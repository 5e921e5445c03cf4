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

/** The browser; `page` creates a page that records its errors. */
export async function startBrowser() {
  if (!CHROMIUM) stop('chromium is not installed: run tools/setup test');
  const { chromium } = load('playwright-core');
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
  const page = async (options = {}) => {
    const context = await browser.newContext({ viewport: { width: 1440, height: 960 }, colorScheme: 'light', permissions: ['clipboard-read', 'clipboard-write'], ...options });
    if (process.env.PAGE) await servePage(context, process.env.PAGE);
    const made = await context.newPage();
    made.problems = [];
    made.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') made.problems.push(`console: ${message.text()}`);
    });
    made.on('pageerror', (error) => made.problems.push(`error: ${error.message}`));
    made.on('request', (request) => {
      const host = new URL(request.url());
      if (!['data:', 'blob:'].includes(host.protocol) && host.hostname !== '127.0.0.1') made.problems.push(`asked ${host.hostname}`);
    });
    return made;
  };
  return { page, close: () => browser.close() };
}

/** Serious and critical findings of axe. */
export async function seriousFindings(page) {
  await page.evaluate(load('axe-core').source);
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
