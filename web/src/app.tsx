// The frame: navigation, theme, and the page in the address.
import { Component, type ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { setToken } from './api/client';
import { setPeriod } from './lib/period';
import { Help } from './parts/help';
import { toggleTheme, useTheme } from './parts/theme';
import { usePeriod } from './parts/period';
import { AutoscalePage } from './pages/autoscale';
import { BatchingPage } from './pages/batching';
import { CachePage } from './pages/cache';
import { CommitPage } from './pages/commit';
import { DecisionsPage } from './pages/decisions';
import { EnergyPage } from './pages/energy';
import { FleetPage } from './pages/fleet';
import { LivePage } from './pages/live';
import { MigPage } from './pages/mig';
import { PortfolioPage } from './pages/portfolio';
import { PricesPage } from './pages/prices';
import { Recommendation } from './pages/recommend';
import { RlPage } from './pages/rl';
import { ServicePage } from './pages/service';
import { WindowPage } from './pages/window';

interface Page {
  path: string;
  name: string;
  icon: string;
  show: () => preact.JSX.Element;
}

const PAGES: Page[] = [
  { path: '/recommend', name: 'Recommend', icon: 'M3 13V8M7 13V3M11 13V6M15 13v-3', show: Recommendation },
  { path: '/fleet', name: 'Fleet', icon: 'M2 3h6v5H2zM10 3h6v5h-6zM2 10h6v3H2zM10 10h6v3h-6z', show: FleetPage },
  { path: '/service', name: 'Service', icon: 'M3 3h12v4H3zM3 9h12v4H3zM5.500 5h.1M5.500 11h.1', show: ServicePage },
  { path: '/portfolio', name: 'Portfolio', icon: 'M2 4h5v3H2zM9 4h7v3H9zM2 9h9v3H2zM13 9h3v3h-3z', show: PortfolioPage },
  { path: '/batching', name: 'Batching', icon: 'M2 13c5 0 6-1 8-4s3-6 6-6M2 3v10h14', show: BatchingPage },
  { path: '/autoscale', name: 'Autoscale', icon: 'M2 12h3V9h3V5h4v4h4M2 14h14', show: AutoscalePage },
  { path: '/cache', name: 'KV cache', icon: 'M2 13c2-8 5-9 14-9M2 3v10h14', show: CachePage },
  { path: '/rl', name: 'RL training', icon: 'M4 8a5 5 0 0 1 9-3M14 8a5 5 0 0 1-9 3M13 2v3h-3M5 14v-3h3', show: RlPage },
  { path: '/window', name: 'Batch window', icon: 'M3 13V9h3v4M8 13V5h3v8M13 13v-3h2v3', show: WindowPage },
  { path: '/mig', name: 'MIG', icon: 'M2 4h14v8H2zM6 4v8M11 4v8', show: MigPage },
  { path: '/energy', name: 'Energy', icon: 'M10 2 4 9h4l-1 5 6-7H9z', show: EnergyPage },
  { path: '/commit', name: 'Commitments', icon: 'M4 3h10v10H4zM4 6h10M7 2v2M11 2v2', show: CommitPage },
  { path: '/prices', name: 'Prices', icon: 'M9 2v12M12.5 4.5C11.500 3.500 10 3.200 9 3.200c-2 0-3.500 1-3.500 2.400 0 3.400 7 1.400 7 4.800 0 1.400-1.500 2.400-3.500 2.400-1.500 0-3-.6-3.800-1.800', show: PricesPage },
  { path: '/live', name: 'Live', icon: 'M2 8h3l2-5 4 10 2-5h3', show: LivePage },
  { path: '/decisions', name: 'Decisions', icon: 'M3 3h12v10H3zM6 8l2 2 4-4', show: DecisionsPage },
];

/** The last address of each page: the menu returns to it. */
const lastAddress = new Map<string, string>();

function current(): string {
  return location.pathname === '/' ? '/recommend' : location.pathname;
}

function TokenForm() {
  const [needed, setNeeded] = useState(false);
  useEffect(() => {
    const ask = () => { setNeeded(true); };
    addEventListener('token-needed', ask);
    return () => { removeEventListener('token-needed', ask); };
  }, []);
  if (!needed) return null;
  return (
    <form
      class="card fields"
      style={{ marginBottom: '14px', maxWidth: '460px' }}
      onSubmit={(event) => {
        event.preventDefault();
        setToken(String(new FormData(event.currentTarget).get('token') ?? ''));
        location.reload();
      }}
    >
      <div class="field">
        <label for="token">This server requires a token</label>
        <input id="token" name="token" type="password" autocomplete="off" class="button" style={{ width: '100%' }} />
        <p class="hint">It is kept until this tab is closed.</p>
      </div>
      <button type="submit" class="button main-one" style={{ alignSelf: 'start' }}>
        Continue
      </button>
    </form>
  );
}

function Navigation(props: { path: string; go: (path: string) => void }) {
  const theme = useTheme();
  const shown = usePeriod();
  const menu = useRef<HTMLDivElement>(null);
  // On phones, the menu is one row.
  useEffect(() => { menu.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' }); }, [props.path]);
  return (
    <nav class="side" aria-label="Pages">
      <a class="brand" href="/recommend">
        <img src="/icon.svg" alt="" />
        rightsize
      </a>
      <div class="nav" ref={menu}>
        {PAGES.map((page) => (
          <a
            key={page.path}
            href={page.path}
            aria-current={props.path === page.path ? 'page' : undefined}
            onClick={(event) => {
              if (event.metaKey || event.ctrlKey || event.shiftKey) return;
              event.preventDefault();
              props.go(page.path);
            }}
          >
            <svg viewBox="0 0 18 16" fill="none" stroke="currentColor" stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">
              <path d={page.icon} />
            </svg>
            {page.name}
          </a>
        ))}
      </div>
      <div class="side-foot">
        <button type="button" class="button small" style={{ alignSelf: 'start' }} onClick={() => { setPeriod(shown === 'month' ? 'year' : 'month'); }}>
          Costs per {shown === 'month' ? 'year' : 'month'}
        </button>
        <button type="button" class="button small" style={{ alignSelf: 'start' }} onClick={toggleTheme}>
          {theme === 'dark' ? 'Light' : 'Dark'} theme
        </button>
        <a href="/api/openapi.json">API</a>
      </div>
    </nav>
  );
}

/** If a page fails to render, the frame and the other pages keep working. */
export class ErrorBoundary extends Component<{ children: ComponentChildren }, { failed?: unknown }> {
  override state: { failed?: unknown } = {};
  static override getDerivedStateFromError(failed: unknown) {
    return { failed };
  }
  override render() {
    const { failed } = this.state;
    if (failed === undefined) return this.props.children;
    return (
      <section class="card note bad" role="alert">
        <p>This page cannot show the answer: {failed instanceof Error ? failed.message : String(failed)}</p>
        <p class="quiet">The other pages work. Please report this with the address of the page.</p>
        <button type="button" class="button small" onClick={() => { this.setState({ failed: undefined }); }}>
          Try again
        </button>
      </section>
    );
  }
}

export function App() {
  const [path, setPath] = useState(current);
  const shown = usePeriod();
  useEffect(() => {
    const follow = () => { setPath(current()); };
    addEventListener('popstate', follow);
    return () => { removeEventListener('popstate', follow); };
  }, []);
  const page = PAGES.find((each) => each.path === path);
  const Show = page?.show;
  return (
    <div class="frame">
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <Navigation
        path={path}
        go={(next) => {
          lastAddress.set(path, location.search + location.hash);
          history.pushState(null, '', next + (lastAddress.get(next) ?? ''));
          setPath(next);
          scrollTo(0, 0);
        }}
      />
      <main class="main" id="main" tabIndex={-1}>
        <TokenForm />
        {Show ? <ErrorBoundary key={`${path} ${shown}`}><Show /></ErrorBoundary> : <p class="empty" data-testid="not-found">There is no page at <code>{path}</code>. Choose one from the menu.</p>}
      </main>
      <Help />
    </div>
  );
}
