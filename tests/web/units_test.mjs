// The page's types, lint rules and unit tests: npm run check in web/. Exits 77 where its packages are missing.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './browser.mjs';

const web = join(ROOT, 'web');
if (!existsSync(join(web, 'node_modules/.bin/vitest'))) {
  console.log("skipped: the packages of web/package.json are missing; 'tools/setup test' installs them");
  process.exit(77);
}
const done = spawnSync('npm', ['run', 'check', '--silent'], { cwd: web, stdio: 'inherit' });
process.exit(done.status ?? 1);
