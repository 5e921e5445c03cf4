/** The Pareto front, sorted by the first criterion: as it grows, the second falls. */
export function staircase<T>(all: T[], x: (each: T) => number, y: (each: T) => number): T[] {
  let least = Infinity;
  return [...all]
    .sort((a, b) => x(a) - x(b) || y(a) - y(b))
    .filter((each) => {
      if (y(each) >= least) return false;
      least = y(each);
      return true;
    });
}
