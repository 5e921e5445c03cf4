// Explanations of terms, and messages of the program in the page's wording.
import { duration } from './format';
import { parseDuration } from './parse';
import { periodInText } from './period';

/** The meaning of a number, by the name of its column or figure. */
export const TERMS: Record<string, string> = {
  TTFT: 'Time to first token: from the request to the first token of its answer, including waiting',
  TPOT: 'Time per output token: the mean gap between the tokens of an answer after the first',
  MFU: 'Model FLOPs utilization: the arithmetic that the model needs, as a share of the GPU’s peak',
  '$/GPU-h': 'The price of the machine per hour, divided by its GPUs',
  '$/h': 'The price of the whole machine per hour',
  '$/day': 'Cost of the GPUs of this policy per day',
  '$/month': 'Cost of the machines in a month of 730 hours',
  '$/year': 'Cost of the machines in a year of 8,760 hours',
  '1M output tokens': 'Cost of a million generated tokens at today’s load',
  '1M tokens': 'Electricity used per million tokens',
  'A run takes': 'From the start of the GPUs to the last item of a window',
  'A step takes': 'One step of training: generating answers, rating them and updating the model',
  'Actions save': 'Savings of the ticked actions; no GPU counts twice',
  Age: 'Days since the provider’s price was read',
  'Extra if alone': 'Cost of this workload’s cheapest option if it ran by itself, in addition to the reservations',
  Batch: 'The most requests that a replica works on at the same time',
  Blocks: 'Fixed-size pieces of the prompts, the unit in which a cache stores and finds text',
  'Bound by': 'The resource that limits the speed. A GPU with more of it would be faster',
  Busy: 'Time with work on the GPUs, as a share of the paid time',
  Clock: 'The clock that the power limit allows, as a share of the highest',
  Cost: 'Cost of this scenario with the commitment',
  Covered: 'The share of demand that runs on committed GPUs',
  Delay: 'How long a request waits for others to join its batch',
  Energy: 'Electricity of the machines, without cooling',
  Expected: 'The saving that was predicted when the decision was made',
  'First year': 'Cost of the first year with this commitment, including on-demand GPUs',
  HPA: 'Horizontal Pod Autoscaler of Kubernetes: it adds replicas when the mean of a metric exceeds its target',
  KEDA: 'Kubernetes Event-driven Autoscaling: it adds replicas by the number of waiting and running requests',
  SLO: 'Service level objective: a limit on latency that a share of the requests must keep',
  'GPU memory': 'Memory in use on each GPU, as a share of its memory',
  'GPU-hours': 'Hours in which GPUs were paid for, added up over all GPUs',
  'GPUs idle': 'GPUs that wait for the longest answers, or for the other side of a split',
  'GPUs in a run': 'GPUs that process a window together',
  GPUs: 'Total GPUs of the machines',
  Idle: 'Time without work on the GPU',
  'In force': 'Decisions that are carried out',
  'Items in a window': 'Items that arrive while a window is open',
  Latency: 'The longest time from an item’s arrival to its result',
  Limit: 'The value that the decision must not exceed',
  Load: 'Requests, as a share of the rate that the plan can serve within the limits',
  'Longest wait': 'An item that arrives when a window opens waits for the end of the window and for its run',
  Machines: 'Rented machines, and their type at the provider',
  'Mean batch': 'Requests that a replica works on at the same time',
  Measured: 'The value in the metrics since the decision, with its 80 % interval',
  'Median age': 'Half of the prices are older than this',
  Most: 'The most replicas at any time',
  'Not confirmed': 'Decisions with a saving that the measurements contradict',
  'On demand': 'The price without a commitment',
  'On-demand from': 'The lowest trusted price without a commitment',
  Options: 'Combinations of GPUs and settings that were ruled out for this reason',
  'Over the SLO': 'Share of the requests that exceed a limit',
  'Per hour': 'Cost of all machines of the plan while they run',
  'Per month at this rate': 'Cost of the fleet in a month at the prices and use of these readings',
  'Per month': 'Cost of the machines in a month of 730 hours',
  'Per year at this rate': 'Cost of the fleet in a year at the prices and use of these readings',
  'Per token': 'Memory that the cache keeps for each token of a prompt',
  'Per year': 'Cost of the committed GPUs of this term per year',
  Power: 'Electrical power of a GPU while it works',
  Predicted: 'The likely value when the decision was made, with its 80 % interval',
  'Prefix hits': 'The share of prompt tokens found in the KV cache',
  Providers: 'Clouds with a price for this GPU',
  RAM: 'Main memory of the machine, not of its GPUs',
  Regret: 'Extra cost of this commitment over the best one for that scenario',
  'Replicas, mean': 'Copies of the model that ran, averaged over the day',
  Replicas: 'Copies of the model that share the requests',
  Requests: 'Requests per second, or in the whole trace',
  'Rolling out': 'Decisions that are being carried out',
  'Saved so far': 'Measured cost before the decision minus measured cost since, to date',
  Saves: 'Saving of this step alone; a negative saving makes room for a larger one',
  'Saves per month': 'Saving from one more GPU of this kind',
  'Saves per year': 'Saving from one more GPU of this kind',
  'Savings confirmed': 'Decisions with a saving that the measurements support',
  Settings: 'How the job runs: number format, framework, parallelism',
  Spent: 'Cost of the GPUs in the period shown',
  'Spot from': 'The lowest price of a machine that can be reclaimed at short notice',
  Step: 'The order in which to make the changes',
  Time: 'From the start of the machines to the end of the job',
  'Tokens in, out': 'Tokens of a prompt and of its answer, on average',
  'Tokens per step': 'The most tokens that the engine processes in one step',
  Tokens: 'Tokens that one GPU generates or trains per second',
  Total: 'Cost of the whole job, including start-up and reading of data',
  Used: 'The share of committed GPU-hours that demand uses',
  Wasted: 'The cost of time in which GPUs did less than they could: idle, or held without work',
  Weight: 'The assumed probability of this scenario',
  'Whole term': 'Cost of the committed GPUs until the term ends',
  'Worth it above': 'A commitment pays off if its GPUs are used for more than this share of the time',
  latency: 'From the request to its complete answer, including waiting',
  vCPU: 'Virtual processors of the machine',
  'vs first': 'Cost compared with the recommended plan',
  'vs now': 'Cost compared with the plan for today’s question',
};

