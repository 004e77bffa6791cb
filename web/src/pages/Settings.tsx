// What a person wants of his new sessions, and the personas he may begin them with.
import { useState } from 'preact/hooks';
import { api, type Problem } from '../api';
import { duration, firstLine, plural } from '../format';
import { Password, Tokens, useIsAdmin } from '../parts/Account';
import { useLayer } from '../parts/layers';
import { useLoaded } from '../parts/loaded';
import { Failed, Waiting } from '../parts/States';
import { Time } from '../parts/Time';
import { Users } from '../parts/Users';
import { linkTo } from '../state/navigate';
import { tell, tellProblem } from '../state/notices';
import { useStore } from '../state/store';
import type { Persona, Preferences, QueueMode } from '../types';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const IDLE_MS = [1, 5, 15, 30, 60, 240, 1440].map((minutes) => minutes * MINUTE_MS);

function timeWord(ms: number): string {
  if (ms % HOUR_MS === 0) return plural(ms / HOUR_MS, 'hour');
  return ms % MINUTE_MS === 0 ? plural(ms / MINUTE_MS, 'minute') : duration(ms);
}

const MODES: readonly { mode: QueueMode; word: string; text: string }[] = [
  { mode: 'followup', word: 'follow-up', text: 'a message waits until the turn is over' },
  { mode: 'steer', word: 'steer', text: 'a message interrupts the turn and is said at once' },
  { mode: 'collect', word: 'collect', text: 'messages wait briefly and are dispatched together' },
  { mode: 'reject', word: 'reject', text: 'a message is refused while the agent works' },
];

// --- preferences ---

