// Pictures of every page, to be looked at: node tests/web/shots.mjs PROGRAM FOLDER [ADDRESS]
import { join } from 'node:path';
import { startBrowser, startServer } from './browser.mjs';

const [program, folder, address] = process.argv.slice(2);
const server = address ? { address, stop: () => undefined } : await startServer(program, '--replay', 'examples/profile/train.csv');
const browser = await startBrowser();
const VIEWS = ['recommend', 'recommend?job=serve&rate=20', 'recommend?tab=roofline', 'recommend?tab=changes', 'fleet', 'fleet?team=chat', 'batching', 'mig', 'prices', 'live'];
const only = process.env.ONLY;
for (const [scheme, width, height] of [['light', 1440, 1500], ['dark', 1440, 1000], ['light', 390, 1200]]) {
  for (const view of VIEWS) {
    if (only && !view.startsWith(only)) continue;
    if (scheme === 'dark' && view.includes('?')) continue;
    const page = await browser.page({ viewport: { width, height }, colorScheme: scheme });
    await page.goto(`${server.address}/${view}`);
    await page.waitForTimeout(view.startsWith('batching') ? 6000 : view.startsWith('live') ? 4000 : 3500);
    const name = `${view.replace(/[?=&]/g, '-')}-${scheme}-${width}`;
    await page.screenshot({ path: join(folder, `${name}.png`), fullPage: width > 1000 && scheme === 'light' });
    if (page.problems.length > 0) console.log(name, page.problems);
    await page.context().close();
  }
}
await browser.close();
server.stop();