/** The explanation of a title: exact, otherwise of the longest term in it ("p95 TTFT"). */
export function explained(title: string): string | undefined {
  const term = title in TERMS ? title : Object.keys(TERMS).filter((each) => title.includes(each)).sort((x, y) => y.length - x.length)[0];
  return term === undefined ? undefined : TERMS[term];
}

/** Readable names of purchase terms. */
export const TERM_NAMES: Record<string, string> = { '1y': '1-year commitment', '3y': '3-year commitment' };
export const termShown = (term: string) => TERM_NAMES[term] ?? term;

const STACKS: Record<string, string> = { hf: 'Hugging Face', vllm: 'vLLM', trtllm: 'TensorRT-LLM', sglang: 'SGLang', megatron: 'Megatron', deepspeed: 'DeepSpeed', llamacpp: 'llama.cpp' };
export const stackName = (stack: string) => STACKS[stack] ?? stack;

/** The bottleneck of a plan. "Memory" means bandwidth: a plan always fits. */
export const boundShown = (bound: string | undefined) => (bound === undefined ? '–' : bound === 'memory' ? 'memory bandwidth' : bound);

/** The page that the text names, with its address. */
export function pageNamed(text: string): { name: string; path: string } | undefined {
  const command = [...text.matchAll(/'rightsize ([a-z]+)'/g)].map(([, name = '']) => name).find((name) => name in PAGES);
  return command === undefined ? undefined : { name: PAGES[command] ?? '', path: `/${ADDRESSES[command] ?? command}` };
}

