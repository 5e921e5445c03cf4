// The parts of the documents of `decisions list`, `show` and `savings` that the page reads.

export interface Decision {
  id: string;
  workload: string;
  team: string | null;
  by: string;
  decided_at: string;
  status: string;
  choice: string;
  per: string;
  cost_usd: number | null;
  before_usd: number | null;
  saving_usd: number | null;
}

export interface Detail extends Decision {
  why?: string;
  what?: string;
  rollback?: string;
  predictions?: { metric: string; low: number | null; likely: number | null; high: number | null; limit: number | null }[];
}

export interface Savings {
  measured_usd: number;
  predicted_usd: number;
  decisions: { id: string; verdict: string | null; measured_usd: number | null; predicted_usd: number | null }[];
}

export type Row = Decision & { verdict: string | null; measured_usd: number | null };

/** Each decision with its saving so far, if known. */
export function joined(decisions: Decision[], savings: Savings | undefined): Row[] {
  const known = new Map((savings?.decisions ?? []).map((each) => [each.id, each]));
  return decisions.map((decision) => ({ ...decision, verdict: known.get(decision.id)?.verdict ?? null, measured_usd: known.get(decision.id)?.measured_usd ?? null }));
}

/** The savings measured so far; undefined if nothing was measured. */
export function totalSaved(rows: Row[]): number | undefined {
  const known = rows.flatMap((row) => row.measured_usd ?? []);
  return known.length === 0 ? undefined : known.reduce((sum, usd) => sum + usd, 0);
}
