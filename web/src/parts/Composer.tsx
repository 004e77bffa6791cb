import { useEffect, useRef, useState } from 'preact/hooks';
import { MOD } from './keys';

const storage = (id: string): string => `sojourn.draft.${id}`;

interface Props {
  id: string;
  isOff: boolean;
  hint: string;
  onSend: (text: string) => void;
}

/** What is typed is kept in the browser until it is sent, also across a reload. */
export function Composer({ id, isOff, hint, onSend }: Props) {
  const [text, show] = useState(() => localStorage.getItem(storage(id)) ?? '');
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
  const send = (): void => {
    if (!text.trim() || isOff) return;
    onSend(text);
    setText('');
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
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
            send();
          }
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
      <button class="primary" disabled={isOff || !text.trim()} title={`Send (${MOD}↵)`}>
        Send <kbd>{MOD}↵</kbd>
      </button>
    </form>
  );
}
