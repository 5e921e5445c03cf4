// Measures in a real browser how long it takes from moving a slider to new plans on the screen: node bench/drag_bench.mjs PROGRAM
//
// Each input event that changes the value of the slider counts, from its time stamp to the first frame painted with
// an answer that was requested at or after it. "steps": one press of an arrow key, then a pause. "jumps": ten steps at once (Page Up), which
// cannot be prefetched. Neither visits a value twice. "drag": the mouse at 60 moves per second for two seconds.
// Also prints the server's CPU time per answer, which does not depend on other work on the machine.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { startBrowser, startServer } from '../tests/web/browser.mjs';

const program = resolve(process.argv[2] ?? 'build/release/rightsize');
const CASES = [
  ['training, deadline', '/recommend', 'Deadline'],
  ['training, price', '/recommend', /^What if/],
  ['training, context', '/recommend', /^Context/],
  ['training, batch', '/recommend', /^Batch/],
  ['training 70B, deadline', '/recommend?model=llama-3.1-70b', 'Deadline'],
  ['service, rate', '/recommend?job=serve', 'Requests'],
  ['service, TTFT limit', '/recommend?job=serve', 'TTFT limit'],
  ['service, context', '/recommend?job=serve', /^Context/],
  ['service, price', '/recommend?job=serve', /^What if/],
  ['service 70B, rate', '/recommend?job=serve&model=llama-3.1-70b&rate=2', 'Requests'],
  ['commitment, GPUs', '/commit', 'Always in use'],
  ['window, items', '/window', 'Items per day'],
  ['energy, requests', '/energy', 'Requests at once'],
  ['running service, TTFT limit', '/service', 'p95 TTFT limit'],
  ['RL, prompts', '/rl', 'Prompts per step'],
  ['KV cache, users', '/cache', 'Users'],
  ['autoscaling, rate', '/autoscale', 'Mean requests'],
  ['batching, rate', '/batching', 'Requests'],
].filter(([name]) => !process.env.ONLY || name.includes(process.env.ONLY));

/** In the page: the times of inputs, and of frames painted with the answer to a question and the time of that question. */
function watchPage() {
  globalThis.inputs = [];
  globalThis.frames = [];
  // A slider reports its value after the page has drawn it; most mouse moves do not change it.
  let said;
  const note = (event) => {
    const at = event.timeStamp;
    const slider = event.target;
    requestAnimationFrame(() => setTimeout(() => {
      const says = slider.getAttribute('aria-valuetext');
      if (says !== said) globalThis.inputs.push(at);
      said = says;
    }, 0));
  };
  addEventListener('input', note, true);
  addEventListener('keydown', note, true); // the page handles the keys of sliders itself
  const fetched = globalThis.fetch;
  const painted = (asked, got) => requestAnimationFrame(() => setTimeout(() => globalThis.frames.push({ asked, got, painted: performance.now() }), 0));
  let job = 0;
  globalThis.fetch = async (path, options) => {
    const asked = performance.now();
    if (String(path).startsWith('/api/jobs/')) job = asked;
    const started = job;
    const response = await fetched(path, options);
    if (String(path).startsWith('/api/job-events/')) {
      // A search sends its answer as the last event of a stream.
      const body = response.body.pipeThrough(new TransformStream({ flush: () => { painted(started, performance.now()); } }));
      return new Response(body, { status: response.status, headers: response.headers });
    }
    // While a slider moves, Recommend requests only plans; the rest of its answer follows.
    const details = location.pathname === '/recommend' && (String(path) !== '/api/recommend' || !String(options?.body).includes('plans-only'));
    if (options?.priority === 'low' || options?.method !== 'POST' || !String(path).startsWith('/api/') || String(path).startsWith('/api/jobs/') || details) return response;
    const json = response.json.bind(response);
    response.json = async () => {
      const value = await json();
      painted(asked, performance.now());
      return value;
    };
    return response;
  };
}

