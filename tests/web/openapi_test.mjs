// Every response of the API matches the schema in the OpenAPI file: node openapi_test.mjs PROGRAM
import { check, failures, load, ROOT, startServer } from './browser.mjs';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const Ajv = load('ajv/dist/2020').default;
const server = await startServer(process.argv[2]);
const api = await (await fetch(`${server.address}/api/openapi.json`)).json();
const ajv = new Ajv({ strict: false, allErrors: true });
ajv.addSchema({ $id: 'api', components: api.components });

/** The first few places where a document differs from its schema. */
function wrong(name, document) {
  const validate = ajv.compile({ $ref: `api#/components/schemas/${name}` });
  return validate(document) ? [] : validate.errors.slice(0, 3).map((error) => `${error.instancePath || '/'} ${error.message}`);
}

const yaml = readFileSync(join(ROOT, 'examples/mig/workloads.yaml'), 'utf8');
const CASES = [
  ['recommend', { model: 'llama-3.1-8b', tokens: '1B', deadline: '7d', purchase: 'on-demand,spot,1y' }],
  ['recommend', { model: 'llama-3.1-8b', tokens: '1B', deadline: '7d', 'plans-only': true }],
  ['recommend', { model: 'llama-3.1-70b', tokens: '10B', deadline: '1h', 'max-gpus': 8 }],
  ['recommend', { job: 'serve', model: 'qwen2.5-1.5b', rate: '5/s', 'ttft-slo': '2s', 'tpot-slo': '50ms' }],
  ['recommend', { job: 'serve', model: 'bert-large', rate: '100/s', 'ttft-slo': '50ms' }],
  ['recommend', { model: 'llama-3.1-8b', tokens: '1B', emit: 'kubernetes' }],
  ['estimate', { model: 'llama-3.1-8b', gpu: 'h100-sxm', batch: 4, roofline: true }],
  ['estimate', { model: 'llama-3.1-8b', gpu: 'h100-sxm', job: 'serve', concurrency: 8 }],
  ['memory', { model: 'llama-3.1-8b', batch: 2 }],
  ['memory', { model: 'llama-3.1-70b', job: 'serve', gpu: 'h200-sxm' }],
  ['batch', { model: 'bert-large', gpu: 'l4', arrivals: 'poisson:100', slo: 'p99=100ms' }],
  ['batch', { model: 'qwen2.5-1.5b', gpu: 'l4', arrivals: 'poisson:2', requests: '2000' }],
  ['mig', { workloads: yaml }],
  ['mig', { gpu: 'a100-80gb-sxm', check: '3g.40gb,2x1g.10gb' }],
  ['models', {}],
  ['gpus', {}],
  ['prices', { gpu: 'h100-sxm' }],
  ['prices', { what: 'compare', gpu: 'h100-sxm' }],
  ['prices', { what: 'spot', gpu: 'h100-sxm', hours: 100 }],
  ['fleet', { timeline: true }],
  ['window', { volume: '1M/d', 'item-time': '82ms', gpu: 'a100-80gb-sxm', window: '4h' }],
  ['commit', { base: '8,peak=20,share=0.3', gpu: 'h100-sxm', provider: 'gcp' }],
];
const shape = (command) => command.split('-').map((word) => word[0].toUpperCase() + word.slice(1)).join('');
for (const [command, asked] of CASES) {
  for (const mistake of wrong(`${shape(command)}Request`, asked)) check(false, `what ${command} is asked: ${mistake}`);
  const response = await fetch(`${server.address}/api/${command}`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(asked) });
  check(response.status === 200, `${command} ${JSON.stringify(asked)}: ${response.status}`);
  const answer = await response.json();
  // "rightsize/prices-compare/1" identifies the document of the command.
  for (const mistake of wrong(shape(answer.schema?.split('/')[1] ?? command), answer)) check(false, `${command} ${JSON.stringify(asked).slice(0, 80)}: ${mistake}`);
}
const refused = await fetch(`${server.address}/api/recommend`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"modle": 1}' });
for (const mistake of wrong('Problem', await refused.json())) check(false, `a refusal: ${mistake}`);
for (const mistake of wrong('Server', await (await fetch(`${server.address}/api/server`)).json())) check(false, `/api/server: ${mistake}`);
server.stop();
console.log(failures.join('\n') || `${CASES.length} requests and answers are as the OpenAPI file has them`);
process.exit(failures.length > 0 ? 1 : 0);
