// Messages that wait until the running turn is over: changed, moved, withdrawn by hand.
import { useEffect, useRef, useState } from 'preact/hooks';
import { exact, firstLine, plural } from '../format';
import { clearQueue, editPrompt, movePrompt, promote, withdraw } from '../state/queue';
import { say } from '../state/session';
import { useLayer } from './layers';
import { saidIn } from '../state/transcript';
import type { Prompt } from '../types';

const MODE_WORDS = { followup: 'waits', steer: 'goes first', collect: 'collects', reject: 'waits' };

interface Editing {
  prompt: Prompt;
  text: string;
}

function Editor({
  editing,
  onText,
  onSave,
  onClose,
}: {
  editing: Editing;
  onText: (text: string) => void;
  onSave: () => void;
  onClose: () => void;
}) {
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => area.current?.focus(), []);
  useLayer(true, onClose);
  return (
    <form
      class="queue-edit"
      onSubmit={(event) => {
        event.preventDefault();
        onSave();
      }}
    >
      <textarea
        ref={area}
        rows={Math.min(6, editing.text.split('\n').length + 1)}
        value={editing.text}
        aria-label="Waiting message"
        onInput={(event) => onText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) onSave();
        }}
      />
      <button class="primary" disabled={!editing.text.trim()}>
        Save
      </button>
      <button type="button" class="quiet" onClick={onClose}>
        Cancel
      </button>
    </form>
  );
}

/** It was said while somebody changed it; what was typed is not thrown away. */
function Orphan({ id, text, onClose }: { id: string; text: string; onClose: () => void }) {
  return (
    <li class="queue-orphan">
      <span class="tone-amber">The message left the queue before your change was saved:</span>
      <span class="queue-text">{firstLine(text)}</span>
      <button
        class="quiet"
        onClick={() => {
          void say(id, text);
          onClose();
        }}
      >
        Send as a new message
      </button>
      <button class="quiet" onClick={onClose}>
        Discard
      </button>
    </li>
  );
}

interface RowProps {
  id: string;
  prompt: Prompt;
  count: number;
  isOver: boolean;
  onEdit: () => void;
  onDrag: (prompt: Prompt | null) => void;
  onOver: () => void;
  onDrop: () => void;
}

function Act({
  word,
  sign,
  onClick,
  isOff = false,
}: {
  word: string;
  sign: string;
  onClick: () => void;
  isOff?: boolean;
}) {
  return (
    <button class="quiet" aria-label={word} title={word} disabled={isOff} onClick={onClick}>
      {sign}
    </button>
  );
}

function Row({ id, prompt, count, isOver, onEdit, onDrag, onOver, onDrop }: RowProps) {
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== event.currentTarget) return;
    const step = event.altKey ? { ArrowUp: -1, ArrowDown: 1 }[event.key] : undefined;
    if (step) void movePrompt(id, prompt, Math.min(count, prompt.position + step));
    else if (event.key === 'Enter' || event.key === 'F2') onEdit();
    else if (event.key === 'Delete' || event.key === 'Backspace') void withdraw(id, prompt);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <li
      class={isOver ? 'is-over' : ''}
      title={exact(prompt.created_at)}
      data-prompt={prompt.prompt_id}
      tabIndex={0}
      draggable
      aria-label={`Waiting message ${prompt.position}: alt and arrows move it, enter changes it, delete withdraws it`}
      onKeyDown={onKeyDown}
      onDragStart={() => onDrag(prompt)}
      onDragEnd={() => onDrag(null)}
      onDragOver={(event) => {
        event.preventDefault();
        onOver();
      }}
      onDrop={(event) => {
        event.preventDefault();
        onDrop();
      }}
    >
      <span class="queue-word">
        {prompt.position}.{' '}
        {prompt.priority > 0 ? 'urgent' : prompt.priority < 0 ? 'not urgent' : MODE_WORDS[prompt.mode]}
      </span>
      <span class="queue-text" onDblClick={onEdit}>
        {firstLine(saidIn(prompt.content))}
      </span>
      <span class="queue-acts">
        <Act word="Interrupt and say it now" sign="⇥" onClick={() => void promote(id, prompt, true)} />
        <Act
          word="Make it the next"
          sign="⤒"
          isOff={prompt.position === 1}
          onClick={() => void promote(id, prompt, false)}
        />
        <Act
          word="Move up"
          sign="↑"
          isOff={prompt.position === 1}
          onClick={() => void movePrompt(id, prompt, prompt.position - 1)}
        />
        <Act
          word="Move down"
          sign="↓"
          isOff={prompt.position === count}
          onClick={() => void movePrompt(id, prompt, prompt.position + 1)}
        />
        <Act word="Change" sign="✎" onClick={onEdit} />
        <Act word="Withdraw" sign="✕" onClick={() => void withdraw(id, prompt)} />
      </span>
    </li>
  );
}

function Head({ id, count }: { id: string; count: number }) {
  if (count < 2) return null;
  return (
    <div class="queue-head">
      <span>{plural(count, 'message')} wait</span>
      <button class="quiet" onClick={() => void clearQueue(id)}>
        Withdraw all
      </button>
    </div>
  );
}

export function Queue({ id, prompts }: { id: string; prompts: Prompt[] }) {
  const [editing, setEditing] = useState<Editing | null>(null);
  const [dragged, setDragged] = useState<Prompt | null>(null);
  const [over, setOver] = useState(0);
  const isOrphan = editing && !prompts.some((one) => one.prompt_id === editing.prompt.prompt_id);
  if (prompts.length === 0 && !isOrphan) return null;
  const save = async (): Promise<void> => {
    if (editing && (await editPrompt(id, editing.prompt, editing.text))) setEditing(null);
  };
  const drop = (): void => {
    if (dragged) void movePrompt(id, dragged, over);
    setDragged(null);
  };
  return (
    <div class="queue-box">
      <Head id={id} count={prompts.length} />
      <ol class="queue" aria-label="Messages that wait">
        {editing && isOrphan && <Orphan id={id} text={editing.text} onClose={() => setEditing(null)} />}
        {prompts.map((prompt) =>
          editing?.prompt.prompt_id === prompt.prompt_id ? (
            <li key={prompt.prompt_id}>
              <Editor
                editing={editing}
                onText={(text) => setEditing({ ...editing, text })}
                onSave={() => void save()}
                onClose={() => setEditing(null)}
              />
            </li>
          ) : (
            <Row
              key={prompt.prompt_id}
              id={id}
              prompt={prompt}
              count={prompts.length}
              isOver={dragged !== null && over === prompt.position}
              onEdit={() => setEditing({ prompt, text: saidIn(prompt.content) })}
              onDrag={setDragged}
              onOver={() => setOver(prompt.position)}
              onDrop={drop}
            />
          ),
        )}
      </ol>
    </div>
  );
}
