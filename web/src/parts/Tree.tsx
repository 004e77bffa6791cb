// Where the session stands among others: above it what it is a part of, below it its parts, steps in their order.
import { useState } from 'preact/hooks';
import { api } from '../api';
import { titleOf } from '../format';
import { linkTo } from '../state/navigate';
import { type Place, sessionPlace, taskPlace } from '../state/place';
import { inOrder, stepOf } from '../state/steps';
import { useStore } from '../state/store';
import { lookOf } from '../status';
import type { Session, Step } from '../types';
import { useLive } from './loaded';
import { Failed, Waiting } from './States';
import { MarkOf } from './Status';
import { Steps } from './Steps';
import { Time } from './Time';

const PARTS_MAX = 200;

const treePlace = (id: string): Place => ({ ...sessionPlace(id), view: 'tree' }) as Place;

function Row({ session, isHere }: { session: Session; isHere: boolean }) {
  const look = lookOf(session);
  return (
    <a
      class={isHere ? 'tree-row is-here' : 'tree-row'}
      {...linkTo(treePlace(session.id))}
      aria-current={isHere ? 'true' : undefined}
    >
      <MarkOf look={look} />
      <span class="tree-title">{titleOf(session)}</span>
      <span class={`tone-${look.tone}`}>{look.word}</span>
      <Time at={session.last_active_at} />
    </a>
  );
}

/** As the firehose told last. */
function useNewest(session: Session): Session {
  const known = useStore((state) => state.sessions[session.id]);
  return known && known.last_sequence >= session.last_sequence ? known : session;
}

interface NodeProps {
  session: Session;
  here: string;
  steps: Step[];
  isOpen: boolean;
}

function Node({ session, here, steps, isOpen: isOpenFirst }: NodeProps) {
  const [isOpen, setOpen] = useState(isOpenFirst);
  const newest = useNewest(session);
  return (
    <li>
      <div class="tree-line">
        <button
          class="quiet tree-fold"
          aria-expanded={isOpen}
          aria-label={isOpen ? 'Hide its parts' : 'Show its parts'}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? '▾' : '▸'}
        </button>
        <Row session={newest} isHere={session.id === here} />
      </div>
      {isOpen && <Parts id={session.id} here={here} steps={steps} />}
    </li>
  );
}

function Parts({ id, here, steps }: { id: string; here: string; steps: Step[] }) {
  const { value, problem, again } = useLive(`parts ${id}`, (signal) =>
    api.sessions({ parent_id: id, archived: 'all', limit: PARTS_MAX }, signal),
  );
  if (problem && !value) return <Failed what="Couldn’t load the child sessions" problem={problem} again={again} />;
  if (!value) return null;
  if (value.sessions.length === 0) return <p class="muted tree-none">No parts.</p>;
  return (
    <ul class="tree">
      {inOrder(value.sessions, steps).map((session) => (
        <Node
          key={session.id}
          session={session}
          here={here}
          steps={[]}
          isOpen={session.id === here && !stepOf(session)}
        />
      ))}
      {value.has_more && <li class="muted">There are more; these are {PARTS_MAX} of them.</li>}
    </ul>
  );
}

interface Family {
  root: Session;
  steps: Step[];
  parts: Session[];
}

/** The session, or what it is a part of, and the task it runs. */
async function familyOf(session: Session, signal: AbortSignal): Promise<Family> {
  const root = session.parent_id
    ? await api.session(session.parent_id, undefined, signal).catch(() => session)
    : session;
  const task = root.task_id ? await api.task(root.task_id, signal).catch(() => null) : null;
  const parts = task
    ? (await api.sessions({ parent_id: root.id, archived: 'all', limit: PARTS_MAX }, signal)).sessions
    : [];
  return { root, steps: task?.steps ?? [], parts };
}

export function Tree({ session }: { session: Session }) {
  const key = `family ${session.id} ${session.last_sequence}`;
  const { value, problem, again } = useLive(key, (signal) => familyOf(session, signal));
  if (problem && !value) return <Failed what="Couldn’t load the tree" problem={problem} again={again} />;
  if (!value) return <Waiting />;
  const isRun = value.parts.some(stepOf);
  return (
    <div class="side-pad">
      {value.root.task_id && (
        <p>
          A run of{' '}
          <a class="link" {...linkTo(taskPlace(value.root.task_id, value.root.id))}>
            {value.root.task_id}
          </a>
        </p>
      )}
      {isRun && <Steps steps={value.steps} sessions={value.parts} />}
      <ul class="tree is-root">
        <Node key={value.root.id} session={value.root} here={session.id} steps={value.steps} isOpen />
      </ul>
    </div>
  );
}
