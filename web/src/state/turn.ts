// The running turn, and the sandbox it runs in: interrupt, run again, pause, stop, sleep, wake.
import { api, newKey } from '../api';
import { type Session, STATES } from '../types';
import { tell, tellProblem } from './notices';
import { dispatch } from './store';

/** Is there a turn that somebody may interrupt? */
export function isRunning(session: Session): boolean {
  return session.type !== 'mixed' && STATES[session.status].in_turn;
}

/** A crash or a stop of the server cut the turn; its message waits for somebody to run it again. */
export function isCut(session: Session): boolean {
  return session.status === 'idle' && session.status_reason === 'interrupted';
}

/** May somebody let it go on: a person paused it, or it has cost what it may cost. */
export function isPaused(session: Session): boolean {
  return session.pause_reason === 'manual' || session.pause_reason === 'overage_cap';
}

async function act(what: string, call: () => Promise<unknown>): Promise<void> {
  try {
    await call();
  } catch (problem) {
    tellProblem(what, problem);
  }
}

export async function interrupt(id: string): Promise<void> {
  await act('The turn continues', async () => {
    const { requested } = await api.interrupt(id, newKey());
    tell(requested ? 'Asked the agent to end its turn' : 'No turn is running');
  });
}

export async function resume(id: string): Promise<void> {
  await act('The message can’t be run again', async () => {
    dispatch({ type: 'session', session: await api.resume(id, newKey()) });
  });
}

/** No turn begins while it is paused; the running one goes on. */
export async function setPaused(id: string, isPausedNow: boolean): Promise<void> {
  const what = isPausedNow ? 'The session is not paused' : 'The session stays paused';
  await act(what, () => (isPausedNow ? api.pause(id) : api.unpause(id)));
}

export async function stop(id: string): Promise<void> {
  await act('The session continues', () => api.stop(id, newKey()));
}

export async function hibernate(id: string): Promise<void> {
  await act('The sandbox stays awake', () => api.hibernate(id));
}

export async function wake(id: string): Promise<void> {
  await act('The sandbox stays hibernated', () => api.wake(id));
}
