import { describe, expect, it } from 'vitest';
import { parseCount, parseDuration, parseMoney, parseRate, wrongPrices } from './parse';
import { duration } from './format';

describe('typed text', () => {
  it('is read as a count', () => {
    for (const text of ['2B', '2 billion', '2,000,000,000', '2000M', '2e9', '2 bn tokens']) expect(parseCount(text)).toBe(2e9);
    expect(parseCount('.5k')).toBe(500);
    for (const text of ['', 'abc', '-1', '0', '1 2', '2x', '1,00']) expect(parseCount(text)).toBeUndefined();
  });
  it('is read as a time', () => {
    expect(parseDuration('3 d 12 h')).toBe(302400);
    expect(parseDuration('2h30m')).toBe(9000);
    expect(parseDuration('2 weeks')).toBe(1209600);
    expect(parseDuration('250 ms')).toBe(0.25);
    expect(parseDuration('3.5', 86400)).toBe(302400);
    for (const text of ['', 'soon', '3 parsecs', '0h', '-2h']) expect(parseDuration(text)).toBeUndefined();
    // The text that a box shows can be typed in again.
    for (const seconds of [0.05, 1.5, 90, 3600, 51060, 302400, 604800]) expect(parseDuration(duration(seconds))).toBe(seconds);
  });
  it('is read as a rate', () => {
    expect(parseRate('5')).toBe(5);
    expect(parseRate('5/s')).toBe(5);
    expect(parseRate('300/min')).toBe(5);
    expect(parseRate('10 rps')).toBe(10);
    expect(parseRate('86.4k requests per day')).toBe(1);
    expect(parseRate('5/parsec')).toBeUndefined();
  });
  it('has no decimal comma in a list of prices', () => {
    for (const text of ['3,5', '$3,5', 'h100-sxm=3,50', 'h100-sxm=3,50, l4=1', 'l4=1, h100-sxm=3,50']) expect(wrongPrices(text)).toMatch(/^Write \$?3\.50?: /);
    for (const text of ['', '3.5', 'h100-sxm=3.50, l4=1', 'h100-sxm=3,l4=0.5', 'p5.48xlarge=55USD/h']) expect(wrongPrices(text)).toBeUndefined();
    expect(wrongPrices('1,000')).toMatch(/^Write 1000:/);
  });
  it('is read as a price', () => {
    for (const text of ['2.10', '$2.10', '$2.10/h', '2.1 USD', '2.1 $/h']) expect(parseMoney(text)).toBe(2.1);
    expect(parseMoney('10k')).toBe(10000);
    expect(parseMoney('cheap')).toBeUndefined();
  });
});
