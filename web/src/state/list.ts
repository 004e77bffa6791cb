// A list that never jumps: rows that arrive while the pointer rests on it wait, and rows move in steps.
import type { Problem } from '../api';
import type { Session, SessionList } from '../types';
import type { Filters } from './place';
import { filterKey, matches } from './filter';

export interface List {
  filters: Filters | null; // null: nothing was asked for yet
  phase: 'loading' | 'ready' | 'error';
  problem: Problem | null;
  ids: string[];
  waiting: string[]; // new ones, shown when the pointer leaves or the person asks
  leaving: string[]; // no longer match, removed when the pointer leaves
  movedAt: Record<string, number>; // the activity by which a row stands where it does
  nextCursor: string | null;
  isLoadingMore: boolean;
  isHeld: boolean;
}

export const NO_LIST: List = {
  filters: null,
  phase: 'loading',
  problem: null,
  ids: [],
  waiting: [],
  leaving: [],
  movedAt: {},
  nextCursor: null,
  isLoadingMore: false,
  isHeld: false,
};

/** A row moves up at most once in so long. */
const STEP_MS = 60_000;

const activity = (session: Session): number => Date.parse(session.last_active_at);

export function listAsked(list: List, filters: Filters): List {
  const isSame = list.filters !== null && filterKey(list.filters) === filterKey(filters);
  if (isSame) return { ...list, problem: null, phase: list.phase === 'ready' ? 'ready' : 'loading' };
  return { ...NO_LIST, filters, isHeld: list.isHeld };
}

function moved(movedAt: Record<string, number>, sessions: Session[]): Record<string, number> {
  return { ...movedAt, ...Object.fromEntries(sessions.map((session) => [session.id, activity(session)])) };
}

export function listGot(list: List, page: SessionList): List {
  const ids = page.sessions.map((session) => session.id);
  return {
    ...list,
    phase: 'ready',
    problem: null,
    ids,
    waiting: [],
    leaving: [],
    movedAt: moved({}, page.sessions),
    nextCursor: page.next_cursor,
    isLoadingMore: false,
  };
}

/** What is shown already stays. */
export function listFailed(list: List, problem: Problem): List {
  return { ...list, phase: list.ids.length ? 'ready' : 'error', problem, isLoadingMore: false };
}

export function listGotMore(list: List, page: SessionList): List {
  const fresh = page.sessions.filter((session) => !list.ids.includes(session.id));
  return {
    ...list,
    ids: [...list.ids, ...fresh.map((session) => session.id)],
    movedAt: moved(list.movedAt, fresh),
    problem: null,
    nextCursor: page.next_cursor,
    isLoadingMore: false,
  };
}

function sorted(ids: string[], movedAt: Record<string, number>): string[] {
  return [...ids].sort((a, b) => (movedAt[b] ?? 0) - (movedAt[a] ?? 0));
}

function without(ids: string[], id: string): string[] {
  return ids.includes(id) ? ids.filter((one) => one !== id) : ids;
}

function add(list: List, session: Session): List {
  if (list.isHeld) {
    return list.waiting.includes(session.id) ? list : { ...list, waiting: [...list.waiting, session.id] };
  }
  const movedAt = { ...list.movedAt, [session.id]: activity(session) };
  return { ...list, movedAt, ids: sorted([...list.ids, session.id], movedAt) };
}

function move(list: List, session: Session): List {
  const leaving = without(list.leaving, session.id);
  const next = leaving === list.leaving ? list : { ...list, leaving };
  if (list.isHeld || activity(session) - (list.movedAt[session.id] ?? 0) < STEP_MS) return next;
  const movedAt = { ...list.movedAt, [session.id]: activity(session) };
  return { ...next, movedAt, ids: sorted(list.ids, movedAt) };
}

export function listWithout(list: List, id: string): List {
  return {
    ...list,
    ids: without(list.ids, id),
    waiting: without(list.waiting, id),
    leaving: without(list.leaving, id),
  };
}

/** A session is new or has changed. */
export function listChanged(list: List, session: Session): List {
  if (!list.filters || list.phase !== 'ready') return list;
  const isIn = list.ids.includes(session.id);
  if (matches(session, list.filters)) return isIn ? move(list, session) : add(list, session);
  if (!isIn || !list.isHeld) return listWithout(list, session.id);
  return list.leaving.includes(session.id) ? list : { ...list, leaving: [...list.leaving, session.id] };
}

export function listHeld(list: List, isHeld: boolean, sessions: Record<string, Session>): List {
  if (isHeld === list.isHeld) return list;
  return isHeld ? { ...list, isHeld } : listReleased({ ...list, isHeld }, sessions);
}

/** Shows what the person did to these rows, whatever the pointer does. */
export function listSettled(list: List, ids: string[]): List {
  const shown = list.waiting.filter((id) => ids.includes(id));
  const gone = list.leaving.filter((id) => ids.includes(id));
  return {
    ...list,
    ids: sorted([...list.ids.filter((id) => !gone.includes(id)), ...shown], list.movedAt),
    waiting: list.waiting.filter((id) => !shown.includes(id)),
    leaving: list.leaving.filter((id) => !gone.includes(id)),
  };
}

/** Shows what has been waiting. */
export function listReleased(list: List, sessions: Record<string, Session>): List {
  const stay = list.ids.filter((id) => !list.leaving.includes(id) && sessions[id]);
  const all = [...stay, ...list.waiting.filter((id) => sessions[id] && !stay.includes(id))];
  const known = all.map((id) => sessions[id] as Session);
  const late = known.filter((session) => activity(session) - (list.movedAt[session.id] ?? 0) >= STEP_MS);
  const movedAt = moved(list.movedAt, late);
  return { ...list, ids: sorted(all, movedAt), movedAt, waiting: [], leaving: [] };
}
