import { useEffect, useRef, useState } from 'preact/hooks';
import type { File as SessionFile, QueueMode } from '../types';
import { AttachButton, Uploads, useAttachments } from './Attach';
import { MOD } from './keys';

const storage = (id: string): string => `sojourn.draft.${id}`;
const modeStorage = (id: string): string => `sojourn.mode.${id}`;

const MODES: readonly { mode: QueueMode; word: string; title: string }[] = [
  { mode: 'followup', word: 'follow-up', title: 'While a turn is running, the message is queued until it ends' },
  { mode: 'steer', word: 'steer', title: 'Interrupts the running turn; the message is dispatched at once' },
  { mode: 'collect', word: 'collect', title: 'Waits briefly for more messages; they are dispatched together' },
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
  /** Ends the running turn; null when there is none. */
  onInterrupt: (() => void) | null;
  onSend: (text: string, mode: QueueMode | null, files: SessionFile[]) => void;
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

/** Anywhere on the page of the session: a file that misses the box must not replace the page. */
function useDrop(onFiles: ((files: FileList) => void) | null): void {
  const latest = useRef(onFiles);
  latest.current = onFiles;
  useEffect(() => {
    const over = (event: DragEvent): void => {
      if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
    };
    const drop = (event: DragEvent): void => {
      if (!event.dataTransfer?.files.length) return;
      event.preventDefault();
      latest.current?.(event.dataTransfer.files);
    };
    addEventListener('dragover', over);
    addEventListener('drop', drop);
    return () => {
      removeEventListener('dragover', over);
      removeEventListener('drop', drop);
    };
  }, []);
}

/** What is typed is kept in the browser until it is sent, also across a reload. */
export function Composer({ id, isOff, hint, mode: usual, onInterrupt, onSend }: Props) {
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
  const attachments = useAttachments(id);
  const isRefused = attachments.uploads.some((one) => one.problem);
  const isReady = !isOff && !attachments.isBusy && !isRefused && Boolean(text.trim() || attachments.files.length);
  const send = (as: QueueMode): void => {
    if (!isReady) return;
    onSend(text, usual && as, attachments.files);
    setText('');
    attachments.clear();
  };
  const take = (event: Event, from: DataTransfer | null): void => {
    if (isOff || !from || from.files.length === 0) return;
    event.preventDefault();
    attachments.add(from.files);
  };
  useDrop(isOff ? null : attachments.add);
  return (
    <form
      class="composer"
      onPaste={(event) => take(event, event.clipboardData)}
      onSubmit={(event) => {
        event.preventDefault();
        send(mode);
      }}
    >
      <Uploads attachments={attachments} />
      <AttachButton isOff={isOff} onFiles={attachments.add} />
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
          if (event.key === 'Escape' && !event.repeat && !event.isComposing) {
            if (onInterrupt) onInterrupt();
            else event.currentTarget.blur();
          }
        }}
      />
      {usual && <ModeChoice mode={mode} onChoose={choose} />}
      <button
        class="primary"
        disabled={!isReady}
        title={isRefused ? 'Leave out what was refused first' : `Send (${MOD}↵)`}
      >
        Send <kbd>{MOD}↵</kbd>
      </button>
    </form>
  );
}