/** CPU milliseconds so far, over all threads, also those that have ended; Linux counts in steps of 10 ms. */
function processorTime(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

const quantile = (values, share) => [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(share * values.length))];

/** For each input, the time to the first frame that shows it or something newer. */
async function latencies(page) {
  return page.evaluate(() =>
    globalThis.inputs.map((at) => Math.min(...globalThis.frames.filter((frame) => frame.asked >= at).map((frame) => frame.painted)) - at).filter(Number.isFinite),
  );
}
const forget = (page) => page.evaluate(() => { globalThis.inputs = []; globalThis.frames = []; });
async function calm(page) {
  for (let quiet = 0, until = Date.now() + 30000; quiet < 6 && Date.now() < until; ) {
    await page.waitForTimeout(150);
    quiet = (await page.locator('.stale, .busy').count()) === 0 ? quiet + 1 : 0;
  }
}

/** Presses a key repeatedly, with a pause after each press. */
async function press(page, key, times) {
  const all = [];
  const parts = [];
  for (let i = 0; i < times; ++i) {
    await forget(page);
    await page.keyboard.press(key);
    await page.waitForTimeout(350);
    for (const until = Date.now() + 5000; (await latencies(page)).length === 0 && Date.now() < until; ) await page.waitForTimeout(50);
    all.push(...(await latencies(page)));
    parts.push(...(await page.evaluate(() => globalThis.frames.map((frame) => [frame.asked - globalThis.inputs[0], frame.got - frame.asked, frame.painted - frame.got]))));
  }
  return { all, parts };
}

async function drag(page, slider) {
  const box = await slider.boundingBox();
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width * 0.35, y);
  await page.mouse.down();
  await forget(page);
  for (let i = 0; i < 120; ++i) {
    await page.mouse.move(box.x + box.width * (0.35 + 0.3 * (i / 120)), y);
    await page.waitForTimeout(15);
  }
  await page.waitForTimeout(600);
  const found = await latencies(page);
  const shown = await page.evaluate(() => globalThis.frames.length);
  await page.mouse.up();
  return { found, shown };
}

const server = await startServer(program);
const browser = await startBrowser();
console.log('case                        steps p50   p95   jumps p50   p95   drag p50   p95   frames/s   server CPU/answer   a jump: to asking + answering + painting');
for (const [name, view, label] of CASES) {
  const open = async () => {
    const page = await browser.page();
    await page.addInitScript(watchPage);
    await page.goto(server.address + view);
    await page.getByTestId('answer').waitFor();
    await calm(page);
    const slider = page.getByRole('slider', { name: label }).first();
    await slider.focus();
    await page.waitForTimeout(350);
    return { page, slider };
  };
  const { page: other } = await open();
  const jumps = await press(other, 'PageDown', 6);
  await other.context().close();
  const { page, slider } = await open();
  const steps = await press(page, 'ArrowUp', 9);
  const up = await press(page, 'PageUp', 6);
  for (const part of ['all', 'parts']) jumps[part].push(...up[part]);
  await calm(page);
  const before = processorTime(server.pid);
  const { found, shown } = await drag(page, slider);
  const cost = (processorTime(server.pid) - before) / Math.max(1, shown);
  const ms = (value) => (value === undefined ? '-' : `${Math.round(value)}`).padStart(5);
  console.log(`${name.padEnd(26)}  ${ms(quantile(steps.all, 0.5))} ms ${ms(quantile(steps.all, 0.95))}   ${ms(quantile(jumps.all, 0.5))} ms ${ms(quantile(jumps.all, 0.95))}    ${ms(quantile(found, 0.5))} ms ${ms(quantile(found, 0.95))}   ${(shown / 2.4).toFixed(1).padStart(8)}   ${ms(cost)} ms   ${[0, 1, 2].map((i) => ms(quantile(jumps.parts.map((part) => part[i]), 0.5))).join(' + ')} ms`);
  await page.context().close();
}
await browser.close();
server.stop();
