// The cheapest GPUs for a workload: the question on the left, the answer and its charts on the right.
import { useCallback, useMemo, useRef, useState } from 'preact/hooks';
import type { Plan, Schemas } from '../../api/client';
import { askForFile, Refused } from '../../api/client';
import { readAddress, useAddress, writeAddress } from '../../lib/address';
import { useAhead, useAnswer, useSettled } from '../../lib/answer';
import { toCsv } from '../../lib/csv';
import { save } from '../../lib/save';
import { Busy, Card, CopyLink, CopyText, Export, PageHead, Problem } from '../../parts/basics';
import { AnswerCard, headline, machinesOf } from './answer';
import { useOtherClouds } from './clouds';
import { Controls } from './controls';
import { Details } from './details';
import { SideBySide } from './beside';
import { choicesOf, gpusOf, labelsOf } from './compare';
import { DecideForm } from './decide';
import { CostAgainstTime, WorkPerDollar } from './pictures';
import { PlansTable, planRows } from './plans';
import { Scenarios } from './scenarios';
import { commandLine, DEFAULTS, FIELD_NAMES, isServing, labelOf, problemsOf, question, quickQuestion, refusedFields, withoutDeadline, type State } from './question';

type Recommend = Schemas['Recommend'];

const NONE: Plan[] = [];
/** Parts of the state that do not change the question. */
const VIEW = { plan: '1', vs: '', tab: '', tool: '' };

/** Fields that show what is wrong with them themselves. */
const TEXT_FIELDS = new Set(['tokens', 'gpu', 'regions', 'budget', 'maxgpus']);

/** The question of a first visit. */
const EXAMPLE = JSON.stringify({ ...DEFAULTS, ...VIEW });

