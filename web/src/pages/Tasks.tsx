// Tasks: work that is configured once and run again and again.
import { api, newKey } from '../api';
import { duration, firstLine, plural, pretty } from '../format';
import { Id } from '../parts/Copy';
import { FirstOne } from '../parts/FirstOne';
import { useKeys } from '../parts/keys';
import { useLive } from '../parts/loaded';
import { Code } from '../parts/Code';
import { useRows } from '../parts/rows';
import { Empty, Failed, Waiting } from '../parts/States';
import { Status } from '../parts/Status';
import { Steps } from '../parts/Steps';
import { Time } from '../parts/Time';
import { adjust, go, linkTo } from '../state/navigate';
import { entityPlace, type Place, sessionPlace, taskPlace } from '../state/place';
import { dispatch } from '../state/store';
import { type Run, runsOf } from '../state/steps';
import type { Session, Step, Task } from '../types';

type TasksPlace = Place & { page: 'tasks' };

const EXAMPLE = {
  id: 'say-hello',
  name: 'Say hello',
  steps: [
    { id: 'greet', name: 'Greet', agent: 'demo', prompt: 'Hello. What can you show me?' },
    { id: 'review', name: 'Look at it', human: true, depends_on: ['greet'] },
  ],
};

function whoOf(steps: Step[]): string {
  const names = steps.map((step) => (step.human ? 'a person' : (step.agent ?? '')));
  return [...new Set(names)].filter(Boolean).join(', ');
}

function Row({ task }: { task: Task }) {
  return (
    <li class="plain-row">
      <a {...linkTo(taskPlace(task.id))}>
        <span class="row-title">{task.name}</span>
        <span class="muted">{whoOf(task.steps)}</span>
        <span class="muted">{plural(task.steps.length, 'step')}</span>
        <Time at={task.updated_at} />
        <span class="row-second">{firstLine(task.description ?? '') || task.id}</span>
      </a>
    </li>
  );
}

function Nothing() {
  return (
    <FirstOne
      title="No task is configured"
      text="A task is work you run again and again: steps for agents and people, each waiting for those before it."
      path="/api/tasks"
      example={EXAMPLE}
      make={async (example) => go(taskPlace((await api.createTask(example, newKey())).id))}
      failed="The task can’t be made"
    />
  );
}

function List() {
  const { value, problem, again } = useLive('tasks', (signal) => api.tasks(signal));
  useRows('.plain-row a');
  if (problem && !value) return <Failed what="Couldn’t load tasks" problem={problem} again={again} />;
  if (!value) return <Waiting />;
  if (value.tasks.length === 0) return <Nothing />;
  return (
    <div class="plain">
      <h1>
        Tasks <span class="count">{value.tasks.length}</span>
      </h1>
      <ul class="tasks">
        {value.tasks.map((task) => (
          <Row key={task.id} task={task} />
        ))}
      </ul>
      {value.has_more && <p class="muted">There are more; these are the first {value.tasks.length}.</p>}
    </div>
  );
}

// --- one of them ---

function tookOf(session: Session): string {
  if (!session.started_at) return '';
  const end = session.completed_at ? Date.parse(session.completed_at) : Date.now();
  return duration(end - Date.parse(session.started_at));
}

function RunRow({ run, isShown, onPick }: { run: Run; isShown: boolean; onPick: () => void }) {
  const { session } = run;
  const done = run.steps.filter((step) => step.status === 'completed').length;
  return (
    <li class={isShown ? 'run-row is-cursor' : 'run-row'} data-id={session.id}>
      <button class="run-pick" aria-pressed={isShown} onClick={onPick} title="Show it in the picture">
        <Status session={session} />
        <span class="muted run-reason">
          {run.steps.length > 0 && `${done} of ${plural(run.steps.length, 'step')} · `}
          {(session.error?.message && firstLine(session.error.message)) || session.display_reason}
        </span>
        <span class="muted">{tookOf(session)}</span>
        <Time at={session.created_at} />
      </button>
      {session.entity_id && (
        <a class="chip" {...linkTo(entityPlace(session.entity_id))}>
          {session.entity_id}
        </a>
      )}
      <a class="run-open" {...linkTo({ ...sessionPlace(session.id), view: 'tree' } as Place)}>
        Open
      </a>
    </li>
  );
}

function Runs({ runs, shown, place }: { runs: Run[]; shown: Run | undefined; place: TasksPlace }) {
  if (runs.length === 0) return <p class="muted">It never ran. Run it with the button above, or with r.</p>;
  return (
    <ul class="runs">
      {runs.map((run) => (
        <RunRow
          key={run.session.id}
          run={run}
          isShown={run === shown}
          onPick={() => adjust({ ...place, run: run.session.id })}
        />
      ))}
    </ul>
  );
}

/** What runs of the task made; sessions of steps carry the task, too. */
function useRuns(id: string) {
  return useLive(`runs ${id}`, async (signal) => {
    const page = await api.sessions({ task_id: id, archived: 'all', limit: 200 }, signal);
    return runsOf(page.sessions);
  });
}

/** In a task of one step the run is the step. */
function stepSessions(run: Run | undefined, task: Task): Session[] {
  if (!run) return [];
  const only = task.steps[0];
  return run.steps.length || !only ? run.steps : [{ ...run.session, metadata: { step: only.id } }];
}

function One({ place }: { place: TasksPlace }) {
  const { value: task, problem, again } = useLive(`task ${place.id}`, (signal) => api.task(place.id, signal));
  const runs = useRuns(place.id);
  const run = (): void => dispatch({ type: 'dialog', dialog: { kind: 'run', task: place.id, entity: '' } });
  useKeys(true, { r: run });
  useRows('.run-pick');
  if (problem?.status === 404) {
    return (
      <Empty title="There is no such task" text="It was removed, or the name has a typing error. Its runs are kept.">
        <button onClick={() => go(taskPlace())}>All tasks</button>
      </Empty>
    );
  }
  if (problem && !task) return <Failed what="Couldn’t load the task" problem={problem} again={again} />;
  if (!task) return <Waiting />;
  const shown = runs.value?.find((one) => one.session.id === place.run) ?? runs.value?.[0];
  return (
    <div class="plain agent">
      <header>
        <a class="muted" {...linkTo(taskPlace())}>
          ‹ Tasks
        </a>
        <h1>
          {task.name} <Id value={task.id} /> <span class="chip">version {task.version}</span>
        </h1>
        <div class="actions">
          <button class="primary" onClick={run}>
            Run… <kbd>r</kbd>
          </button>
        </div>
      </header>
      {task.description && <p>{task.description}</p>}
      <Steps steps={task.steps} sessions={stepSessions(shown, task)} />
      <h2>Last runs</h2>
      {runs.problem && !runs.value && (
        <Failed what="Couldn’t load the runs" problem={runs.problem} again={runs.again} />
      )}
      {runs.value && <Runs runs={runs.value} shown={shown} place={place} />}
      <details class="fold definition">
        <summary>Definition</summary>
        <Code text={pretty(task.steps)} name={`${task.id}, version ${task.version}`} language="json" />
      </details>
    </div>
  );
}

export function Tasks({ place }: { place: TasksPlace }) {
  return place.id ? <One key={place.id} place={place} /> : <List />;
}