function Wishes({ start }: { start: Preferences }) {
  const [wishes, setWishes] = useState(start);
  const set = async (change: Partial<Preferences>): Promise<void> => {
    const before = wishes;
    setWishes({ ...wishes, ...change });
    try {
      setWishes(await api.setPreferences(change));
      tell('Saved for your new sessions');
    } catch (problem) {
      setWishes(before);
      tellProblem('Your wish is not saved', problem);
    }
  };
  const choices = IDLE_MS.includes(wishes.idle_timeout_ms) ? IDLE_MS : [...IDLE_MS, wishes.idle_timeout_ms];
  return (
    <div class="wishes">
      <label>
        <span>While the agent works</span>
        <select
          aria-label="While the agent works"
          value={wishes.queue_mode}
          onChange={(event) => void set({ queue_mode: event.currentTarget.value as QueueMode })}
        >
          {MODES.map(({ mode, word, text }) => (
            <option key={mode} value={mode}>
              {word}: {text}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>Put an idle sandbox to sleep after</span>
        <select
          aria-label="Idle time"
          value={String(wishes.idle_timeout_ms)}
          onChange={(event) => void set({ idle_timeout_ms: Number(event.currentTarget.value) })}
        >
          {choices.map((ms) => (
            <option key={ms} value={String(ms)}>
              {timeWord(ms)}
            </option>
          ))}
        </select>
      </label>
      <p class="muted">
        {wishes.set.length === 0 ? 'Nothing is chosen yet: these are the server’s. ' : ''}
        An agent or a request that says otherwise counts more. Sessions that run keep what they have.
      </p>
    </div>
  );
}

// --- personas ---

type Draft = Pick<Persona, 'name' | 'prompt' | 'visibility'>;

const NEW: Draft = { name: '', prompt: '', visibility: 'private' };

interface EditProps {
  start: Draft;
  onSave: (draft: Draft) => Promise<void>;
  onClose: () => void;
}

function Edit({ start, onSave, onClose }: EditProps) {
  const [draft, setDraft] = useState(start);
  useLayer(true, onClose);
  const [problem, setProblem] = useState<Problem | null>(null);
  return (
    <form
      class="persona-edit"
      onSubmit={(event) => {
        event.preventDefault();
        onSave(draft).then(onClose, setProblem);
      }}
    >
      <input
        value={draft.name}
        maxLength={200}
        required
        autofocus
        placeholder="Name"
        aria-label="Name"
        onInput={(event) => setDraft({ ...draft, name: event.currentTarget.value })}
      />
      <textarea
        rows={6}
        value={draft.prompt}
        required
        placeholder="Added after the agent’s own instructions"
        aria-label="Prompt"
        onInput={(event) => setDraft({ ...draft, prompt: event.currentTarget.value })}
      />
      <label>
        <input
          type="checkbox"
          checked={draft.visibility === 'shared'}
          onChange={(event) => setDraft({ ...draft, visibility: event.currentTarget.checked ? 'shared' : 'private' })}
        />{' '}
        everybody here may use it
      </label>
      <div class="inline">
        <button class="primary">Save</button>
        <button type="button" class="quiet" onClick={onClose}>
          Cancel
        </button>
      </div>
      {problem && (
        <p class="problem-line" role="alert">
          {problem.message} What you typed is kept here.
        </p>
      )}
    </form>
  );
}

function useMayChange(): (persona: Persona) => boolean {
  const me = useStore((state) => state.me);
  return (persona) => me !== null && me !== 'unknown' && (me.user_id === persona.owner_id || me.role !== 'member');
}

function Row({ persona, onEdit, onRemoved }: { persona: Persona; onEdit: () => void; onRemoved: () => void }) {
  const mayChange = useMayChange()(persona);
  const remove = async (): Promise<void> => {
    try {
      await api.removePersona(persona.id);
      const { name, prompt, visibility, id } = persona;
      const back = (): Promise<void> =>
        api
          .createPersona({ id, name, prompt, visibility })
          .then(onRemoved, (problem) => tellProblem('Not brought back', problem));
      tell(`Removed “${name}”`, { undo: () => void back() });
      onRemoved();
    } catch (problem) {
      tellProblem('The persona stays', problem);
    }
  };
  return (
    <li class="persona">
      <div>
        <strong>{persona.name}</strong> {persona.visibility === 'shared' && <span class="chip">shared</span>}{' '}
        <Time at={persona.updated_at} />
        <p class="muted persona-text">{firstLine(persona.prompt)}</p>
      </div>
      {mayChange && (
        <span>
          <button class="quiet" onClick={onEdit}>
            Change
          </button>
          <button class="quiet danger" onClick={() => void remove()}>
            Remove
          </button>
        </span>
      )}
    </li>
  );
}

function Personas() {
  const { value, problem, again } = useLoaded('personas', (signal) => api.personas(signal));
  const [editing, setEditing] = useState<string | null>(null); // an id; empty: a new one
  if (problem && !value) return <Failed what="Couldn’t load personas" problem={problem} again={again} />;
  if (!value) return <Waiting />;
  const saved = async (call: Promise<Persona>): Promise<void> => {
    await call;
    again();
  };
  return (
    <>
      <ul class="personas">
        {value.personas.map((persona) =>
          editing === persona.id ? (
            <li key={persona.id}>
              <Edit
                start={persona}
                onSave={({ name, prompt, visibility }) =>
                  saved(api.changePersona(persona.id, { name, prompt, visibility }))
                }
                onClose={() => setEditing(null)}
              />
            </li>
          ) : (
            <Row key={persona.id} persona={persona} onEdit={() => setEditing(persona.id)} onRemoved={again} />
          ),
        )}
      </ul>
      {value.personas.length === 0 && editing === null && (
        <p class="muted">No persona. A persona is a named prompt that a session can begin with.</p>
      )}
      {editing === '' ? (
        <Edit start={NEW} onSave={(draft) => saved(api.createPersona({ ...draft }))} onClose={() => setEditing(null)} />
      ) : (
        <button onClick={() => setEditing('')}>New persona…</button>
      )}
    </>
  );
}

export function Settings() {
  const isAdmin = useIsAdmin();
  const wishes = useLoaded('preferences', (signal) => api.preferences(signal));
  return (
    <div class="plain settings">
      <h1>Settings</h1>
      <h2>Your new sessions</h2>
      {wishes.problem && <Failed what="Couldn’t load your preferences" problem={wishes.problem} again={wishes.again} />}
      {wishes.value && <Wishes start={wishes.value} />}
      <h2>Personas</h2>
      <Personas />
      <h2>Rules</h2>
      <p>
        <a class="link" {...linkTo({ page: 'rules' })}>
          Tools that are allowed without asking
        </a>
      </p>
      <h2>Password</h2>
      <Password />
      {isAdmin && (
        <>
          <h2>API tokens</h2>
          <Tokens />
          <h2>People</h2>
          <Users />
        </>
      )}
    </div>
  );
}