export function Recommendation() {
  const [state, change] = useAddress(DEFAULTS);
  const [pending, setPending] = useState(false);
  const [open, setOpen] = useState<'decide' | 'scenarios' | null>(null);
  // While the input is invalid, the last valid question keeps its answer, greyed.
  const problems = problemsOf(state);
  const askable = useRef<State>();
  if (Object.keys(problems).length === 0) askable.current = state;
  const asking = askable.current;
  // Two requests: only plans while a slider moves, and all details when it rests.
  const key = JSON.stringify({ ...asking, ...VIEW });
  const quickAsk = useMemo(() => (asking ? quickQuestion(asking) : null), [key]);
  const fullAsk = useMemo(() => (asking ? question(asking) : null), [key]);
  const quick = useAnswer('recommend', quickAsk, true);
  const settledAsk = useSettled(fullAsk, 500);
  const full = useAnswer('recommend', settledAsk, false, settledAsk !== fullAsk);
  const askAhead = useAhead('recommend', quickAsk);
  const likely = (changes: Partial<State>[]) => { if (asking) askAhead(changes.map((each) => quickQuestion({ ...asking, ...each }))); };
  const fullIsCurrent = !full.busy && full.value !== undefined && full.value.what === quick.value?.what && !quick.busy;
  const found: Recommend | undefined = fullIsCurrent ? full.value : quick.value;
  // The answer shown may still be for the other kind of job.
  const job = found?.request?.['job'] ?? state.job;
  const serving = job === 'serve';
  // While a slider moves, only the best plan is computed again; the others stay.
  const before = !fullIsCurrent && (found?.plans ?? []).length > 0 && full.value?.request?.['job'] === job ? full.value : undefined;
  const plans = (before ?? found)?.plans ?? NONE;
  const others = useOtherClouds(asking, full.value?.plans ?? NONE, fullIsCurrent);
  const unlimited = useAnswer('recommend', useMemo(() => (fullIsCurrent && asking && !isServing(asking) && asking.deadline !== withoutDeadline(asking).deadline ? quickQuestion(withoutDeadline(asking)) : null), [key, fullIsCurrent]));
  const first = found?.plans?.[0];
  const shown = before ?? found;
  // The first answer has one plan: nothing can be said about others until all are ranked.
  const isRanked = shown !== undefined && shown === full.value;
  const choices = useMemo(() => choicesOf(shown), [shown]);
  const labels = useMemo(() => labelsOf(isRanked ? shown : undefined, serving), [shown, isRanked, serving]);
  const choice = choices.find((each) => each.key === state.plan) ?? choices[0];
  const picked: Plan | undefined = before ? first : choice?.plan;
  const other = choices.find((each) => each.key === state.vs && each !== choice);
  // Charts draw the limits of the question at the time of the answer, so they are drawn once per answer.
  const answered = useMemo(() => ({ ...(asking ?? state), job }), [found]);
  // Most answers arrive within 150 ms; while a slow one is computed, the old one is greyed.
  const slow = useSettled(quick.busy, 150) && quick.busy;
  const outdated = pending || slow || Object.keys(problems).length > 0 || quick.failed !== undefined || job !== state.job;
  // A refusal is that of the last question asked: it says nothing about fields that have changed since.
  const refused = Object.keys(problems).length === 0 && !pending ? quick.failed : undefined;
  const wrong = { ...(refused instanceof Refused ? refusedFields(refused.messages) : {}), ...problems };
  // Said once: below its field if that is a text field, otherwise above the answer.
  const above = refused instanceof Refused ? refused.without((message) => { const [field = ''] = Object.keys(refusedFields([message])); return TEXT_FIELDS.has(field); }) : refused;
  const pick = useCallback((plan: string, remember = true) => { change({ plan }, remember); }, [change]);
  // Rendered once per answer, not at every move of a slider, to keep the slider responsive.
  const pictures = useMemo(
    () =>
      shown && isRanked && plans.length > 0 && (
        <>
          <div class={`columns wide-left ${before ? 'stale' : ''}`}>
            <CostAgainstTime found={shown} serving={serving} state={answered} picked={choice?.key} onPick={pick} />
            <WorkPerDollar plans={plans} others={others} serving={serving} picked={picked} onPick={pick} />
          </div>
          <div class={`ranked ${before ? 'stale' : ''}`}><PlansTable plans={plans} labels={labels} serving={serving} picked={choice?.key} onPick={pick} /></div>
        </>
      ),
    [shown, isRanked, before, plans, labels, others, serving, answered, picked, choice?.key, pick],
  );

  const file = (format: 'html' | 'csv' | 'md') => {
    if (fullAsk) void askForFile('recommend', fullAsk, format).then((blob) => { save(`rightsize-recommend.${format}`, blob, blob.type); });
  };
  return (
    <>
      <PageHead title="Recommend" what="The cheapest GPUs for a workload: how many, which provider, terms and settings">
        <CopyLink />
        <button type="button" class="button" aria-expanded={open === 'scenarios'} onClick={() => { setOpen(open === 'scenarios' ? null : 'scenarios'); }}>Scenarios</button>
        {fullAsk && <CopyText text={commandLine(fullAsk)} what="Copy the command" small={false} />}
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
          {open === 'scenarios' && (
            <Scenarios
              now={{ address: writeAddress({ ...state, ...VIEW, tab: DEFAULTS.tab, tool: DEFAULTS.tool }, DEFAULTS), answer: first ? headline(first, serving) : 'Nothing meets the limits', usd: first?.usd_total }}
              suggested={`${serving ? 'Serve' : 'Train'} ${state.config === '' ? state.model : 'own model'}`}
              onOpen={(address) => { change(readAddress(address, DEFAULTS), true); }}
              onClose={() => { setOpen(null); }}
            />
          )}
          {above !== undefined && (
            <Card label="Error">
              <Problem failed={above} fields={FIELD_NAMES} />
            </Card>
          )}
          {!asking && <Card label="Error"><p class="note bad">{Object.entries(problems).map(([field, why]) => `${labelOf(field)}: ${why}`).join(' ')}</p></Card>}
          {!found && asking && quick.failed === undefined && (
            <Card label="Working">
              <div class="empty">
                <Busy what="Planning…" />
              </div>
            </Card>
          )}
          {found && fullAsk && (
            <div class={`stack ${Object.keys(problems).length > 0 ? 'stale kept' : outdated ? 'stale' : ''}`}>
              {Object.keys(problems).length > 0 && <p class="note warn">This is still the answer to the previous question.</p>}
              <AnswerCard found={found} plan={picked} serving={serving} full={fullIsCurrent ? full.value : undefined} unlimited={fullIsCurrent && !unlimited.busy ? unlimited.value?.plans?.[0] : undefined}
                labels={choice && !before ? (labels.get(choice.key) ?? []) : []}
                example={key === EXAMPLE}
                busy={slow}
                tools={
                  <>
                    <button type="button" class="button small main-one" disabled={!fullIsCurrent} title={fullIsCurrent ? undefined : 'The details of this plan are being computed'} onClick={() => { setOpen(open === 'decide' ? null : 'decide'); }}>Decide…</button>
                    {choices.length > 1 && (
                      <label class="inline-select">
                        Compare with{' '}
                        <select value={other?.key ?? ''} onChange={(event) => { change({ vs: event.currentTarget.value }, true); }}>
                          <option value="">another plan</option>
                          {choices.filter((each) => each !== choice).map((each) => <option key={each.key} value={each.key}>{[(labels.get(each.key) ?? []).join(', '), machinesOf(each.plan)].filter(Boolean).join(': ')}</option>)}
                        </select>
                      </label>
                    )}
                    {([['rejected', 'Why not others'], ['changes', 'What would change it']] as const).map(([tab, name]) => (
                      <button type="button" class="button small" key={tab} onClick={() => { change({ tab }); document.querySelector('.about')?.scrollIntoView(); }}>{name}</button>
                    ))}
                    {choice && choice !== choices[0] && <button type="button" class="button small" onClick={() => { pick('1'); }}>Back to {first ? gpusOf(first) : 'the first'}</button>}
                  </>
                }
              />
              {open === 'decide' && full.value && fullIsCurrent && picked && <DecideForm key={choice?.key} found={full.value} plan={picked} serving={serving} onClose={() => { setOpen(null); }} />}
              {choice && other && <SideBySide first={choice} second={other} serving={serving} onClose={() => { change({ vs: '' }, true); }} />}
              {pictures}
              {!isRanked && plans.length > 0 && <Card label="Other plans">{full.failed === undefined ? <div class="empty"><Busy what="Comparing with other plans…" /></div> : <Problem failed={full.failed} fields={FIELD_NAMES} />}</Card>}
              <Details state={{ ...(asking ?? state), job, tab: state.tab, tool: state.tool }} change={change} found={fullIsCurrent ? full.value : undefined} plan={picked} ask={fullAsk} />
            </div>
          )}
        </div>
      </div>
    </>
  );
}
