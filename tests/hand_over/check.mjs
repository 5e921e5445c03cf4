// Checks the files of `recommend --emit` (and `batch --emit triton`) with the schemas and parsers of their tools: Kubernetes
// objects with the API's schemas (and its types for unknown fields), Karpenter with its CRDs, Terraform with HashiCorp's
// parser, Triton with protoc, SkyPilot with a schema of its documented fields, scripts with bash.
// Usage: node check.mjs PROGRAM
import {spawnSync} from 'node:child_process';
import {existsSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const program = process.argv[2];
if (!existsSync(join(here, 'node_modules', 'typescript')) || spawnSync('protoc', ['--version']).status !== 0) {
  console.error('npm packages or protoc are not installed: run tools/setup test');
  process.exit(1);
}
const {default: Ajv} = await import('ajv');
const {parse: parseHcl} = await import('@cdktf/hcl2json');
const {default: ts} = await import('typescript');
const {parseAllDocuments} = await import('yaml');

const TRAIN = ['--model', 'llama-3.1-8b', '--tokens', '1B'];
const SERVE = ['--job', 'serve', '--model', 'llama-3.1-8b', '--rate', '20/s', '--ttft-slo', '1s', '--tpot-slo', '50ms'];
// A model that does not fit one machine.
const SPAN = ['--job', 'serve', '--model', 'llama-3.1-405b', '--precision', 'bf16', '--rate', '1/s', '--gpu', 'h100-sxm', '--providers', 'aws'];
// Separate workers for prefill and decode.
const APART = ['--job', 'serve', '--model', 'llama-3.1-8b', '--rate', '20/s', '--isl', '2000', '--osl', '200', '--ttft-slo', '2s', '--tpot-slo', '50ms',
               '--gpu', 'h200-sxm', '--providers', 'aws', '--disaggregated', 'prefill=2x1,decode=1x2'];
const REQUESTS = [
  [[...TRAIN, '--providers', 'aws', '--gpu', 'h100-sxm', '--gpus', '16'], ['skypilot', 'kubernetes', 'karpenter', 'slurm', 'terraform']],
  [[...TRAIN, '--providers', 'gcp', '--gpu', 'b200-sxm', '--gpus', '16'], ['skypilot', 'kubernetes', 'terraform']],
  [[...TRAIN, '--providers', 'gcp', '--gpu', 'h100-sxm', '--gpus', '16', '--method', 'lora'], ['terraform', 'slurm']],
  [[...TRAIN, '--providers', 'azure', '--gpu', 'h100-sxm', '--gpus', '16'], ['terraform', 'kubernetes']],
  [[...TRAIN, '--gpu', 'mi300x'], ['skypilot', 'kubernetes', 'slurm']],
  [[...TRAIN, '--stack', 'megatron', '--providers', 'aws', '--gpu', 'h200-sxm'], ['skypilot', 'slurm', 'kubernetes']],
  [[...TRAIN, '--stack', 'torchtitan', '--providers', 'aws', '--gpu', 'h200-sxm'], ['slurm', 'skypilot']],
  [['--model', 'resnet-50', '--epochs', '90', '--dataset-samples', '1.28M', '--providers', 'aws'], ['skypilot', 'karpenter', 'slurm']],
  [[...SERVE, '--providers', 'aws'], ['skypilot', 'kubernetes', 'karpenter', 'slurm', 'terraform']],
  [['--job', 'serve', '--model', 'qwen2.5-1.5b', '--rate', '1/s', '--providers', 'gcp', '--gpu', 't4'], ['skypilot', 'kubernetes', 'terraform']],
  [[...SERVE, '--gpu', 'mi300x'], ['skypilot', 'kubernetes']],
  [[...SERVE, '--stack', 'sglang', '--gpu', 'l40s', '--providers', 'aws'], ['kubernetes', 'slurm']],
  [['--job', 'serve', '--model', 'bert-base', '--rate', '500/s', '--ttft-slo', '100ms', '--providers', 'gcp'], ['triton', 'kubernetes', 'terraform']],
  [['--job', 'serve', '--model', 'llama-3.1-8b', '--items', '1M', '--providers', 'aws'], ['skypilot', 'kubernetes', 'slurm']],
  [[...SPAN, '--stack', 'vllm'], ['kubernetes', 'slurm', 'karpenter', 'terraform']],
  [[...SPAN, '--stack', 'sglang'], ['kubernetes', 'slurm']],
  [[...APART, '--stack', 'vllm'], ['kubernetes', 'slurm', 'skypilot']],
  [[...APART, '--stack', 'sglang'], ['kubernetes', 'slurm']],
  [[...APART, '--stack', 'trtllm'], ['kubernetes', 'slurm', 'terraform']],
  [[...TRAIN, '--stack', 'llm-foundry', '--providers', 'nebius', '--gpus', '16', '--gpu', 'b200-sxm'], ['skypilot', 'kubernetes', 'slurm']],
  [[...TRAIN, '--method', 'qlora', '--providers', 'runpod'], ['skypilot', 'kubernetes', 'slurm']],
  [[...TRAIN, '--method', 'lora', '--providers', 'seeweb'], ['skypilot', 'kubernetes']],
  [['--job', 'serve', '--model', 'llama-3.2-3b', '--rate', '1/s', '--providers', 'verda,shadeform,do,oci'], ['skypilot', 'kubernetes']],
];

const failures = [];
let checked = 0, objects = 0;

function emit(args) {
  const run = spawnSync(program, args, {encoding: 'utf8'});
  if (run.status !== 0) failures.push(`${args.join(' ')}: exit ${run.status}\n${run.stderr}`);
  return run.stdout;
}

function objectsOf(text, where) {
  const documents = parseAllDocuments(text, {uniqueKeys: true});
  for (const d of documents) for (const e of d.errors) failures.push(`${where}: ${e.message}`);
  return documents.map((d) => d.toJS()).filter((o) => o !== null);
}

function checkBash(script, where) {
  const run = spawnSync('bash', ['-n'], {input: script, encoding: 'utf8'});
  if (run.status !== 0) failures.push(`${where}: bash: ${run.stderr}\n${script}`);
}

// The class and type of each kind.
const KINDS = {
  'v1/Service': 'kubernetes-models/v1/Service',
  'v1/PodTemplate': 'kubernetes-models/v1/PodTemplate',
  'v1/PersistentVolumeClaim': 'kubernetes-models/v1/PersistentVolumeClaim',
  'batch/v1/Job': 'kubernetes-models/batch/v1/Job',
  'apps/v1/Deployment': 'kubernetes-models/apps/v1/Deployment',
  'apps/v1/StatefulSet': 'kubernetes-models/apps/v1/StatefulSet',
  'v1/ConfigMap': 'kubernetes-models/v1/ConfigMap',
  'autoscaling/v2/HorizontalPodAutoscaler': 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler',
  'policy/v1/PodDisruptionBudget': 'kubernetes-models/policy/v1/PodDisruptionBudget',
  'karpenter.sh/v1/NodePool': '@kubernetes-models/karpenter/karpenter.sh/v1/NodePool',
  'karpenter.k8s.aws/v1/EC2NodeClass': '@kubernetes-models/karpenter/karpenter.k8s.aws/v1/EC2NodeClass',
};
const typed = [];  // [path of the kind, object, where], checked by the compiler at the end

const ajv = new Ajv({allErrors: true, allowUnionTypes: true});
const leaderWorkerSet = ajv.compile(JSON.parse(readFileSync(join(here, 'leaderworkerset.schema.json'), 'utf8')));

// The set is checked with a schema of its documented fields, its pods with the schemas of the API.
async function checkLeaderWorkerSet(object, where) {
  if (!leaderWorkerSet(object)) failures.push(...leaderWorkerSet.errors.map((e) => `${where}: ${e.instancePath} ${e.message} ${JSON.stringify(e.params)}`));
  const pods = object.spec?.leaderWorkerTemplate ?? {};
  for (const template of [pods.leaderTemplate, pods.workerTemplate].filter(Boolean))
    await checkObject({apiVersion: 'v1', kind: 'PodTemplate', metadata: {name: 'pod'}, template}, where);
}

async function checkObject(object, where) {
  if (object.kind === 'LeaderWorkerSet') return checkLeaderWorkerSet(object, where);
  const path = KINDS[`${object.apiVersion}/${object.kind}`];
  if (!path) return failures.push(`${where}: no schema of ${object.apiVersion} ${object.kind}`);
  const Kind = (await import(path))[object.kind];
  try {
    new Kind(object).validate();
  } catch (error) {
    failures.push(`${where}: ${object.kind}: ${error.message}`);
  }
  ++objects;
  typed.push([path, object.kind, object, where]);
  const pod = object.spec?.template?.spec ?? object.template?.spec;
  for (const c of pod?.containers ?? []) checkBash(c.args?.[0] ?? '', `${where} ${object.kind}`);
}

// Literals with the types of the API: the compiler rejects unknown fields.
function checkTypes() {
  const file = join(here, 'node_modules', '.hand_over_objects.mts');
  const lines = typed.map(([path, kind, object], i) =>
    `import type {I${kind} as T${i}} from '${path}'; export const o${i}: T${i} = ${JSON.stringify(object)};`);
  writeFileSync(file, lines.join('\n'));
  const compiled = ts.createProgram([file], {noEmit: true, strict: true, skipLibCheck: true, module: ts.ModuleKind.NodeNext,
                                             moduleResolution: ts.ModuleResolutionKind.NodeNext, target: ts.ScriptTarget.ES2022, types: []});
  for (const d of ts.getPreEmitDiagnostics(compiled)) {
    const line = d.file && d.file.fileName === file ? d.file.getLineAndCharacterOfPosition(d.start).line : -1;
    failures.push(`${line >= 0 ? typed[line][3] : 'types'}: ${ts.flattenDiagnosticMessageText(d.messageText, '\n')}`);
  }
  rmSync(file);
}

const skypilot = ajv.compile(JSON.parse(readFileSync(join(here, 'skypilot.schema.json'), 'utf8')));

const scaling = JSON.parse(readFileSync(join(here, 'scaling.schema.json'), 'utf8'));
const SCALING = Object.fromEntries(['keda', 'variant', 'dynamo', 'knative', 'skyserve'].map(
  (kind) => [kind, new Ajv({allErrors: true, allowUnionTypes: true, strict: false}).compile({$defs: scaling.$defs, $ref: `#/$defs/${kind}`})]));

function checkScaling(kind, object, where) {
  const valid = SCALING[kind];
  if (!valid(object)) failures.push(...valid.errors.map((e) => `${where}: ${e.instancePath} ${e.message} ${JSON.stringify(e.params)}`));
}

function checkTriton(text, where) {
  const run = spawnSync('protoc', ['--encode=ModelConfig', `--proto_path=${here}`, 'triton_config.proto'], {input: text, encoding: 'utf8'});
  if (run.status !== 0) failures.push(`${where}: ${run.stderr}`);
}

const CHECKS = {
  async skypilot(text, where) {
    const [task] = objectsOf(text, where);
    if (!skypilot(task)) failures.push(...skypilot.errors.map((e) => `${where}: ${e.instancePath} ${e.message} ${JSON.stringify(e.params)}`));
    checkBash(task.run, where);
    if (task.setup) checkBash(task.setup, where);
  },
  async kubernetes(text, where) {
    for (const object of objectsOf(text, where)) await checkObject(object, where);
  },
  async leaderworkerset(text, where) {
    for (const object of objectsOf(text, where)) await checkObject(object, where);
  },
  async karpenter(text, where) {
    for (const object of objectsOf(text, where)) await checkObject(object, where);
  },
  async slurm(text, where) {
    checkBash(text, where);
    if (!/^srun --cpus-per-task=/m.test(text) && /^#SBATCH --cpus-per-task/m.test(text)) failures.push(`${where}: srun has no processors`);
  },
  async terraform(text, where) {
    try {
      const parsed = await parseHcl('main.tf', text);
      if (!parsed.resource) failures.push(`${where}: no resource`);
    } catch (error) {
      failures.push(`${where}: ${error}`);
    }
  },
  async triton(text, where) {
    checkTriton(text, where);
  },
  async keda(text, where) {
    for (const object of objectsOf(text, where)) checkScaling('keda', object, where);
  },
  async hpa(text, where) {
    for (const object of objectsOf(text, where)) await checkObject(object, where);
  },
  async variantautoscaling(text, where) {
    const [variant, ...rest] = objectsOf(text, where);
    checkScaling('variant', variant, where);
    for (const object of rest) await checkObject(object, where);
  },
  async dynamo(text, where) {
    for (const object of objectsOf(text, where)) checkScaling('dynamo', object, where);
  },
  async knative(text, where) {
    for (const object of objectsOf(text, where)) checkScaling('knative', object, where);
  },
  async skyserve(text, where) {
    for (const object of objectsOf(text, where)) checkScaling('skyserve', object, where);
  },
};

for (const [request, targets] of REQUESTS) {
  const args = ['recommend', ...request, '--format', 'json', '--emit', targets.join(',')];
  const files = JSON.parse(emit(args)).emit ?? {};
  for (const target of targets) {
    const where = ['rightsize', 'recommend', ...request, '--emit', target].join(' ');
    if (!files[target]) failures.push(`${where}: nothing`);
    else await CHECKS[target](files[target], where);
    ++checked;
  }
}
const batch = ['batch', '--service', join(here, '../../examples/batching/a100.csv'), '--arrivals', 'poisson:500', '--slo', 'p99=50ms',
               '--max-queue', '32', '--timeout', '40ms', '--priorities', '0.2,0.8', '--requests', '20000', '--format', 'json'];
checkTriton(JSON.parse(emit(batch) || '{"triton_config":"?"}').triton_config, batch.join(' '));
const SCALERS = ['keda', 'hpa', 'variantautoscaling', 'dynamo', 'knative', 'skyserve'];
for (const more of [[], ['--stack', 'sglang', '--slo-percentile', '95'],
                    ['--policy', 'keda:threshold=6,min=0,max=9,up=2/30s,every=1h,plan=1x8/4x12/2x4,lead=110s', '--policy', 'hpa:target=0.7,metric=kv,max=9,up=1/15s',
                     '--policy', 'variant', '--policy', 'dynamo:predictor=seasonal', '--policy', 'knative:target=5,min=0', '--policy', 'skyserve:rate=0.5']]) {
  const args = ['autoscale', '--model', 'llama-3.1-8b', '--gpu', 'l4', '--trace', join(here, '../../examples/autoscale/hour.csv'), '--slo', 'ttft=2s,tpot=150ms', ...more,
                '--emit', SCALERS.join(','), '--format', 'json'];
  const files = JSON.parse(emit(args) || '{}').files ?? {};
  for (const target of SCALERS) {
    if (!files[target]) failures.push(`${args.join(' ')}: no file for ${target}`);
    else await CHECKS[target](files[target], `${args.join(' ')} ${target}`);
    ++checked;
  }
}
checkTypes();

// The checks must be able to fail: each gets a file with one mistake.
const BROKEN = {
  skypilot: 'name: a\nresources: {infra: aws, accelerators: "H100:8", disc_size: 5}\nenvs: {}\nrun: echo\n',
  kubernetes: 'apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {clusterIPP: None}\n',
  leaderworkerset: 'apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata: {name: a}\nspec: {replica: 2, leaderWorkerTemplate: {size: 2, workerTemplate: {spec: {containers: []}}}}\n',
  karpenter: 'apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\nspec: {}\n',
  slurm: 'if true; then\n',
  terraform: 'resource "a" {{\n',
  triton: 'max_batchsize: 4\n',
  keda: 'apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: a}\nspec: {scaleTargetRef: {name: a}, minReplicas: 1, triggers: [{type: cron, metadata: {timezone: UTC, start: 0 8 * * *, end: 0 9 * * *, desiredReplicas: "2"}}]}\n',
  hpa: 'apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: a}\nspec: {maxReplicas: 3}\n',
  variantautoscaling: 'apiVersion: llmd.ai/v1alpha1\nkind: VariantAutoscaling\nmetadata: {name: a}\nspec: {modelID: a}\n',
  dynamo: 'mode: aggregated\nbackend: vllm\noptimization_target: sla\n',
  knative: 'apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: a}\nspec: {template: {metadata: {annotations: {autoscaling.knative.dev/max: "3"}}}}\n',
  skyserve: 'service: {readiness_probe: {path: /}, replica_policy: {min_replicas: 1, max_replicas: 2}}\n',
};
const real = failures.splice(0);
typed.splice(0);
for (const [target, text] of Object.entries(BROKEN)) {
  await CHECKS[target](text, target);
  if (target === 'kubernetes') checkTypes();
  if (failures.splice(0).length === 0) real.push(`the check of ${target} lets a mistake through`);
}
failures.push(...real);
for (const failure of failures) console.error(failure);
console.log(`${checked} files, ${objects} Kubernetes objects, ${failures.length} mistakes`);
process.exit(failures.length === 0 ? 0 : 1);
