// Times in the reader's time zone.

export const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** "2026-11-17" */
export const localDay = (time: string) => new Intl.DateTimeFormat('en-CA', { year: 'numeric', month: '2-digit', day: '2-digit' }).format(new Date(time));

/** How far local clocks are ahead of UTC, in hours. */
export const offsetHours = (now = new Date()) => -now.getTimezoneOffset() / 60;

export interface HourOfDay {
  from: number;
  to: number;
  value: number;
}

/** Values of the hours of a day in UTC, on a clock that is `ahead` of UTC; an hour that contains midnight becomes two parts. */
export function onLocalClock(values: readonly (number | null)[], ahead: number): HourOfDay[] {
  return values.flatMap((value, hour) => {
    const from = (((hour + ahead) % 24) + 24) % 24;
    if (value === null) return [];
    return from + 1 <= 24 ? [{ from, to: from + 1, value }] : [{ from, to: 24, value }, { from: 0, to: from - 23, value }];
  });
}
