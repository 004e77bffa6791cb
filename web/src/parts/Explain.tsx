// What a session waits for, as the server explains it.
import { api } from '../api';
import { exact } from '../format';
import { linkTo } from '../state/navigate';
import { sessionPlace } from '../state/place';
import { useStore } from '../state/store';
import type { Explanation, Session, WaitKind } from '../types';
import { useLoaded } from './loaded';
import { Time } from './Time';

const WAIT_WORDS: Record<WaitKind, string> = {
  nothing: 'Nothing',
  message: 'Your next message',
  claim: 'Somebody who runs it',
  agent: 'The agent',
  person: 'A person',
  tool: 'A tool',
  sandbox: 'Its sandbox',
  timer: 'A timer',
};

/** By the end of the request that goes on; a button beside it does the same. */
const WAY_WORDS: readonly [string, string][] = [
  ['/messages', 'your next message'],
  ['/answer', 'an answer to what is asked'],
  ['/interrupt', 'interrupting the turn'],
  ['/stop', 'stopping the session'],
  ['/reopen', 'reopening it'],
  ['/retry', 'trying again in a new session'],
  ['/unpause', 'letting it go on'],
  ['/wake', 'waking its sandbox'],
  ['/settle', 'the end of the turn'],
  ['/status', 'changing its state'],
  ['/claims', 'a worker that takes it'],
];

function wayOf({ kind, name, how }: NonNullable<Explanation['unblocked_by']>[number]): string {
  const word = how && WAY_WORDS.find(([tail]) => how.endsWith(tail))?.[1];
  return word ?? [name ?? kind, how].filter(Boolean).join(' ');
}

function Unblockers({ explained }: { explained: Explanation }) {
  const all = explained.unblocked_by ?? [];
  if (all.length === 0) return null;
  return (
    <p>
      Goes on by{' '}
      {all.map((one, index) => (
        <span key={index} title={one.how ?? ''}>
          {index > 0 && ', or '}
          {wayOf(one)}
        </span>
      ))}
    </p>
  );
}

function Facts({ explained }: { explained: Explanation }) {
  const { queue, lease, turn, next_timer: timer, last_watchdog: watchdog, children, child_asks: asks } = explained;
  const sessions = useStore((state) => state.sessions);
  return (
    <ul>
      {turn && (
        <li>
          turn {turn.number}, last heard <Time at={turn.last_activity_at ?? turn.since} suffix=" ago" />
        </li>
      )}
      {lease && (
        <li>
          run by {lease.worker}, {lease.expires_at ? `until ${exact(lease.expires_at)}` : ''}
        </li>
      )}
      {queue && queue.length > 0 && <li>{queue.length} waiting messages</li>}
      {(children ?? []).map((id) => (
        <li key={id}>
          its part <a {...linkTo(sessionPlace(id))}>{sessions[id]?.title ?? id}</a> still runs
        </li>
      ))}
      {(asks ?? []).map((ask) => (
        <li key={`${ask.session_id}/${ask.id}`}>
          <a {...linkTo(sessionPlace(ask.session_id))}>a part</a> asks: {ask.text}
        </li>
      ))}
      {timer && (
        <li>
          next timer: {timer.kind.replaceAll('_', ' ')}, {exact(timer.due_at)}
        </li>
      )}
      {watchdog && (
        <li>
          {watchdog.type.replace('watchdog.', '').replaceAll('_', ' ')} was noticed{' '}
          <Time at={watchdog.at} suffix=" ago" />
        </li>
      )}
    </ul>
  );
}

/** Asked for again whenever the log of the session goes on. */
export function Explain({ session }: { session: Session }) {
  const key = `${session.id} ${session.last_sequence}`;
  const { value, problem, again } = useLoaded(key, (signal) => api.explain(session.id, signal));
  if (problem && !value) {
    return (
      <div class="explain" role="alert">
        <p class="problem-line">
          It can’t be explained now: {problem.message}{' '}
          <button class="quiet" onClick={again}>
            Try again
          </button>
        </p>
      </div>
    );
  }
  if (!value) return <div class="explain muted">Asking…</div>;
  return (
    <div class="explain" aria-label="What it waits for">
      <p>
        <strong>{WAIT_WORDS[value.waits_for]}</strong>
        {value.since && (
          <span class="muted">
            {' '}
            for <Time at={value.since} />
          </span>
        )}
      </p>
      <p>{value.detail}</p>
      <Unblockers explained={value} />
      <Facts explained={value} />
    </div>
  );
}
