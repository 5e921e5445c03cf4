import { useEffect, useState } from 'preact/hooks';
import { period, type Period } from '../lib/period';

/** The period of running costs; a page is drawn anew when it changes. */
export function usePeriod(): Period {
  const [shown, setShown] = useState(period);
  useEffect(() => {
    const follow = () => { setShown(period()); };
    addEventListener('period', follow);
    return () => { removeEventListener('period', follow); };
  }, []);
  return shown;
}
