// The actions that save most, with the bill before and after the chosen ones.
import { useState } from 'preact/hooks';
import { percent, plural } from '../../lib/format';
import { running } from '../../lib/period';
import { inPageWords, pageNamed } from '../../lib/words';
import { Badge, Card, CopyText, type Tone } from '../../parts/basics';
import { actionKey, ownerShown, savingOf, verdictShown, type Action, type Unplanned } from './shapes';

/** Actions that are listed. */
const MOST = 30;

const KIND: Record<string, Tone> = { stop: 'bad', consolidate: 'accent', mig: 'accent', downsize: 'warn', batch: 'accent', quantize: 'accent', commit: 'good' };

function BeforeAfter(props: { before: number; saved: number }) {
  const { before, saved } = props;
  const share = before > 0 ? Math.min(1, saved / before) : 0;
  const bar = (fill: number, colour: string) => (
    <div style={{ background: 'var(--sunken)', borderRadius: '4px', height: '14px', overflow: 'hidden' }}>
      <div style={{ width: `${String(100 * fill)}%`, background: colour, height: '100%', transition: 'width 160ms' }} />
    </div>
  );
  return (
    <div style={{ display: 'grid', gridTemplateColumns: 'auto minmax(40px, 1fr) auto', gap: '5px 10px', alignItems: 'center', padding: '4px 14px 10px' }} data-help="The cost of the GPUs at this rate, and what is left of it after the ticked actions" role="img" aria-label={`${running(before)} now, ${running(before - saved)} after the chosen actions`}>
      <span class="quiet">Before</span>
      {bar(1, 'var(--line-strong)')}
      <span data-testid="before">{running(before)}</span>
      <span class="quiet">After</span>
      {bar(1 - share, 'var(--good)')}
      <span>
        <strong data-testid="after">{running(before - saved)}</strong> <span class="quiet">−{percent(share)}</span>
      </span>
    </div>
  );
}

function Steps(props: { action: Action }) {
  const { action } = props;
  return (
    <dl class="stack" style={{ gap: '6px', padding: '6px 0 4px 26px', fontSize: '13px' }}>
      {(
        [
          ['From', `${action.from} → ${action.to}`],
          ['Risk', action.risk],
          ['Check', action.check],
          ['Undo', action.rollback],
        ] as const
      ).map(([name, text]) => (
        <div key={name} style={{ display: 'grid', gridTemplateColumns: '54px 1fr', gap: '8px' }}>
          <dt class="quiet">{name}</dt>
          <dd>{text}</dd>
        </div>
      ))}
      {action.commands.length > 0 && (
        <div style={{ display: 'grid', gridTemplateColumns: '54px 1fr', gap: '8px' }}>
          <dt class="quiet">Run</dt>
          <dd>
            <pre class="file" tabIndex={0}>{action.commands.join('\n')}</pre>
            <div class="actions" style={{ marginTop: '4px' }}>
              <CopyText text={action.commands.join('\n')} />
              {action.manifest && <CopyText text={String(action.manifest)} />}
              {action.manifest && <span class="quiet">the manifest</span>}
            </div>
          </dd>
        </div>
      )}
    </dl>
  );
}

export function Actions(props: { team: string; monthly: number; actions: Action[]; unplanned: Unplanned[]; off: Set<string>; onOff: (off: Set<string>) => void }) {
  const [open, setOpen] = useState<string | null>(null);
  const toggle = (key: string) => {
    const next = new Set(props.off);
    if (!next.delete(key)) next.add(key);
    props.onOff(next);
  };
  return (
    <Card title="What saves most" note={`Choose actions${props.team === '' ? '' : ` of ${props.team}`}; their savings do not overlap.`} bare>
      <BeforeAfter before={props.monthly} saved={savingOf(props.actions, props.off)} />
      <ul>
        {props.actions.slice(0, MOST).map((action) => {
          const key = actionKey(action);
          return (
            <li key={key} style={{ borderTop: '1px solid var(--line)', padding: '8px 14px' }}>
              <div style={{ display: 'flex', gap: '4px 10px', alignItems: 'baseline', flexWrap: 'wrap' }}>
                <input type="checkbox" checked={action.counted && !props.off.has(key)} disabled={!action.counted} aria-label={`Count: ${action.what}`} onChange={() => { toggle(key); }} />
                <Badge tone={KIND[action.kind] ?? 'plain'}>{action.kind}</Badge>
                <button type="button" class="row-link" style={{ flex: '1 1 180px', fontWeight: 500, whiteSpace: 'normal' }} aria-expanded={open === key} onClick={() => { setOpen(open === key ? null : key); }}>
                  {action.what}
                </button>
                {!action.counted && <Badge tone="warn">not counted: check it first</Badge>}
                <span class="quiet" data-help="The confidence in the verdicts behind this action, weighted by the cost of their GPUs">{percent(action.confidence)} sure</span>
                <strong class="number" data-help="What this action saves; savings of different actions do not overlap">{running(action.saving_usd_per_month)}</strong>
              </div>
              {open === key && <Steps action={action} />}
            </li>
          );
        })}
      </ul>
      {props.actions.length > MOST && <p class="quiet" style={{ padding: '8px 14px' }}>{plural(props.actions.length - MOST, 'smaller action')}, counted above, save {running(props.actions.slice(MOST).reduce((sum, action) => sum + (action.counted ? action.saving_usd_per_month : 0), 0))}; choose a team to see them.</p>}
      {props.actions.length === 0 && props.unplanned.length === 0 && <p class="empty">No action found.</p>}
      {props.unplanned.slice(0, MOST).map((waste) => (
        <p class="note warn" style={{ margin: '8px 14px 12px' }} key={waste.owner} data-testid="unplanned">
          No action found for <strong>{ownerShown(waste.owner)}</strong>, which wastes {running(waste.waste_usd_per_month)} on {plural(waste.gpus, 'GPU')} ({verdictShown(waste.verdict)}): {inPageWords(waste.next)}. {pageNamed(waste.next) && <a href={pageNamed(waste.next)?.path}>Open the {pageNamed(waste.next)?.name} page</a>}
        </p>
      ))}
    </Card>
  );
}
