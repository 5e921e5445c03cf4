// Screenshots of every page for review: node tests/web/shots.mjs PROGRAM FOLDER [ADDRESS]
import { join } from 'node:path';
import { startBrowser, startServer } from './browser.mjs';

const [program, folder, address] = process.argv.slice(2);
const server = address ? { address, stop: () => undefined } : await startServer(program, '--replay', 'examples/profile/train.csv', '--ledger', 'examples/decisions/ledger.db');
const browser = await startBrowser();
const VIEWS = ['recommend', 'recommend?job=serve&rate=20', 'recommend?tab=roofline', 'recommend?tab=changes', 'recommend?tab=rejected', 'fleet', 'fleet?team=chat&heat=verdict', 'batching', 'mig', 'prices', 'live', 'decisions'];
const only = process.env.ONLY;
for (const [scheme, width, height] of [['light', 1280, 900], ['dark', 1280, 900], ['light', 800, 1000], ['light', 360, 780], ['dark', 360, 780]]) {
  for (const view of VIEWS) {
    if (only && !view.startsWith(only)) continue;
    if ((scheme === 'dark' || width === 800) && view.includes('?')) continue;
    const page = await browser.page({ viewport: { width, height }, colorScheme: scheme });
    await page.goto(`${server.address}/${view}`);
    await page.waitForTimeout(view.startsWith('batching') ? 6000 : view.startsWith('live') ? 4000 : 3500);
    const name = `${view.replace(/[?=&]/g, '-')}-${scheme}-${width}`;
    await page.screenshot({ path: join(folder, `${name}.png`), fullPage: process.env.WHOLE === '1' || scheme === 'light' });
    if (page.problems.length > 0) console.log(name, page.problems);
    await page.context().close();
  }
}
await browser.close();
server.stop();
