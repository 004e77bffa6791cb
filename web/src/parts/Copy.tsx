import { useState } from 'preact/hooks';
import { tell } from '../state/notices';

function copyByHand(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'offscreen';
  document.body.append(area);
  area.select();
  const isDone = document.execCommand('copy');
  area.remove();
  return isDone;
}

/** The clipboard of the browser wants HTTPS; the old way does not. */
async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyByHand(text);
  }
}

export function Copy({ text, label = 'Copy' }: { text: string | (() => string); label?: string }) {
  const [isDone, setDone] = useState(false);
  const onClick = async (event: MouseEvent): Promise<void> => {
    event.stopPropagation();
    const worked = await copy(typeof text === 'string' ? text : text());
    if (!worked) tell('The browser did not allow copying', { isProblem: true });
    setDone(worked);
    setTimeout(() => setDone(false), 1500);
  };
  return (
    <button class="quiet copy" onClick={(event) => void onClick(event)} title={label}>
      {isDone ? 'Copied' : label}
    </button>
  );
}

/** A short text that is copied by a click: an id, a path. */
export function Id({ value }: { value: string }) {
  const [isDone, setDone] = useState(false);
  const onClick = async (): Promise<void> => {
    setDone(await copy(value));
    setTimeout(() => setDone(false), 1500);
  };
  return (
    <button class="id" title={`Copy ${value}`} onClick={() => void onClick()}>
      {isDone ? 'copied' : value.length > 16 ? `${value.slice(0, 8)}…${value.slice(-4)}` : value}
    </button>
  );
}
