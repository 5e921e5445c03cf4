import { useState } from 'preact/hooks';
import { money } from '../../lib/format';
import { keepScenarios, readScenarios, withScenario, type Scenario } from '../../lib/scenarios';
import { Card } from '../../parts/basics';
import { Table } from '../../parts/table';

/** The saved questions; `now` is the one on the page. */
export function Scenarios(props: { now: Omit<Scenario, 'name' | 'saved'>; suggested: string; onOpen: (address: string) => void; onClose: () => void }) {
  const [all, setAll] = useState(() => readScenarios(localStorage));
  const [name, setName] = useState(props.suggested);
  const [failed, setFailed] = useState(false);
  const keep = (next: Scenario[]) => {
    setAll(next);
    setFailed(!keepScenarios(localStorage, next));
  };
  return (
    <Card title="Scenarios" note="Kept in this browser. Each opens with today’s prices; the answer shown is the one it had when it was saved." tools={<button type="button" class="button small" onClick={props.onClose}>Close</button>}>
      <form class="actions" onSubmit={(event) => { event.preventDefault(); if (name.trim() !== '') keep(withScenario(all, { ...props.now, name: name.trim(), saved: new Date().toISOString().slice(0, 10) })); }}>
        <input class="button" type="text" aria-label="Name of the scenario" value={name} onInput={(event) => { setName(event.currentTarget.value); }} />
        <button type="submit" class="button main-one">Save this question</button>
        {failed && <span class="note bad" role="alert">This browser blocks storage.</span>}
      </form>
      {all.length > 0 && (
        <Table
          label="Scenarios"
          rows={all}
          keyOf={(row) => row.name}
          onPick={(row) => { props.onOpen(row.address); }}
          columns={[
            { title: 'Name', cell: (row) => row.name, sort: (row) => row.name },
            { title: 'Answer', wide: true, cell: (row) => row.answer },
            { title: 'Cost', number: true, cell: (row) => money(row.usd), sort: (row) => row.usd ?? 0 },
            { title: 'Saved', roomy: true, cell: (row) => row.saved, sort: (row) => row.saved },
            { title: 'Remove', cell: (row) => <button type="button" class="ghost" aria-label={`Remove ${row.name}`} onClick={(event) => { event.stopPropagation(); keep(all.filter((each) => each !== row)); }}>✕</button> },
          ]}
        />
      )}
    </Card>
  );
}
