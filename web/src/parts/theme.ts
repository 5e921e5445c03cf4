// Light or dark: follows the system until the user chooses.
import { useEffect, useState } from 'preact/hooks';

export type Theme = 'light' | 'dark';
const KEPT = 'rightsize-theme';

function wanted(): Theme {
  const kept = localStorage.getItem(KEPT);
  if (kept === 'light' || kept === 'dark') return kept;
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

export function applyTheme(): void {
  document.documentElement.dataset['theme'] = wanted();
  dispatchEvent(new Event('theme'));
}

/** Prints use the light theme. */
addEventListener('beforeprint', () => { document.documentElement.dataset['theme'] = 'light'; });
addEventListener('afterprint', applyTheme);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', applyTheme);

export function toggleTheme(): void {
  localStorage.setItem(KEPT, wanted() === 'dark' ? 'light' : 'dark');
  applyTheme();
}

export function useTheme(): Theme {
  const [theme, setTheme] = useState(wanted);
  useEffect(() => {
    const follow = () => { setTheme(wanted()); };
    addEventListener('theme', follow);
    return () => { removeEventListener('theme', follow); };
  }, []);
  return theme;
}
