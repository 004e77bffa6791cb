// What waits for a decision of the person at the page, and what was decided here.
import type { Problem } from '../api';
import type { Ask, AskList, Session } from '../types';

export interface Asks {
  phase: 'loading' | 'ready' | 'error';
  problem: Problem | null;
  items: Ask[]; // newest first
  isMore: boolean;
  isStale: boolean; // asked for again, the answer is under way
  done: Ask[]; // decided since the page was opened, newest first
}

export const NO_ASKS: Asks = { phase: 'loading', problem: null, items: [], isMore: false, isStale: true, done: [] };

const DONE_MAX = 50;

export const askKey = (ask: Pick<Ask, 'session_id' | 'id'>): string => `${ask.session_id}/${ask.id}`;

export function asksGot(asks: Asks, page: AskList): Asks {
  const decided = new Set(asks.done.map(askKey));
  const items = page.asks.filter((ask) => !decided.has(askKey(ask)));
  return { ...asks, phase: 'ready', problem: null, items, isMore: page.next_cursor !== null, isStale: false };
}

/** What was known stays on the page. */
export function asksFailed(asks: Asks, problem: Problem): Asks {
  return { ...asks, phase: asks.phase === 'loading' ? 'error' : asks.phase, problem, isStale: false };
}

/** One that is still pending needs more people; any other one leaves. */
export function withAsk(items: Ask[], ask: Ask): Ask[] {
  const is = (one: Ask): boolean => askKey(one) === askKey(ask);
  return ask.state === 'pending'
    ? items.map((one) => (is(one) ? { ...one, ...ask } : one))
    : items.filter((one) => !is(one));
}

export function asksDecided(asks: Asks, ask: Ask): Asks {
  const done = ask.state === 'pending' ? asks.done : [ask, ...asks.done].slice(0, DONE_MAX);
  return { ...asks, items: withAsk(asks.items, ask), done };
}

/** May the person at the page decide it? Yes as long as it is not known: the server has the last word. */
export function mayDecide(asks: Asks, ask: Ask): boolean {
  const isListed = asks.items.some((one) => askKey(one) === askKey(ask));
  return isListed || asks.isStale || asks.isMore || asks.phase !== 'ready';
}

/** Sessions that wait for a person although they ask nothing that the page could show. */
export function waitingWithoutAsk(sessions: Record<string, Session>, asks: Asks): Session[] {
  const asking = new Set([...asks.items, ...asks.done].map((ask) => ask.session_id));
  return Object.values(sessions).filter(
    (one) => one.display_status === 'blocked' && !one.archived_at && !asking.has(one.id),
  );
}
