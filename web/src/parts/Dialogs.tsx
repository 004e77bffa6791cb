// Everything that floats above the page.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { api, newKey, type Problem } from '../api';
import { plural, titleOf } from '../format';
import { go } from '../state/navigate';
import { sessionPlace } from '../state/place';
import { erase, rename } from '../state/session';
import { dispatch, getState, useStore } from '../state/store';
import { stop } from '../state/turn';
import { useAgent } from './agent';
import { MOD } from './keys';
import { useLayer } from './layers';
import { useLoaded } from './loaded';
import { Palette } from './Palette';
import { ExportSession, NewEntity, RemoveEntity, RunTask } from './WorkDialogs';

export function closeDialog(): void {
  dispatch({ type: 'dialog', dialog: null });
}

function Modal({ label, children }: { label: string; children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  useLayer(true, closeDialog);
  return (
    <dialog
      ref={dialog}
      aria-label={label}
      onClose={closeDialog}
      onMouseDown={(event) => event.target === dialog.current && dialog.current?.close()}
    >
      {children}
    </dialog>
  );
}

function Delete({ ids }: { ids: string[] }) {
  const sessions = ids.flatMap((id) => getState().sessions[id] ?? []);
  const events = sessions.reduce((sum, session) => sum + session.last_sequence, 0);
  const what = sessions.length === 1 && sessions[0] ? `“${titleOf(sessions[0])}”` : plural(ids.length, 'session');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        closeDialog();
        void erase(ids);
      }}
    >
      <h2>Delete {what}?</h2>
      <p>
        {plural(events, 'event')} will be erased for everyone who can see {ids.length === 1 ? 'it' : 'them'}. There is
        no way back.
      </p>
      <div class="buttons">
        <button type="button" onClick={closeDialog} autofocus>
          Keep
        </button>
        <button class="danger">Delete</button>
      </div>
    </form>
  );
}

function Stop({ id }: { id: string }) {
  const session = getState().sessions[id];
  const waiting = getState().open?.queue.length ?? 0;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        closeDialog();
        void stop(id);
      }}
    >
      <h2>Stop “{session ? titleOf(session) : id}”?</h2>
      <p>
        The turn ends, pending approvals and questions are cancelled, child sessions stop
        {waiting > 0 && `, and ${plural(waiting, 'queued message', 'queued messages')} will be withdrawn`}. The
        transcript is kept.
      </p>
      <div class="buttons">
        <button type="button" onClick={closeDialog} autofocus>
          Cancel
        </button>
        <button class="danger">Stop</button>
      </div>
    </form>
  );
}

function Rename({ id }: { id: string }) {
  const [title, setTitle] = useState(getState().sessions[id]?.title ?? '');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        closeDialog();
        void rename(id, title.trim());
      }}
    >
      <h2>Rename</h2>
      <input
        value={title}
        maxLength={200}
        aria-label="Title"
        autofocus
        onInput={(event) => setTitle(event.currentTarget.value)}
      />
      <div class="buttons">
        <button type="button" onClick={closeDialog}>
          Cancel
        </button>
        <button class="primary">Rename</button>
      </div>
    </form>
  );
}

