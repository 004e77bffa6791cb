// One entity: what is known of it, changed by compare-and-set, and what ran for it.
import { useState } from 'preact/hooks';
import { api, type Problem } from '../api';
import { duration, firstLine, plural, pretty } from '../format';
import { Id } from '../parts/Copy';
import { useKeys } from '../parts/keys';
import { useLayer } from '../parts/layers';
import { useLive } from '../parts/loaded';
import { Menu } from '../parts/Menu';
import { useName } from '../parts/name';
import { useRows } from '../parts/rows';
import { Empty, Failed, Waiting } from '../parts/States';
import { MarkOf } from '../parts/Status';
import { Time } from '../parts/Time';
import { go, linkTo } from '../state/navigate';
import { tell, tellProblem } from '../state/notices';
import { entityPlace, sessionPlace } from '../state/place';
import { dispatch } from '../state/store';
import { lookOfState } from '../status';
import type { Entity, EntitySession } from '../types';

/** A text is typed as it is; everything else as JSON. */
function read(text: string, before: unknown): { value: unknown } | { problem: string } {
  if (before === undefined || typeof before === 'string') return { value: text };
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { problem: `This is not JSON: ${(error as Error).message}` };
  }
}

const typed = (value: unknown): string => (value === undefined ? '' : pretty(value));

interface Editing {
  name: string;
  text: string;
  version: number; // that the person saw when he began
  before: unknown;
}

interface Refusal {
  text: string;
  now: Entity | null; // what somebody else made of it meanwhile
}

interface EditorProps {
  entity: Entity;
  editing: Editing;
  onText: (text: string) => void;
  onSaved: (entity: Entity) => void;
  onClose: () => void;
}

/** What is typed stays until it is saved or thrown away, whoever else changes the entity. */
function Editor({ entity, editing, onText, onSaved, onClose }: EditorProps) {
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const nameOf = useName();
  useLayer(true, onClose);
  const save = async (version: number): Promise<void> => {
    const filled = read(editing.text, editing.before);
    if ('problem' in filled) return setRefusal({ text: filled.problem, now: null });
    try {
      onSaved(await api.changeEntity(entity.id, { [editing.name]: filled.value }, version));
    } catch (error) {
      const problem = error as Problem;
      const now = problem.code === 'version_changed' ? await api.entity(entity.id).catch(() => null) : null;
      setRefusal({ text: now ? '' : `${problem.message} What you typed is kept here.`, now });
    }
  };
  return (
    <form
      class="field-edit"
      onSubmit={(event) => {
        event.preventDefault();
        void save(editing.version);
      }}
    >
      <textarea
        rows={Math.min(10, editing.text.split('\n').length)}
        value={editing.text}
        aria-label={editing.name}
        autofocus
        ref={(node) => node && document.activeElement === document.body && node.focus()}
        onInput={(event) => onText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) void save(editing.version);
        }}
      />
      <button class="primary">Save</button>
      <button type="button" class="quiet" onClick={onClose}>
        Cancel
      </button>
      {refusal?.now && (
        <div class="conflict" role="alert">
          <p>
            Not saved: {nameOf(refusal.now.updated_by) || refusal.now.updated_by} changed the entity{' '}
            <Time at={refusal.now.updated_at} suffix=" ago" />, while you typed. {editing.name} is now:
          </p>
          <pre>{typed(refusal.now.fields[editing.name]) || 'nothing'}</pre>
          <button type="button" onClick={() => void save(refusal.now?.version ?? 0)}>
            Put mine in its place
          </button>
          <button type="button" onClick={() => onSaved(refusal.now as Entity)}>
            Keep what is there
          </button>
        </div>
      )}
      {refusal?.text && (
        <p class="problem-line" role="alert">
          {refusal.text}
        </p>
      )}
    </form>
  );
}

function Field({
  name,
  value,
  onEdit,
  onRemove,
}: {
  name: string;
  value: unknown;
  onEdit: () => void;
  onRemove: () => void;
}) {
  return (
    <>
      <button class="field-value" title="Change it" onClick={onEdit}>
        {typed(value) || '""'}
      </button>
      <span class="field-acts">
        <button class="quiet" aria-label={`Remove ${name}`} title="Remove" onClick={onRemove}>
          ✕
        </button>
      </span>
    </>
  );
}

function AddField({ onAdd }: { onAdd: (name: string) => void }) {
  const [name, setName] = useState('');
  return (
    <form
      class="inline"
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim()) onAdd(name.trim());
        setName('');
      }}
    >
      <input
        value={name}
        maxLength={100}
        placeholder="another field"
        aria-label="Name of a new field"
        onInput={(event) => setName(event.currentTarget.value)}
      />
      <button disabled={!name.trim()}>Add</button>
    </form>
  );
}

