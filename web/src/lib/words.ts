// Explanations of terms, and messages of the program in the page's wording.

export const TERMS: Record<string, string> = {
  TTFT: 'Time to first token: from the request to the first token of its answer, waiting included',
  TPOT: 'Time per output token: the mean gap between the tokens of an answer after the first',
  MFU: 'Model FLOPs utilization: the arithmetic the model needs, as a share of what the GPU could do at its peak',
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
    .replace(/--([a-z][a-z0-9-]*)/g, (flag, name: string) => fields[name] ?? flag)
    .replace(/\bwith hf\b/g, 'with Hugging Face');
}

/** The flag a message begins with: "--tokens: 'abc' is not a number" -> tokens and the rest. */
export function aboutFlag(message: string): { flag: string; what: string } | undefined {
  const found = /^--([a-z][a-z0-9-]*)(?:[:=]\s*|\s+)(.*)$/s.exec(message);
  return found ? { flag: found[1] ?? '', what: found[2] ?? '' } : undefined;
}
