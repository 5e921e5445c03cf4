// The cheapest GPUs for a workload: the question on the left, the answer and its charts on the right.
import { useCallback, useMemo, useRef, useState } from 'preact/hooks';
import type { Plan, Schemas } from '../../api/client';
import { askForFile, Refused } from '../../api/client';
import { useAddress } from '../../lib/address';
import { useAhead, useAnswer, useSettled } from '../../lib/answer';
import { toCsv } from '../../lib/csv';
import { save } from '../../lib/save';
import { Busy, Card, CopyLink, CopyText, Export, PageHead, Problem } from '../../parts/basics';
import { AnswerCard } from './answer';
import { useOtherClouds } from './clouds';
import { Controls } from './controls';
import { Details } from './details';
import { CostAgainstTime, WorkPerDollar } from './pictures';
import { PlansTable, planRows } from './plans';
import { commandLine, DEFAULTS, FIELD_NAMES, problemsOf, question, quickQuestion, refusedFields, type State } from './question';

type Recommend = Schemas['Recommend'];

const NONE: Plan[] = [];

export function Recommendation() {
  const [state, change] = useAddress(DEFAULTS);
  const [pending, setPending] = useState(false);
  // While the input is invalid, the last valid question keeps its answer, greyed.
  const problems = problemsOf(state);
  const askable = useRef<State>();
  if (Object.keys(problems).length === 0) askable.current = state;
  const asking = askable.current;
  // Two requests: only plans while a slider moves, and all details when it rests.
  const key = JSON.stringify({ ...asking, plan: '', tab: '', tool: '' });
  const quickAsk = useMemo(() => (asking ? quickQuestion(asking) : null), [key]);
  const fullAsk = useMemo(() => (asking ? question(asking) : null), [key]);
  const quick = useAnswer('recommend', quickAsk, true);
  const full = useAnswer('recommend', useSettled(fullAsk, 500));
  const askAhead = useAhead('recommend', quickAsk);
  const likely = (changes: Partial<State>[]) => { if (asking) askAhead(changes.map((each) => quickQuestion({ ...asking, ...each }))); };
  const fullIsCurrent = !full.busy && full.value !== undefined && full.value.what === quick.value?.what && !quick.busy;
  const found: Recommend | undefined = fullIsCurrent ? full.value : quick.value;
  // The answer shown may still be for the other kind of job.
  const job = found?.request?.['job'] ?? state.job;
  const serving = job === 'serve';
  // While a slider moves, only the best plan of a service is simulated again; the others stay.
  const before = serving && !fullIsCurrent && (found?.plans ?? []).length > 0 && full.value?.request?.['job'] === job ? full.value : undefined;
  const plans = (before ?? found)?.plans ?? NONE;
  const others = useOtherClouds(asking, full.value?.plans ?? NONE, fullIsCurrent);
  const first = found?.plans?.[0];
  const picked: Plan | undefined = before ? first : (plans[Number(state.plan) - 1] ?? plans[0]);
  // Charts draw the limits of the question as it was when the answer came, so that they are drawn once per answer.
  const answered = useMemo(() => ({ ...state, job }), [found]);
  // Most answers arrive within 150 ms; while a slow one is computed, the old one is greyed.
  const slow = useSettled(quick.busy, 150) && quick.busy;
  const outdated = pending || slow || Object.keys(problems).length > 0 || quick.failed !== undefined || job !== state.job;
  const wrong = { ...(quick.failed instanceof Refused ? refusedFields(quick.failed.messages) : {}), ...problems };
  const pick = useCallback((rank: number) => { change({ plan: String(rank) }, true); }, [change]);
  // Rendered once per answer, not at every move of a slider, to keep the slider responsive.
  const shown = before ?? found;
  const pictures = useMemo(
    () =>
      shown && plans.length > 0 && (
        <>
          <div class={`columns wide-left ${before ? 'stale' : ''}`}>
            <CostAgainstTime found={shown} serving={serving} state={answered} picked={picked} onPick={pick} />
            <WorkPerDollar plans={plans} others={others} serving={serving} picked={picked} onPick={pick} />
          </div>
          <div class={before ? 'stale' : ''}><PlansTable plans={plans} serving={serving} picked={picked} onPick={pick} /></div>
        </>
      ),
    [shown, before, plans, others, serving, answered, picked, pick],
  );

  const file = (format: 'html' | 'csv' | 'md') => {
    if (fullAsk) void askForFile('recommend', fullAsk, format).then((blob) => { save(`rightsize-recommend.${format}`, blob, blob.type); });
  };
  return (
    <>
      <PageHead title="Recommend" what="The cheapest GPUs for a workload: how many, which provider, terms and settings">
        <CopyLink />
        {fullAsk && <CopyText text={commandLine(fullAsk)} what="Copy the command" />}
        <Export
          items={[
            ['Report (HTML)', () => { file('html'); }],
            ['Decision record (Markdown)', () => { file('md'); }],
            ['Plans (CSV)', () => { save('rightsize-plans.csv', toCsv(planRows(plans)), 'text/csv'); }],
            ['Plans (JSON)', () => { save('rightsize-plans.json', JSON.stringify(found, null, 2), 'application/json'); }],
          ]}
        />
      </PageHead>
      <div class="with-controls">
        <div class="controls">
          <Controls state={state} change={change} first={first} found={found} wrong={wrong} onPending={setPending} onLikely={likely} />
        </div>
        <div class="stack">
          {quick.failed !== undefined && (
            <Card label="Error">
              <Problem failed={quick.failed} fields={FIELD_NAMES} />
            </Card>
          )}
          {!asking && <Card label="Error"><p class="note bad">{Object.values(problems).join(' ')}</p></Card>}
          {!found && asking && quick.failed === undefined && (
            <Card label="Working">
              <div class="empty">
                <Busy what="Planning…" />
              </div>
            </Card>
          )}
          {found && fullAsk && (
            <div class={`stack ${outdated ? 'stale' : ''}`}>
              {Object.keys(problems).length > 0 && <p class="note warn">This is still the answer to the previous question.</p>}
              <AnswerCard found={found} plan={picked} serving={serving} milliseconds={quick.milliseconds} full={fullIsCurrent ? full.value : undefined} />
              {pictures}
              <Details state={{ ...state, job }} change={change} found={fullIsCurrent ? full.value : undefined} plan={picked} ask={fullAsk} />
            </div>
          )}
        </div>
      </div>
    </>
  );
}