function Fields({ entity, onChanged }: { entity: Entity; onChanged: (entity: Entity) => void }) {
  const [editing, setEditing] = useState<Editing | null>(null);
  const edit = (name: string): void => {
    const before = entity.fields[name];
    setEditing({ name, text: typed(before), version: entity.version, before });
  };
  const saved = (now: Entity): void => {
    setEditing(null);
    onChanged(now);
  };
  const set = async (name: string, value: unknown, version: number): Promise<void> => {
    try {
      const now = await api.changeEntity(entity.id, { [name]: value }, version);
      onChanged(now);
      if (value !== null) return;
      tell(`Removed ${name}`, { undo: () => void set(name, entity.fields[name], now.version) });
    } catch (problem) {
      tellProblem(`${name} stays as it is`, problem);
    }
  };
  const names = Object.keys(entity.fields);
  const shown = editing && !names.includes(editing.name) ? [...names, editing.name] : names;
  return (
    <>
      <dl class="fields">
        {shown.map((name) => (
          <div key={name} class="field" data-field={name}>
            <dt>{name}</dt>
            <dd>
              {editing?.name === name ? (
                <Editor
                  entity={entity}
                  editing={editing}
                  onText={(text) => setEditing({ ...editing, text })}
                  onSaved={saved}
                  onClose={() => setEditing(null)}
                />
              ) : (
                <Field
                  name={name}
                  value={entity.fields[name]}
                  onEdit={() => edit(name)}
                  onRemove={() => void set(name, null, entity.version)}
                />
              )}
            </dd>
          </div>
        ))}
      </dl>
      {shown.length === 0 && <p class="muted">Nothing is known of it yet. A task that runs for it fills fields.</p>}
      <AddField onAdd={edit} />
    </>
  );
}

function Ran({ session }: { session: EntitySession }) {
  const look = lookOfState(session.status);
  return (
    <li class="plain-row">
      <a {...linkTo(sessionPlace(session.id))}>
        <span class="row-title">
          <MarkOf look={look} /> {session.task_name ?? session.title ?? session.id}
        </span>
        <span class={`tone-${look.tone}`}>{look.word}</span>
        <span class="muted">{session.duration_ms > 0 && duration(session.duration_ms)}</span>
        {session.started_at ? <Time at={session.started_at} /> : <span />}
        <span class="row-second">
          {session.error_message
            ? firstLine(session.error_message)
            : session.child_count > 0
              ? plural(session.child_count, 'step')
              : ''}
        </span>
      </a>
    </li>
  );
}

function RanFor({ id }: { id: string }) {
  const { value, problem, again } = useLive(`ran ${id}`, (signal) => api.entitySessions(id, signal));
  if (problem && !value) return <Failed what="Couldn’t load the sessions" problem={problem} again={again} />;
  if (!value) return <Waiting />;
  if (value.sessions.length === 0) return <p class="muted">Nothing ran for it yet.</p>;
  return (
    <ul class="ran">
      {value.sessions.map((session) => (
        <Ran key={session.id} session={session} />
      ))}
    </ul>
  );
}

/** The newest of what the server told and what a change here gave. */
function useEntity(id: string) {
  const { value, problem, again } = useLive(`entity ${id}`, (signal) => api.entity(id, signal));
  const [changed, setChanged] = useState<Entity | null>(null);
  const entity = value && changed && changed.version > value.version ? changed : value;
  return { entity, problem, again, setChanged };
}

export function EntityOne({ id }: { id: string }) {
  const { entity, problem, again, setChanged } = useEntity(id);
  const nameOf = useName();
  const run = (): void => dispatch({ type: 'dialog', dialog: { kind: 'run', task: '', entity: id } });
  useKeys(true, { r: run });
  useRows('.field-value, .plain-row a');
  if (problem?.status === 404) {
    return (
      <Empty title="There is no such entity" text="It was removed, or the id has a typing error.">
        <button onClick={() => go(entityPlace())}>All entities</button>
      </Empty>
    );
  }
  if (problem && !entity) return <Failed what="Couldn’t load the entity" problem={problem} again={again} />;
  if (!entity) return <Waiting />;
  return (
    <div class="plain agent">
      <header>
        <a class="muted" {...linkTo(entityPlace())}>
          ‹ Entities
        </a>
        <h1>
          <Id value={entity.id} /> <span class="chip">{entity.type}</span>
        </h1>
        <span class="muted">
          version {entity.version}, changed by {nameOf(entity.updated_by) || entity.updated_by}{' '}
          <Time at={entity.updated_at} suffix=" ago" />
        </span>
        <div class="actions">
          <button class="primary" onClick={run}>
            Run a task… <kbd>r</kbd>
          </button>
          <Menu label="⋯" title="More">
            <button
              class="danger"
              onClick={() =>
                dispatch({ type: 'dialog', dialog: { kind: 'remove entity', id: entity.id, version: entity.version } })
              }
            >
              Remove…
            </button>
          </Menu>
        </div>
      </header>
      <Fields entity={entity} onChanged={setChanged} />
      <h2>What ran for it</h2>
      <RanFor id={id} />
    </div>
  );
}
