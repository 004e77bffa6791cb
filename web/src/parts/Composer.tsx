import { useEffect, useRef, useState } from 'preact/hooks';
import type { QueueMode } from '../types';
import { MOD } from './keys';

const storage = (id: string): string => `sojourn.draft.${id}`;
const modeStorage = (id: string): string => `sojourn.mode.${id}`;

const MODES: readonly { mode: QueueMode; word: string; title: string }[] = [
  { mode: 'followup', word: 'follow-up', title: 'While the agent works, the message waits until its turn is over' },
  { mode: 'steer', word: 'steer', title: 'Interrupts the running turn; the message is said at once' },
  { mode: 'collect', word: 'collect', title: 'Waits a moment for more messages; they are said together' },
];

/** What the other key does, once: the opposite of what is chosen. */
const OPPOSITE: Record<QueueMode, QueueMode> = {
  followup: 'steer',
  steer: 'followup',
  collect: 'followup',
  reject: 'followup',
};

interface Props {
  id: string;
  isOff: boolean;
  hint: string;
  /** How the session takes messages while it works; null: nobody answers here. */
  mode: QueueMode | null;
  onSend: (text: string, mode: QueueMode | null) => void;
}

/** The choice is the person's, per session, and stays in this browser. */
function useMode(id: string, usual: QueueMode): [QueueMode, (mode: QueueMode) => void] {
  const [chosen, setChosen] = useState(() => localStorage.getItem(modeStorage(id)));
  const known = MODES.find((one) => one.mode === chosen)?.mode ?? MODES.find((one) => one.mode === usual)?.mode;
  const choose = (mode: QueueMode): void => {
    localStorage.setItem(modeStorage(id), mode);
    setChosen(mode);
  };
  return [known ?? 'followup', choose];
}

function ModeChoice({ mode, onChoose }: { mode: QueueMode; onChoose: (mode: QueueMode) => void }) {
  const other = MODES.find((one) => one.mode === OPPOSITE[mode]);
  const title = `${MODES.find((one) => one.mode === mode)?.title}. ${MOD}⇧↵ sends this one as ${other?.word}.`;
  return (
    <select
      class="mode"
      value={mode}
      title={title}
      aria-label="How the message is taken while the agent works"
      onChange={(event) => onChoose(event.currentTarget.value as QueueMode)}
    >
      {MODES.map((one) => (
        <option key={one.mode} value={one.mode} title={one.title}>
          {one.word}
        </option>
      ))}
    </select>
  );
}

/** What is typed is kept in the browser until it is sent, also across a reload. */
export function Composer({ id, isOff, hint, mode: usual, onSend }: Props) {
  const [text, show] = useState(() => localStorage.getItem(storage(id)) ?? '');
  const [mode, choose] = useMode(id, usual ?? 'followup');
  const area = useRef<HTMLTextAreaElement>(null);
  const setText = (value: string): void => {
    if (value) localStorage.setItem(storage(id), value);
    else localStorage.removeItem(storage(id));
    show(value);
  };
  useEffect(() => {
    const node = area.current as HTMLTextAreaElement;
    node.style.height = 'auto';
    node.style.height = `${Math.min(node.scrollHeight, 240)}px`;
  }, [text]);
  const send = (as: QueueMode): void => {
    if (!text.trim() || isOff) return;
    onSend(text, usual && as);
    setText('');
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send(mode);
      }}
    >
      <textarea
        ref={area}
        rows={1}
        value={text}
        disabled={isOff}
        placeholder={hint}
        aria-label="Message"
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) {
            event.preventDefault();
            send(event.shiftKey ? OPPOSITE[mode] : mode);
          }
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
      {usual && <ModeChoice mode={mode} onChoose={choose} />}
      <button class="primary" disabled={isOff || !text.trim()} title={`Send (${MOD}↵)`}>
        Send <kbd>{MOD}↵</kbd>
      </button>
    </form>
  );
}
