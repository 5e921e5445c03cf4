// Explanations of numbers: over a name, its number or a cell of its column, by mouse, touch and keyboard.
import { useEffect, useState } from 'preact/hooks';

interface Shown {
  text: string;
  x: number;
  y: number;
  above: boolean;
}

/** The element that is explained: it names its explanation, or it is a cell below a title that does; then also the head. */
function explainedAt(target: EventTarget | null, cells: boolean): [Element, string, Element?] | undefined {
  if (!(target instanceof Element)) return undefined;
  const own = target.closest('[data-help]');
  if (own instanceof HTMLElement && own.dataset['help']) return [own, own.dataset['help']];
  const cell = cells ? target.closest('td.number') : null;
  if (!(cell instanceof HTMLTableCellElement)) return undefined;
  const title = cell.closest('table')?.tHead?.rows[0]?.cells[cell.cellIndex]?.querySelector('[data-help]');
  return title instanceof HTMLElement && title.dataset['help'] ? [cell, title.dataset['help'], title.closest('thead') ?? undefined] : undefined;
}

/** How long the mouse must rest, in milliseconds: people who only pass over a number are not interrupted. */
const REST = 350;
const WIDTH = 280;

export function Help() {
  const [shown, setShown] = useState<Shown | null>(null);
  useEffect(() => {
    let timer = 0;
    const show = (found: [Element, string, Element?], wait: number) => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        const box = found[0].getBoundingClientRect();
        // That of a cell is above the head if there is room, because below it would cover the next rows.
        const head = found[2]?.getBoundingClientRect().top ?? 0;
        setShown({ text: found[1], x: Math.max(8, Math.min(box.left, innerWidth - WIDTH - 8)), ...(head > 90 ? { y: head - 4, above: true } : { y: box.bottom + 6, above: false }) });
      }, wait) as unknown as number;
    };
    const hide = () => { clearTimeout(timer); setShown(null); };
    // Scrolling puts other numbers under a mouse that rests: only one that has moved asks for an explanation.
    let last = '';
    const over = (event: PointerEvent) => {
      if (event.pointerType !== 'mouse') return;
      const at = `${String(event.screenX)} ${String(event.screenY)}`;
      if (at === last) { hide(); return; }
      const found = explainedAt(event.target, true);
      if (found) show(found, REST);
      else hide();
    };
    const moved = (event: PointerEvent) => { last = `${String(event.screenX)} ${String(event.screenY)}`; };
    const touch = (event: PointerEvent) => {
      if (event.pointerType === 'mouse') return;
      const found = explainedAt(event.target, false);
      if (found) show(found, 0);
      else hide();
    };
    const focus = (event: FocusEvent) => {
      // A touch also moves the focus, but not visibly.
      if (!(event.target instanceof Element) || !event.target.matches(':focus-visible')) return;
      const found = explainedAt(event.target, false);
      if (found) show(found, 0);
      else hide();
    };
    const press = (event: KeyboardEvent) => { if (event.key === 'Escape') hide(); };
    addEventListener('pointerover', over);
    addEventListener('pointermove', moved);
    addEventListener('pointerup', touch);
    addEventListener('focusin', focus);
    addEventListener('keydown', press);
    addEventListener('scroll', hide, true);
    return () => {
      clearTimeout(timer);
      removeEventListener('pointerover', over);
      removeEventListener('pointermove', moved);
      removeEventListener('pointerup', touch);
      removeEventListener('focusin', focus);
      removeEventListener('keydown', press);
      removeEventListener('scroll', hide, true);
    };
  }, []);
  return shown && <div class="help" role="tooltip" style={{ left: `${String(shown.x)}px`, top: `${String(shown.y)}px`, maxWidth: `${String(WIDTH)}px`, ...(shown.above ? { transform: 'translateY(-100%)' } : {}) }}>{shown.text}</div>;
}
