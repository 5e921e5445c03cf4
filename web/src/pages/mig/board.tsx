// GPUs as lanes of slices. Slices can be dragged from one GPU to another, or moved with the keyboard.
import { useState } from 'preact/hooks';
import { Badge } from '../../parts/basics';
import type { Board, Piece } from './workloads';

const COLOURS = ['var(--c1)', 'var(--c2)', 'var(--c3)', 'var(--c4)', 'var(--c5)', 'var(--c6)', 'var(--c7)', 'var(--c8)'];

export function colourOf(workload: string, names: string[]): string {
  return COLOURS[Math.max(0, names.indexOf(workload)) % COLOURS.length] ?? 'var(--c8)';
}

interface Held {
  from: number;
  piece: number;
}

function Slice(props: { piece: Piece; units: number; colour: string; held: boolean; onHold: () => void; onDrop: () => void }) {
  const { piece, units } = props;
  return (
    <button
      type="button"
      draggable
      class="slice"
      aria-pressed={props.held}
      aria-label={`${piece.workload}, slice ${piece.profile} at ${String(piece.start)}${props.held ? ', held: choose a GPU to move it to' : ''}`}
      style={{ left: `${String((100 * piece.start) / units)}%`, width: `${String((100 * piece.size) / units)}%`, '--tint': props.colour }}
      onDragStart={(event) => {
        event.dataTransfer?.setData('text/plain', piece.workload);
        props.onHold();
      }}
      onDragEnd={props.onDrop}
      onClick={props.onHold}
    >
      <strong>{piece.workload}</strong>
      <span>{piece.profile}</span>
    </button>
  );
}

export function BoardView(props: { boards: Board[]; units: number; names: string[]; onMove: (from: number, piece: number, to: number) => void; refused: { to: number; why: string } | null }) {
  const [held, setHeld] = useState<Held | null>(null);
  const drop = (to: number) => {
    if (held) props.onMove(held.from, held.piece, to);
    setHeld(null);
  };
  return (
    <ul class="boards">
      {props.boards.map((board, i) => (
        <li key={i} class={`board ${held && held.from !== i ? 'target' : ''}`} data-testid={`gpu-${String(i)}`} onDragOver={(event) => { event.preventDefault(); }} onDrop={(event) => { event.preventDefault(); drop(i); }}>
          <div class="board-name">
            GPU {i} <span class="quiet">{board.gpu}</span>
            {board.pieces.length === 0 && <Badge tone="good">free: can be released</Badge>}
            {held && held.from !== i && (
              <button type="button" class="button small" onClick={() => { drop(i); }}>
                Move here
              </button>
            )}
            {props.refused?.to === i && <Badge tone="bad">{props.refused.why}</Badge>}
          </div>
          <div class="lane" style={{ '--units': props.units }}>
            {board.pieces.map((piece, j) => (
              <Slice key={`${piece.workload}-${String(piece.replica)}`} piece={piece} units={props.units} colour={colourOf(piece.workload, props.names)} held={held?.from === i && held.piece === j} onHold={() => { setHeld({ from: i, piece: j }); }} onDrop={() => { setHeld(null); }} />
            ))}
          </div>
        </li>
      ))}
    </ul>
  );
}
