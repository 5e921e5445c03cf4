// Explanations of terms, and messages of the program in the page's wording.

export const TERMS: Record<string, string> = {
  TTFT: 'Time to first token: from the request to the first token of its answer, waiting included',
  TPOT: 'Time per output token: the mean gap between the tokens of an answer after the first',
  MFU: 'Model FLOPs utilization: the arithmetic the model needs, as a share of what the GPU could do at its peak',
  'Bound by': 'What limits the speed. A GPU that has more of it would be faster',
  'GPU memory': 'Memory in use on each GPU, as a share of what it has',
  'Per hour': 'What all machines of the plan cost while they run',
  Energy: 'Electricity of the machines, cooling not included',
  Replicas: 'Copies of the model that share the requests',
  Wasted: 'The cost of time in which GPUs did less than they could: idle, or held without work',
  Idle: 'Time without work on the GPU',
  'GPU-hours': 'Hours in which GPUs were paid for, added up over all GPUs',
  Load: 'Requests, as a share of what the plan could serve within the limits',
  'Mean batch': 'Requests that a replica works on at the same time',
  'Over the SLO': 'Share of the requests that exceed a limit',
  'Median age': 'Half of the prices are older than this',
};

/** The explanation of the term in a title: "p95 TTFT". */
export function explained(title: string): string | undefined {
  return TERMS[Object.keys(TERMS).find((term) => title.includes(term)) ?? ''];
}

/** Readable names of purchase terms. */
export const TERM_NAMES: Record<string, string> = { '1y': '1-year commitment', '3y': '3-year commitment' };
export const termShown = (term: string) => TERM_NAMES[term] ?? term;

const STACKS: Record<string, string> = { hf: 'Hugging Face', vllm: 'vLLM', trtllm: 'TensorRT-LLM', sglang: 'SGLang', megatron: 'Megatron', deepspeed: 'DeepSpeed', llamacpp: 'llama.cpp' };
export const stackName = (stack: string) => STACKS[stack] ?? stack;

/** The bottleneck of a plan. "Memory" means bandwidth: a plan always fits. */
export const boundShown = (bound: string | undefined) => (bound === undefined ? '–' : bound === 'memory' ? 'memory bandwidth' : bound);

/** A message of the program with the fields of the page instead of flags. */
export function inPageWords(text: string, fields: Record<string, string> = {}): string {
  return text
    .replace(/\bno --([a-z][a-z0-9-]*)/g, (words, name: string) => (fields[name] ? `no ${fields[name].toLowerCase()}` : words))
    .replace(/--([a-z][a-z0-9-]*)/g, (flag, name: string) => fields[name] ?? flag)
    .replace(/\bwith hf\b/g, 'with Hugging Face');
}

/** The flag a message begins with: "--tokens: 'abc' is not a number" -> tokens and the rest. */
export function aboutFlag(message: string): { flag: string; what: string } | undefined {
  const found = /^--([a-z][a-z0-9-]*)(?:[:=]\s*|\s+)(.*)$/s.exec(message);
  return found ? { flag: found[1] ?? '', what: found[2] ?? '' } : undefined;
}