const ADDRESSES: Record<string, string> = { batch: 'batching' };

/** The pages by the command that they show. */
const PAGES: Record<string, string> = { recommend: 'Recommend', fleet: 'Fleet', service: 'Service', portfolio: 'Portfolio', batch: 'Batching', autoscale: 'Autoscale', cache: 'KV cache', window: 'Batch window', mig: 'MIG', energy: 'Energy', commit: 'Commitments', prices: 'Prices', decisions: 'Decisions' };

/** Where a command of another program begins: "nvidia-smi --query-gpu=…", "kubectl get pods -o json". Its flags are its own. */
const FOREIGN = /\b(?!rightsize\b)(?:nvidia-smi|rocm-smi|amd-smi|dcgmi|gpustat|kubectl|sacct|squeue|sbatch|docker|helm|curl|vllm|python3?)(?: [\w./:,-]+)*? --?[a-z]/;

/** A message of the program with the fields of the page instead of flags; a flag without a field is named by its words. */
export function inPageWords(text: string, fields: Record<string, string> = {}): string {
  const foreign = text.search(FOREIGN);
  return foreign < 0 ? ownWords(text, fields) : ownWords(text.slice(0, foreign), fields) + text.slice(foreign);
}

function ownWords(text: string, fields: Record<string, string>): string {
  const words = (name: string) => name.replace(/-/g, ' ');
  const within = (name: string) => (fields[name] ?? words(name).replace(/^(ttft|tpot) slo$/, (limit) => `${limit.slice(0, 4).toUpperCase()} limit`)).replace(/^[A-Z](?=[a-z])/, (first) => first.toLowerCase());
  return periodInText(text)
    .replace(/; POST \/api\/\S+ runs it in the background/, '')
    .replace(/^'(telemetry|metrics)' /, 'The file ')
    .replace(/^(hpa|keda): /, (_, policy: string) => `${policy.toUpperCase()}: `)
    .replace(/(?<![\w-])(\d[\d.,]*)( ?)x (?=[\w(])/g, '$1$2× ')
    .replace(/\d+ × \S+ \((\d+ × [\w-]+)\)/g, '$1') // machines by their GPUs
    .replace(/--(deadline|[a-z]+-slo)[ =]([\d.]+(?:ms|s|min|h|d))(?![\w.])/g, (_, name: string, time: string) => `a ${within(name)} of ${duration(parseDuration(time))}`)
    .replace(/\bno --([a-z][a-z0-9-]*)/g, (_, name: string) => `no ${fields[name]?.toLowerCase() ?? words(name)}`)
    .replace(/--([a-z][a-z0-9-]*)/g, (_, name: string) => fields[name] ?? fields[name.replace(/s$/, '')] ?? words(name))
    .replace(/'rightsize ([a-z]+)'/g, (command, name: string) => (PAGES[name] ? `the ${PAGES[name]} page` : command))
    .replace(/\bwith hf\b/g, 'with Hugging Face');
}

/** Hints of the program that help on the page: examples without their flag, and none that name a command or a file of the repository. */
export function hintsInPageWords(hints: string[], fields: Record<string, string> = {}): string[] {
  return hints.filter((hint) => !/\brightsize [a-z]|\bexamples\//.test(hint)).map((hint) => inPageWords(/^for example\b/.test(hint) ? hint.replace(/--[a-z][a-z0-9-]* /g, '') : hint, fields));
}

/** The flag a message begins with: "--tokens: 'abc' is not a number" -> tokens and the rest. */
export function aboutFlag(message: string): { flag: string; what: string } | undefined {
  const found = /^--([a-z][a-z0-9-]*)(?:[:=]\s*|\s+)(.*)$/s.exec(message);
  return found ? { flag: found[1] ?? '', what: found[2] ?? '' } : undefined;
}
