import { render } from 'preact';
import { App } from './app';
import { applyTheme } from './parts/theme';
import './styles.css';

applyTheme();
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', applyTheme);
const root = document.getElementById('app');
if (root) render(<App />, root);
