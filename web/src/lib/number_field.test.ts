import { describe, expect, it } from 'vitest';
import * as pages from '../pages/numbers';
import { boxText, readField, valueIn, wrongFields, wrongIn, type NumberField } from './number_field';

let seed = 11;
const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
const pick = <T>(from: readonly T[]): T => from[Math.floor(from.length * random())] as T;

/** Every number of every page. */
const FIELDS: NumberField[] = [...Object.values(pages).flatMap((each) => (typeof each === 'function' ? [] : Object.values(each) as NumberField[])), pages.capOf(700), pages.priceOf('h100-sxm')];
const rangeOf = (field: NumberField) => field.within ?? [field.least, field.most] as [number, number];

describe('the number of every page', () => {
  it('is read as a whole or refused: what is kept is in range, or the page says what is wrong', () => {
    const pieces = ['1', '2', '5', '9', '0', '12', '.', ',', '-', '/', ' ', 'e', 'e5', 'k', '%', 's', 'h', '/s', '/min', 'GB', 'x', '×', '$', 'W', 'nan', 'Infinity', '#', '1e26', '3,5', 'ö'];
    const mistakes: string[] = [];
    const must = (holds: boolean, what: string) => { if (!holds) mistakes.push(what); };
    for (const field of FIELDS) {
      const [least, most] = rangeOf(field);
      for (let i = 0; i < 100; ++i) {
        const text = Array.from({ length: 1 + Math.floor(5 * random()) }, () => pick(pieces)).join('');
        const { kept, wrong } = readField(field, text, field.least);
        const value = valueIn(field, kept);
        // The page never uses what it calls wrong, also after a reload of the address.
        must((wrongIn(field, kept) === undefined) === (wrong === undefined), `${field.label}: "${text}" is kept as "${kept}"`);
        must((value === undefined) === (wrong !== undefined || kept === ''), `${field.label}: "${text}" is ${String(value)}, ${String(wrong)}`);
        must(value === undefined || (value >= least && value <= most), `${field.label}: "${text}" is outside`);
        // Nothing of the text was left out: more text at either end is not a number.
        for (const more of wrong === undefined ? [`${text}#`, `#${text}`, `${text}/0`] : []) must(readField(field, more, field.least).wrong !== undefined, `${field.label}: "${more}" is read`);
      }
    }
    expect(mistakes).toEqual([]);
  });
  it('takes no decimal comma, and shows the same number with a point', () => {
    for (const field of FIELDS) {
      const [least, most] = rangeOf(field);
      for (let i = 0; i < 20; ++i) {
        const text = `${String(Math.floor(1 + 9 * random()))}${pick([',', '.'])}${String(Math.floor(1 + 98 * random()))}`;
        const wrong = readField(field, text, 1).wrong;
        if (text.includes(',')) expect([field.label, text, wrong !== undefined]).toEqual([field.label, text, true]);
        const pointed = text.replace(',', '.');
        if (text.includes(',') && field.scale.read(pointed, 1) !== undefined) expect(wrong).toContain(`Write ${pointed}`);
      }
      expect(readField(field, '0,125', least).wrong).toBeDefined();
      expect(readField(field, field.scale.show(most * 10), 1).wrong).toBeDefined();
    }
  });
  it('can be typed as its box shows it, at every position of its slider', () => {
    for (const field of FIELDS) {
      for (const value of [field.least, field.most, ...rangeOf(field)]) {
        expect(valueIn(field, String(value))).toBe(value);
        if (value > 0) expect([field.label, readField(field, boxText(field, String(value)), value).wrong]).toEqual([field.label, undefined]);
      }
    }
  });
  it('may be missing only where that has a meaning', () => {
    for (const field of FIELDS) expect([field.label, wrongIn(field, '') === undefined]).toEqual([field.label, field.empty !== undefined]);
    expect(wrongFields(pages.CACHE, { size: '40', users: '5000', turns: '6', system: '1536', turn: 'many' })).toEqual({ users: 'Type 1 to 1,000.', turn: 'Type a whole number, like 2048 or 2k.' });
  });
});
