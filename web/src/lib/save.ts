// Files created in the browser; nothing is sent to a server.

/** Today in the reader's time zone, as 2026-11-16. */
export function today(now = new Date()): string {
  return `${now.getFullYear()}-${String(now.getMonth() + 1).padStart(2, '0')}-${String(now.getDate()).padStart(2, '0')}`;
}

/** rightsize-plans.csv becomes rightsize-plans-2026-11-16.csv, because prices change. */
export function dated(name: string, day = today()): string {
  const dot = name.lastIndexOf('.');
  return dot < 0 ? `${name}-${day}` : `${name.slice(0, dot)}-${day}${name.slice(dot)}`;
}

export function save(name: string, content: BlobPart, type: string): void {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = dated(name);
  link.click();
  setTimeout(() => {
    URL.revokeObjectURL(address);
  }, 1000);
}

const PAINTED = ['fill', 'stroke', 'color', 'font-family', 'font-size', 'font-weight', 'opacity', 'stroke-width', 'stroke-dasharray', 'text-anchor'];

export interface Caption {
  title: string;
  note?: string | undefined;
  legend?: [string, string][] | undefined;
}

const SVG = 'http://www.w3.org/2000/svg';

function written(text: string, x: number, y: number, size: number, weight = 400): SVGTextElement {
  const element = document.createElementNS(SVG, 'text');
  element.textContent = text;
  element.setAttribute('style', `font: ${weight} ${size}px system-ui, sans-serif; fill: currentColor; stroke: none`);
  element.setAttribute('x', String(x));
  element.setAttribute('y', String(y));
  return element;
}

/** The text in lines of at most `most` characters, broken between words. */
export function lines(text: string, most: number): string[] {
  const found: string[] = [];
  for (const word of text.split(' ')) {
    const last = found[found.length - 1];
    if (last !== undefined && last.length + 1 + word.length <= most) found[found.length - 1] = `${last} ${word}`;
    else found.push(word);
  }
  return found;
}

/** The caption of a saved chart: title, legend and date. */
function framed(picture: SVGSVGElement, caption: Caption, width: number, height: number): [SVGSVGElement, number] {
  const frame = document.createElementNS(SVG, 'svg');
  let y = 22;
  frame.append(written(caption.title, 10, y, 15, 600));
  for (const line of caption.note ? lines(caption.note, Math.max(30, (width - 20) / 6.4)) : []) frame.append(written(line, 10, (y += 16), 11.5));
  if (caption.legend) {
    y += 20;
    let x = 10;
    for (const [name, colour] of caption.legend) {
      const room = 26 + name.length * 6.6;
      if (x > 10 && x + room > width) { x = 10; y += 18; }
      const dot = document.createElementNS(SVG, 'rect');
      for (const [attribute, value] of Object.entries({ x, y: y - 9, width: 10, height: 10, rx: 2 })) dot.setAttribute(attribute, String(value));
      dot.setAttribute('style', `fill: ${colour}`);
      frame.append(dot, written(name, x + 15, y, 11.5));
      x += room;
    }
  }
  const top = y + 10;
  picture.setAttribute('y', String(top));
  picture.setAttribute('x', '0');
  const whole = top + height + 24;
  frame.append(picture, written(`rightsize, ${today()}`, 10, whole - 9, 10.5));
  frame.setAttribute('width', String(width));
  frame.setAttribute('height', String(whole));
  frame.setAttribute('viewBox', `0 0 ${width} ${whole}`);
  return [frame, whole];
}

/** A colour as the page resolves it: var(--accent) is undefined outside. */
function resolved(colour: string): string {
  const probe = document.createElement('i');
  probe.style.color = colour;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

/** The chart with its caption and inlined colours: outside the page there are no style sheets. */
function standalone(svg: SVGSVGElement, background: string, caption: Caption): { text: string; width: number; height: number } {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const originals = [svg, ...svg.querySelectorAll<SVGElement>('*')];
  const copies = [copy, ...copy.querySelectorAll<SVGElement>('*')];
  originals.forEach((original, i) => {
    const style = getComputedStyle(original);
    const target = copies[i];
    if (!target) return;
    for (const name of PAINTED) target.style.setProperty(name, style.getPropertyValue(name));
    for (const { name, value } of [...target.attributes]) {
      if (name !== 'style' && value.includes('var(')) target.removeAttribute(name);
    }
  });
  const { width, height } = svg.getBoundingClientRect();
  copy.setAttribute('width', String(width));
  copy.setAttribute('height', String(height));
  const legend = caption.legend?.map(([name, colour]): [string, string] => [name, resolved(colour)]);
  const [frame, whole] = framed(copy, { ...caption, legend }, width, height);
  frame.style.background = background;
  frame.style.color = getComputedStyle(svg).color;
  return { text: new XMLSerializer().serializeToString(frame), width, height: whole };
}

export function saveSvg(name: string, svg: SVGSVGElement, background: string, caption: Caption): void {
  save(`${name}.svg`, standalone(svg, background, caption).text, 'image/svg+xml');
}

export async function savePng(name: string, svg: SVGSVGElement, background: string, caption: Caption): Promise<void> {
  const scale = 2;
  const { text, width, height } = standalone(svg, background, caption);
  const picture = new Image();
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await picture.decode();
  const canvas = document.createElement('canvas');
  canvas.width = width * scale;
  canvas.height = height * scale;
  const context = canvas.getContext('2d');
  if (!context) return;
  context.fillStyle = background;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(picture, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise<Blob | null>((done) => {
    canvas.toBlob(done, 'image/png');
  });
  if (blob) save(`${name}.png`, blob, 'image/png');
}
