// Decisions that were kept: what was decided, what it was to save, what it did save.
import { useEffect, useState } from 'preact/hooks';
import { Refused, showDocument } from '../../api/client';
import { Badge, Busy, Card, PageHead, Problem } from '../../parts/basics';
import { Table } from '../../parts/table';

type Decision = Record<string, unknown>;

function shown(value: unknown): string {
  if (value === null || value === undefined) return '–';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

export function DecisionsPage() {
  const [rows, setRows] = useState<Decision[] | null>(null);
  const [failed, setFailed] = useState<unknown>();
  useEffect(() => {
    showDocument('/api/decisions').then(
      (document) => { setRows(((document as { decisions?: Decision[] }).decisions ?? []).filter((each) => typeof each === 'object')); },
      setFailed,
    );
  }, []);
  const missing = failed instanceof Refused && failed.status === 404;
  const names = Object.keys(rows?.[0] ?? {}).slice(0, 8);
  return (
    <>
      <PageHead title="Decisions" what="What was decided, what it was to save, and what it did save" />
      {missing && <Card label="Decisions"><p class="empty">This build keeps no decisions.</p></Card>}
      {failed !== undefined && !missing && <Card label="What is wrong"><Problem failed={failed} /></Card>}
      {rows === null && failed === undefined && <Busy />}
      {rows !== null && (
        <Card title="Kept decisions" tools={<Badge>{rows.length}</Badge>} bare>
          <Table label="Kept decisions" rows={rows} keyOf={(row) => shown(row['id'] ?? JSON.stringify(row))} columns={names.map((name) => ({ title: name.replace(/_/g, ' '), cell: (row: Decision) => shown(row[name]), sort: (row: Decision) => shown(row[name]) }))} />
          {rows.length === 0 && <p class="empty">No decision is kept yet.</p>}
        </Card>
      )}
    </>
  );
}
