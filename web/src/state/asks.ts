// Asks: loaded once, asked for again whenever the firehose tells of one, decided once.
import { api, newKey, type Problem } from '../api';
import type { Ask, Reply, SessionEvent } from '../types';
import { tell } from './notices';
import { dispatch, getState } from './store';

let isLoading = false;
let isWanted = false;

/** One question at a time; what changed meanwhile is asked for by the next. */
export async function loadAsks(): Promise<void> {
  isWanted = true;
  dispatch({ type: 'asks asked' });
  if (isLoading) return;
  isLoading = true;
  while (isWanted) {
    isWanted = false;
    try {
      const page = await api.inbox();
      if (!isWanted) dispatch({ type: 'asks got', page });
    } catch (problem) {
      dispatch({ type: 'asks failed', problem: problem as Problem });
    }
  }
  isLoading = false;
}

/** What is asked here and below, by whomever it may be decided. */
export async function loadSessionAsks(id: string): Promise<void> {
  try {
    dispatch({ type: 'open asks', id, asks: (await api.asks(id)).asks });
  } catch {
    // the connection's state tells
  }
}

export function noticeAsks(event: SessionEvent): void {
  if (!event.type.startsWith('ask.')) return;
  void loadAsks();
  const { open } = getState();
  if (open) void loadSessionAsks(open.id);
}

/** Null when it worked. */
export async function decide(ask: Ask, reply: Reply): Promise<Problem | null> {
  try {
    const answered = await api.answer(ask.session_id, ask.id, reply, newKey());
    const { session_title = null, agent = null, parent_id = null, session_id } = ask;
    dispatch({ type: 'ask decided', ask: { ...answered, session_title, agent, parent_id, session_id } });
    return null;
  } catch (error) {
    const problem = error as Problem;
    if (problem.code === 'ask_not_pending') {
      tell('Already answered, expired or cancelled.');
      dispatch({ type: 'ask decided', ask: { ...ask, state: 'cancelled' } });
      void loadAsks();
      return null;
    }
    return problem;
  }
}

/** Asks the agent to ask once more what expired. Null when it worked. */
export async function askAgain(ask: Ask): Promise<Problem | null> {
  try {
    await api.askAgain(ask.session_id, ask.id, newKey());
    tell('Asked the agent to ask again');
    return null;
  } catch (error) {
    return error as Problem;
  }
}
