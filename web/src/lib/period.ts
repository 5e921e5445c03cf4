// Running costs per month or per year: the visitor's choice, kept in the browser like the theme.
import { money } from './format';

export type Period = 'month' | 'year';
const KEPT = 'rightsize-period';

export const period = (): Period => (globalThis.localStorage?.getItem(KEPT) === 'year' ? 'year' : 'month');

export function setPeriod(next: Period): void {
  localStorage.setItem(KEPT, next);
  dispatchEvent(new Event('period'));
}

/** A cost per month as a cost in the period shown. Commitments and prices do not change it: a year is twelve months. */
export const inPeriod = (usdPerMonth: number) => usdPerMonth * (period() === 'year' ? 12 : 1);

/** "$2,913/month", "$34,956/year" */
export function running(usdPerMonth: number | null | undefined): string {
  return typeof usdPerMonth === 'number' ? `${money(inPeriod(usdPerMonth))}/${period()}` : money(usdPerMonth);
}
/** The amount alone, for a column or figure that names the period. */
export const amountOf = (usdPerMonth: number | null | undefined) => money(typeof usdPerMonth === 'number' ? inPeriod(usdPerMonth) : usdPerMonth);

/** The program writes costs per month: "$1,234/month", "$1.2k per month". */
export function periodInText(text: string): string {
  if (period() === 'month') return text;
  return text.replace(/\$([\d,]+(?:\.\d+)?)([kM]?)(\/| a | per )month\b/g, (_, amount: string, unit: string, per: string) => `${money(12 * Number(amount.replaceAll(',', '')) * (unit === 'k' ? 1e3 : unit === 'M' ? 1e6 : 1))}${per}year`);
}
