// Fields that hold a number: how it is shown, read and refused. Every page reads typed numbers here.
import { duration, money, number, unitOf } from './format';
import { parseCount, parseDuration, parseMoney, parseNumber, parseRate } from './parse';

/** How the values of a slider are stepped through, shown and read. */
export interface Scale {
  step: (value: number) => number;
  show: (value: number) => string;
  /** The whole text as a value, otherwise undefined. `now` is the value in the box: a bare time has its unit. */
  read: (text: string, now: number) => number | undefined;
  like: string;
  whole?: boolean;
}

/** The step between round values with two digits. */
export function twoDigits(value: number): number {
  return 10 ** Math.floor(Math.log10(value) - 1 + 1e-12);
}
const STEPS: [number, number][] = [
  [10 * 86400, 86400],
  [2 * 86400, 6 * 3600],
  [12 * 3600, 3600],
  [3600, 900],
];
/** Steps of times: quarters of an hour, hours, quarters of a day, days. */
export function timeStep(seconds: number): number {
  return STEPS.find(([from]) => seconds >= from)?.[1] ?? twoDigits(seconds);
}

const shareOf = (text: string) => {
  const found = parseNumber(text, /\s*%/);
  return found === undefined ? undefined : text.includes('%') || found > 1 ? found / 100 : found;
};
const sizeOf = (text: string) => parseNumber(text, /\s*(gb?|tb?)/i, (unit) => (/t/i.test(unit) ? 1000 : 1));

export const COUNT: Scale = { step: (value) => Math.max(1, twoDigits(value)), show: (value) => number(value, 6), read: (text) => { const value = parseCount(text); return Number.isInteger(value) ? value : undefined; }, like: 'a whole number, like 2048 or 2k', whole: true };
export const RATE: Scale = { step: twoDigits, show: (value) => `${number(value, 6)}/s`, read: parseRate, like: 'a rate, like 5/s or 300/min' };
export const TIME: Scale = { step: timeStep, show: duration, read: (text, now) => parseDuration(text, unitOf(now)), like: 'a time, like 36 h, 2 weeks or 250 ms' };
export const SHARE: Scale = { step: (value) => (value < 0.1 ? 0.01 : 0.05), show: (value) => `${number(100 * value, 6)} %`, read: shareOf, like: 'a share, like 30 %' };
export const HOURLY: Scale = { step: twoDigits, show: (value) => `${money(value)}/h`, read: parseMoney, like: 'a price, like $2.10' };
export const TIMES: Scale = { step: twoDigits, show: (value) => `${number(value, 6)} ×`, read: (text) => parseNumber(text, /\s*[x×]/), like: 'a factor, like 2' };
export const TIMES_MEAN: Scale = { step: () => 0.1, show: (value) => `${number(value, 6)} × mean`, read: (text) => parseNumber(text, /\s*[x×](\s*mean)?/), like: 'a factor, like 1.8' };
export const WATTS: Scale = { step: () => 5, show: (value) => `${number(value, 6)} W`, read: (text) => parseNumber(text, /\s*(w|watts?)/i), like: 'watts, like 450' };
/** A number without a unit, also a fraction. */
export const AMOUNT: Scale = { step: twoDigits, show: (value) => number(value, 6), read: (text) => (/^0+(\.0+)?$/.test(text) ? 0 : parseNumber(text, /(?!)/)), like: 'a number, like 3.5' };
/** In GB. */
export const SIZE: Scale = { step: twoDigits, show: (value) => (value >= 1000 ? `${number(value / 1000)} TB` : `${number(value)} GB`), read: sizeOf, like: 'a size, like 40 GB or 2 TB' };

export interface NumberField {
  label: string;
  /** The ends of the slider. */
  least: number;
  most: number;
  scale: Scale;
  /** What may be typed, if that is more than the slider reaches. */
  within?: [number, number];
  /** What an empty value means, if the field may be empty. */
  empty?: string;
  /** The meaning of the value. */
  help?: string | undefined;
}

export type Numbers = Record<string, NumberField>;

const inside = ({ within, least, most }: NumberField, value: number) => value >= (within?.[0] ?? least) && value <= (within?.[1] ?? most);
const rangeShown = ({ within, least, most, scale }: NumberField) => `Type ${scale.show(within?.[0] ?? least)} to ${scale.show(within?.[1] ?? most)}.`;

/**
 * Typed text as the value that the address keeps, and what is wrong with it. A value is the whole text, in range: nothing is cut
 * or moved into the range. Text that is not a number is kept as it is, so that the field shows it again.
 */
export function readField(field: NumberField, text: string, now: number): { kept: string; wrong?: string } {
  const typed = text.trim();
  if (typed === '' && field.empty !== undefined) return { kept: '' };
  const value = field.scale.read(typed, now);
  if (value !== undefined) {
    const exact = Number(value.toPrecision(12));
    return inside(field, exact) ? { kept: String(exact) } : { kept: String(exact), wrong: rangeShown(field) };
  }
  const pointed = typed.replace(/(\d),(?=\d)/, '$1.');
  const isComma = pointed !== typed && field.scale.read(pointed, now) !== undefined;
  return { kept: typed, wrong: isComma ? `Write ${pointed}: a comma separates thousands.` : `Type ${field.scale.like}.` };
}

/** The number of a field in the address; undefined if it is empty, or not a number in range. */
export function valueIn(field: NumberField, text: string): number | undefined {
  const value = isPlain(text) ? Number(text) : NaN;
  return inside(field, value) && (!field.scale.whole || Number.isInteger(value)) ? value : undefined;
}

/** A number as the page writes it, or as people write it into a link. */
const isPlain = (text: string) => /^\d+(\.\d+)?$/.test(text) || (text !== '' && String(Number(text)) === text && Number.isFinite(Number(text)));

/** What is wrong with a field in the address; undefined if nothing is. */
export function wrongIn(field: NumberField, text: string): string | undefined {
  if (valueIn(field, text) !== undefined || (text === '' && field.empty !== undefined)) return undefined;
  if (isPlain(text) && !inside(field, Number(text))) return rangeShown(field);
  return readField(field, text, field.least).wrong ?? `Type ${field.scale.like}.`;
}

/** What is wrong, by field; empty if every number can be used. */
export function wrongFields<S extends Record<string, string>>(fields: Numbers, state: S): Partial<Record<keyof S, string>> {
  const wrong = Object.entries(fields).flatMap(([name, field]) => { const why = wrongIn(field, state[name] ?? ''); return why === undefined ? [] : [[name, why]]; });
  return Object.fromEntries(wrong) as Partial<Record<keyof S, string>>;
}

/** How a value in the address is shown in its box: as typed if it is not a number. */
export const boxText = (field: NumberField, text: string) => (text === '' && field.empty !== undefined ? field.empty : isPlain(text) ? field.scale.show(Number(text)) : text);