function NewSession({ agent }: { agent?: string | undefined }) {
  const offered = useAgent();
  const [typed, setTyped] = useState(agent);
  const [values, setValues] = useState({ title: '', prompt: '', persona: '' });
  const personas = useLoaded('personas', (signal) => api.personas(signal)).value?.personas ?? [];
  const chosen = typed ?? offered.agent;
  const [problem, setProblem] = useState<Problem | null>(null);
  const [key] = useState(newKey);
  const set = (name: string) => (event: { currentTarget: { value: string } }) =>
    setValues({ ...values, [name]: event.currentTarget.value });
  const create = async (): Promise<void> => {
    const given = Object.entries({ ...values, agent: chosen }).filter(([, value]) => value.trim());
    try {
      const session = await api.create({ type: 'agent', ...Object.fromEntries(given) }, key);
      if (chosen) offered.choose(chosen);
      dispatch({ type: 'session', session });
      closeDialog();
      go(sessionPlace(session.id));
    } catch (error) {
      setProblem(error as Problem);
    }
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void create();
      }}
    >
      <h2>New session</h2>
      <label>
        First message
        <textarea
          rows={4}
          value={values.prompt}
          autofocus
          onInput={set('prompt')}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) event.currentTarget.form?.requestSubmit();
          }}
        />
      </label>
      <label>
        Agent <span class="muted">(or the name that your worker claims; empty: no agent answers)</span>
        <input value={chosen} maxLength={128} list="agents" onInput={(event) => setTyped(event.currentTarget.value)} />
        <datalist id="agents">
          {offered.agents.map((one) => (
            <option key={one.id} value={one.id}>
              {one.name ?? one.id}
            </option>
          ))}
        </datalist>
      </label>
      <label>
        Title <span class="muted">(optional)</span>
        <input name="title" value={values.title} maxLength={200} onInput={set('title')} />
      </label>
      {personas.length > 0 && (
        <label>
          Persona
          <select value={values.persona} onChange={set('persona')}>
            <option value="">none</option>
            {personas.map((one) => (
              <option key={one.id} value={one.id}>
                {one.name}
              </option>
            ))}
          </select>
        </label>
      )}
      {problem && (
        <p class="problem-line" role="alert">
          {problem.message}
        </p>
      )}
      <div class="buttons">
        <button type="button" onClick={closeDialog}>
          Cancel
        </button>
        <button class="primary">Create</button>
      </div>
    </form>
  );
}

const KEYS: readonly [string, string][] = [
  [`${MOD}K`, 'search and go anywhere'],
  ['j  k', 'next and previous row'],
  ['enter', 'open'],
  ['p', 'peek without leaving the list'],
  ['x', 'select'],
  ['e', 'archive'],
  ['f  /', 'filter'],
  ['c', 'new session'],
  ['a  s  A', 'allow once, for the session, always'],
  ['d', 'deny, with a reason'],
  ['e', 'change the arguments, then allow'],
  ['1 … 9', 'choose an answer'],
  ['n', 'next item of the inbox'],
  [`${MOD}↵`, 'send a message'],
  [`${MOD}⇧↵`, 'send it the other way: steer instead of follow-up'],
  ['esc', 'interrupt the running turn'],
  ['p', 'pause the session, let it go on'],
  ['v  V', 'next and previous view of the session: files, tree, time, people, raw'],
  ['r', 'run the task, or a task for the entity'],
  ['alt ↑ ↓', 'move a waiting message'],
  ['?', 'this list'],
];

function KeyList() {
  return (
    <>
      <h2>Keys</h2>
      <dl class="keys">
        {KEYS.map(([key, text]) => (
          <>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{text}</dd>
          </>
        ))}
      </dl>
    </>
  );
}

export function Dialogs() {
  const dialog = useStore((state) => state.dialog);
  switch (dialog?.kind) {
    case 'palette':
      return (
        <Modal label="Search">
          <Palette />
        </Modal>
      );
    case 'keys':
      return (
        <Modal label="Keys">
          <KeyList />
        </Modal>
      );
    case 'new':
      return (
        <Modal label="New session">
          <NewSession agent={dialog.agent} />
        </Modal>
      );
    case 'delete':
      return (
        <Modal label="Delete">
          <Delete ids={dialog.ids} />
        </Modal>
      );
    case 'stop':
      return (
        <Modal label="Stop">
          <Stop id={dialog.id} />
        </Modal>
      );
    case 'rename':
      return (
        <Modal label="Rename">
          <Rename id={dialog.id} />
        </Modal>
      );
    case 'run':
      return (
        <Modal label="Run a task">
          <RunTask task={dialog.task} entity={dialog.entity} close={closeDialog} />
        </Modal>
      );
    case 'entity':
      return (
        <Modal label="New entity">
          <NewEntity close={closeDialog} />
        </Modal>
      );
    case 'remove entity':
      return (
        <Modal label="Remove the entity">
          <RemoveEntity id={dialog.id} version={dialog.version} close={closeDialog} />
        </Modal>
      );
    case 'export':
      return (
        <Modal label="Export">
          <ExportSession id={dialog.id} close={closeDialog} />
        </Modal>
      );
    default:
      return null;
  }
}
