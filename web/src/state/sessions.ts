// Lists of sessions: asked page by page, kept up to date by the firehose.
import { api, type Problem, type Watch, watchAll } from '../api';
import { TABS } from '../status';
import type { Session, SessionEvent } from '../types';
import { loadAsks, noticeAsks } from './asks';
import { beat, noticeBeat } from './beat';
import { filterKey, filterQuery } from './filter';
import type { Filters } from './place';
import { openSession } from './session';
import { dispatch, getState } from './store';

const COUNTED_MAX = 100;
const SINCE_PAGE = 200;
const SINCE_MAX = 1000;
const REFRESH_MS = 60_000;

// --- pages ---

/** A list that the firehose has kept up to date need not be asked for again. */
export function showList(filters: Filters): void {
  const { list, stream } = getState();
  const isThere = list.filters !== null && filterKey(list.filters) === filterKey(filters) && list.phase === 'ready';
  if (!isThere || stream !== 'connected') void loadList(filters);
}

export async function loadList(filters: Filters): Promise<void> {
  dispatch({ type: 'list asked', filters });
  try {
    dispatch({ type: 'list got', filters, page: await api.sessions(filterQuery(filters)) });
  } catch (problem) {
    dispatch({ type: 'list failed', filters, problem: problem as Problem });
  }
}

export async function loadMore(): Promise<void> {
  const { filters, nextCursor, isLoadingMore, phase } = getState().list;
  if (!filters || !nextCursor || isLoadingMore || phase !== 'ready') return;
  dispatch({ type: 'list more asked' });
  try {
    const page = await api.sessions({ ...filterQuery(filters), cursor: nextCursor });
    dispatch({ type: 'list got more', filters, page });
  } catch (problem) {
    dispatch({ type: 'list failed', filters, problem: problem as Problem });
  }
}

/** Everything that happened since `from`, up to a bound; the firehose keeps it up to date. */
export async function loadSince(name: 'today' | 'week', from: string): Promise<void> {
  const sessions: Session[] = [];
  let cursor: string | undefined;
  do {
    const page = await api.sessions({ active_after: from, archived: 'all', limit: SINCE_PAGE, cursor });
    sessions.push(...page.sessions);
    cursor = page.has_more ? (page.next_cursor ?? undefined) : undefined;
  } while (cursor && sessions.length < SINCE_MAX);
  dispatch({ type: 'known', display: name, page: { sessions, has_more: cursor !== undefined, next_cursor: null } });
}

// --- counts ---

/** Counts are counted over sessions the page knows, so that they never contradict the lists. */
async function countDisplay(display: string): Promise<void> {
  const page = await api.sessions({ display_status: display, limit: COUNTED_MAX });
  dispatch({ type: 'known', display, page });
  if (page.has_more) return;
  const there = new Set(page.sessions.map((session) => session.id));
  for (const session of Object.values(getState().sessions)) {
    const isMissing = session.display_status === display && !session.archived_at && !there.has(session.id);
    if (isMissing) look(session.id);
  }
}

async function countAll(): Promise<void> {
  const displays = TABS.flatMap((tab) => (tab.isCounted && tab.display ? [tab.display] : []));
  await Promise.all(displays.map(countDisplay)).catch(() => {}); // the connection's state tells
}

// --- live ---

/** Sessions that have changed since they were last asked for. Each is asked for at most once a second. */
const changed = new Set<string>();
const askedAt = new Map<string, number>();
const PAUSE_MS = 1000;
const MANY = 40;
let timer = 0;

function look(id: string): void {
  changed.add(id);
  if (!timer) timer = window.setTimeout(() => void lookAtChanged(), 60);
}

async function lookAt(id: string): Promise<void> {
  askedAt.set(id, Date.now());
  try {
    dispatch({ type: 'session', session: await api.session(id) });
  } catch (error) {
    const { status } = error as Problem;
    if (status === 404 || status === 410) dispatch({ type: 'session gone', id });
  }
}

/** When very much happens at once, the lists are asked for again as a whole. */
async function lookAtAll(): Promise<void> {
  changed.clear();
  const { filters } = getState().list;
  await Promise.all([countAll(), filters ? loadList(filters) : null]);
}

async function lookAtChanged(): Promise<void> {
  const due = [...changed].filter((id) => Date.now() - (askedAt.get(id) ?? 0) >= PAUSE_MS);
  if (due.length > MANY) {
    await lookAtAll();
  } else {
    for (const id of due) changed.delete(id);
    await Promise.all(due.map(lookAt));
  }
  if (askedAt.size > 5000) askedAt.clear();
  timer = changed.size ? window.setTimeout(() => void lookAtChanged(), due.length > MANY ? 2000 : 250) : 0;
}

let watch: Watch | null = null;
let refresh = 0;

/** Connected, for the first time or again: what failed meanwhile is asked for again. */
function isBack(): void {
  const { list, open } = getState();
  void countAll();
  void loadAsks();
  beat();
  if (list.filters && list.problem) void loadList(list.filters);
  if (open?.phase === 'error') void openSession(open.id);
}

function hear(event: SessionEvent): void {
  if (event.type === 'session.deleted') dispatch({ type: 'session gone', id: event.session_id });
  else look(event.session_id);
  noticeAsks(event);
  noticeBeat(event);
}

export function startLive(): void {
  if (watch) return;
  watch = watchAll({
    onState: (stream) => dispatch({ type: 'stream', stream }),
    onFrame: (frame) => {
      if (frame.type === 'event') hear(frame.data as SessionEvent);
      if (frame.type === 'gap') {
        void lookAtAll();
        void loadAsks();
        beat();
      }
      if (frame.type === 'ready') isBack();
    },
  });
  // What people change in tasks and entities is in no log.
  refresh = window.setInterval(() => {
    if (document.hidden) return;
    void countAll();
    void loadAsks();
    beat();
  }, REFRESH_MS);
}

export function stopLive(): void {
  watch?.stop();
  clearInterval(refresh);
  changed.clear();
  askedAt.clear();
  watch = null;
}

// --- what the page makes of them ---

/** The number behind a tab; null while it is not known. */
export function countOf(
  sessions: Record<string, Session>,
  known: Record<string, 'all' | 'some'>,
  display: string,
): { count: number; isMore: boolean } | null {
  const how = known[display];
  if (!how) return null;
  const is = (session: Session): boolean => session.display_status === display && !session.archived_at;
  return { count: Object.values(sessions).filter(is).length, isMore: how === 'some' };
}
