// Checks the page's types against the program's API, its lint rules and its unit tests: node units_test.mjs PROGRAM.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './browser.mjs';

const web = join(ROOT, 'web');
if (!existsSync(join(web, 'node_modules/.bin/vitest'))) {
  console.error('the packages of web/package.json are missing: run npm install in web/');
  process.exit(1);
}
writeFileSync(join(web, 'openapi.json'), execFileSync(process.argv[2], ['serve', '--openapi', '--format', 'json']));
const done = spawnSync('npm', ['run', 'check', '--silent'], { cwd: web, stdio: 'inherit' });
process.exit(done.status ?? 1);
