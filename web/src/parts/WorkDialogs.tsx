// Dialogs about work: running a task, making and removing an entity, taking a conversation out as a workflow.
import { useState } from 'preact/hooks';
import { api, newKey, type Problem } from '../api';
import { go } from '../state/navigate';
import { tell } from '../state/notices';
import { entityPlace, type Place, sessionPlace } from '../state/place';
import { dispatch } from '../state/store';
import type { Export } from '../types';
import { useLoaded } from './loaded';
import { Code } from './Code';

interface Closing {
  close: () => void;
}

function Refused({ problem }: { problem: string | null }) {
  if (!problem) return null;
  return (
    <p class="problem-line" role="alert">
      {problem}
    </p>
  );
}

function Buttons({ close, word, isBusy = false }: Closing & { word: string; isBusy?: boolean }) {
  return (
    <div class="buttons">
      <button type="button" onClick={close}>
        Cancel
      </button>
      <button class="primary" disabled={isBusy}>
        {word}
      </button>
    </div>
  );
}

/** An object, or what is wrong with it. */
function readObject(text: string): Record<string, unknown> | string {
  if (!text.trim()) return {};
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject
      ? (value as Record<string, unknown>)
      : 'The input must be a JSON object, such as {"topic": "bees"}.';
  } catch (error) {
    return `The input is not JSON: ${(error as Error).message}`;
  }
}

export function RunTask({ task, entity, close }: Closing & { task: string; entity: string }) {
  const [values, setValues] = useState({ task, entity, input: '' });
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [key, setKey] = useState(newKey);
  const tasks = useLoaded('tasks', (signal) => api.tasks(signal)).value?.tasks ?? [];
  const entities = useLoaded('entities', (signal) => api.entities({ limit: 200 }, signal)).value?.entities ?? [];
  const set = (name: string) => (event: { currentTarget: { value: string } }) => {
    setValues({ ...values, [name]: event.currentTarget.value });
    setKey(newKey()); // what was changed is another intent
  };
  const run = async (): Promise<void> => {
    const input = readObject(values.input);
    if (typeof input === 'string') return setProblem(input);
    const about = values.entity.trim();
    const body = { ...(about && { entity_id: about }), ...(values.input.trim() && { input }) };
    setBusy(true);
    try {
      const { session } = await api.runTask(values.task, body, key);
      dispatch({ type: 'session', session });
      close();
      go({ ...sessionPlace(session.id), view: 'tree' } as Place);
    } catch (error) {
      setProblem((error as Problem).message);
      setBusy(false);
    }
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void run();
      }}
    >
      <h2>Run {task ? (tasks.find((one) => one.id === task)?.name ?? task) : 'a task'}</h2>
      {!task && (
        <label>
          Task
          <select required value={values.task} onChange={set('task')} autofocus>
            <option value="">{tasks.length ? 'Choose…' : 'No task is configured'}</option>
            {tasks.map((one) => (
              <option key={one.id} value={one.id}>
                {one.name}
              </option>
            ))}
          </select>
        </label>
      )}
      <label>
        Entity <span class="muted">(the output fills its fields; optional)</span>
        <input
          name="entity"
          value={values.entity}
          list="entities"
          maxLength={128}
          autofocus={Boolean(task)}
          onInput={set('entity')}
        />
        <datalist id="entities">
          {entities.map((one) => (
            <option key={one.id} value={one.id}>
              {one.type}
            </option>
          ))}
        </datalist>
      </label>
      <label>
        Input <span class="muted">(a JSON object for every step; optional)</span>
        <textarea
          name="input"
          rows={3}
          value={values.input}
          spellcheck={false}
          placeholder='{"topic": "bees"}'
          onInput={set('input')}
        />
      </label>
      <Refused problem={problem} />
      <Buttons close={close} word="Run" isBusy={isBusy} />
    </form>
  );
}

export function NewEntity({ close }: Closing) {
  const [values, setValues] = useState({ type: '', id: '' });
  const [problem, setProblem] = useState<string | null>(null);
  const [key, setKey] = useState(newKey);
  const set = (name: string) => (event: { currentTarget: { value: string } }) => {
    setValues({ ...values, [name]: event.currentTarget.value });
    setKey(newKey());
  };
  const create = async (): Promise<void> => {
    const id = values.id.trim();
    try {
      const entity = await api.createEntity({ type: values.type.trim(), ...(id && { id }) }, key);
      close();
      go(entityPlace(entity.id));
    } catch (error) {
      setProblem((error as Problem).message);
      setKey(newKey());
    }
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void create();
      }}
    >
      <h2>New entity</h2>
      <label>
        Type <span class="muted">(what kind of thing it is, such as ticket)</span>
        <input name="type" required value={values.type} maxLength={64} autofocus onInput={set('type')} />
      </label>
      <label>
        Id <span class="muted">(made up when left empty)</span>
        <input name="id" value={values.id} maxLength={128} onInput={set('id')} />
      </label>
      <Refused problem={problem} />
      <Buttons close={close} word="Make it" />
    </form>
  );
}

export function RemoveEntity({ id, version, close }: Closing & { id: string; version: number }) {
  const [problem, setProblem] = useState<string | null>(null);
  const remove = async (): Promise<void> => {
    try {
      await api.removeEntity(id, version);
      close();
      tell(`Removed ${id}`);
      go(entityPlace());
    } catch (error) {
      setProblem(`${(error as Problem).message} Nothing was removed.`);
    }
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void remove();
      }}
    >
      <h2>Remove {id}?</h2>
      <p>Its fields are lost for everybody. Sessions about it stay; one that still runs will fail when it ends.</p>
      <Refused problem={problem} />
      <div class="buttons">
        <button type="button" onClick={close} autofocus>
          Keep
        </button>
        <button class="danger">Remove</button>
      </div>
    </form>
  );
}

/** The browser keeps it as a file; nothing is sent anywhere. */
function save(name: string, text: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/yaml' }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

export function ExportSession({ id, close }: Closing & { id: string }) {
  const [done, setDone] = useState<Export | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const make = (): void =>
    void api.exportSession(id).then(setDone, (error: Problem) => setProblem(`${error.message} Nothing was exported.`));
  if (!done) {
    return (
      <form
        onSubmit={(event) => {
          event.preventDefault();
          make();
        }}
      >
        <h2>Export as a workflow</h2>
        <p>
          The conversation as the scaffold of a workflow in YAML. Secrets are masked. That it was exported stands in the
          log.
        </p>
        <Refused problem={problem} />
        <Buttons close={close} word="Export" />
      </form>
    );
  }
  return (
    <>
      <h2>{done.workflow_path}</h2>
      <div class="export-text">
        <Code text={done.document} name={done.workflow_path} language="yaml" />
      </div>
      <div class="buttons">
        <button onClick={close}>Close</button>
        <button class="primary" onClick={() => save(done.workflow_path, done.document)}>
          Save as a file
        </button>
      </div>
    </>
  );
}
