// The open session: loading, following, answering, looking back.
import { api, newKey, type Problem, type Watch, watchSession } from '../api';
import type { File, Receipt, SessionEvent } from '../types';
import { loadSessionAsks } from './asks';
import { tell, tellProblem } from './notices';
import { eventsUntil, type Saying } from './open';
import { go } from './navigate';
import { sessionPlace } from './place';
import { loadQueue, noticeQueue } from './queue';
import { dispatch, getState } from './store';

const WINDOW = 200;

let watch: Watch | null = null;
let seen = 0; // counts openings, so that answers to an earlier one are dropped

function isGone(problem: unknown): boolean {
  return [404, 410].includes((problem as Problem).status);
}

function fail(id: string, problem: unknown): void {
  if (isGone(problem)) {
    dispatch({ type: 'open gone', id });
    dispatch({ type: 'session gone', id });
  } else {
    dispatch({ type: 'open failed', id, problem: problem as Problem });
  }
}

export async function openSession(id: string): Promise<void> {
  closeSession();
  seen += 1;
  const opening = seen;
  dispatch({ type: 'open', id });
  try {
    const [session, page] = await Promise.all([api.session(id), api.events(id, { order: 'newest', limit: WINDOW })]);
    if (opening !== seen) return;
    dispatch({ type: 'session', session });
    dispatch({ type: 'open got', id, page });
    follow(id, page.events[0]?.sequence ?? 0);
    if (session.agent) void loadQueue(id);
    void loadSessionAsks(id);
  } catch (problem) {
    if (opening === seen) fail(id, problem);
  }
}

function follow(id: string, sequence: number): void {
  watch = watchSession(id, String(sequence), {
    onState: (stream) => dispatch({ type: 'open stream', id, stream }),
    onFrame: (frame) => {
      dispatch({ type: 'open frame', id, frame });
      if (frame.type === 'event') noticeQueue(id, frame.data as SessionEvent);
      const reason = frame.type === 'closed' ? (frame.data as { reason: string }).reason : '';
      if (reason === 'deleted') fail(id, { status: 410 });
      if (frame.type === 'gap') void openSession(id);
    },
    onRefused: (problem) => fail(id, problem),
  });
}

export function closeSession(): void {
  watch?.stop();
  watch = null;
  seen += 1;
  if (getState().open) dispatch({ type: 'open closed' });
}

export async function loadOlder(): Promise<void> {
  const { open } = getState();
  const first = open?.events[0]?.sequence;
  if (!open || !open.hasOlder || open.isLoadingOlder || !first) return;
  dispatch({ type: 'open older asked' });
  try {
    const page = await api.events(open.id, { order: 'newest', before: first, limit: WINDOW });
    dispatch({ type: 'open got older', id: open.id, page });
  } catch (problem) {
    dispatch({ type: 'open got older', id: open.id, page: null });
    tellProblem('Couldn’t load earlier messages', problem);
  }
}

// --- as it was ---

let pastTimer = 0;

async function loadPast(id: string, at: number): Promise<void> {
  try {
    const { open } = getState();
    const here = open?.id === id ? eventsUntil(open, at) : null;
    const [session, events] = await Promise.all([api.session(id, at), here ?? loadUntil(id, at)]);
    dispatch({ type: 'past got', id, at, session, events });
  } catch (problem) {
    dispatch({ type: 'past failed', id, at, problem: problem as Problem });
  }
}

async function loadUntil(id: string, at: number): Promise<SessionEvent[]> {
  const page = await api.events(id, { order: 'newest', before: at + 1, limit: WINDOW });
  return page.events.reverse();
}

/** Shows the session after event `at`; null: as it is now. */
export function lookBack(id: string, at: number | null): void {
  clearTimeout(pastTimer);
  dispatch({ type: 'past asked', id, at });
  if (at !== null) pastTimer = window.setTimeout(() => void loadPast(id, at), 60);
}

// --- what a person does ---

/** In a session without an agent a message is only written down. */
async function note(id: string, content: unknown[], key: string): Promise<Receipt> {
  const { events } = await api.say(id, content, key);
  return { prompt_id: '', status: 'dispatched', triggered: false, position: 0, sequence: events[0]?.sequence ?? 0 };
}

/** Only agents that run have turns; elsewhere a message is a note. */
export function isForAgent(id: string): boolean {
  const session = getState().sessions[id];
  return session?.type === 'agent' && session.agent !== null;
}

function contentOf(text: string, files: File[]): unknown[] {
  const named = files.map((file) => ({
    type: file.media_type.startsWith('image/') ? 'image' : 'file',
    handle: file.handle,
    media_type: file.media_type,
    ...(file.name && { filename: file.name }),
  }));
  return text.trim() ? [{ type: 'text', text }, ...named] : named;
}

/** With the key of an earlier attempt it is that attempt, made again. */
export async function say(id: string, text: string, how: Partial<Saying> = {}): Promise<void> {
  const { mode = null, key = newKey(), files = [] } = how;
  dispatch({ type: 'open sending', id, sent: { key, text, mode, files } });
  try {
    const content = contentOf(text, files);
    const receipt = isForAgent(id) ? await api.send(id, content, mode, key) : await note(id, content, key);
    dispatch({ type: 'open accepted', id, key, receipt });
    if (receipt.status === 'queued') await loadQueue(id);
  } catch (problem) {
    dispatch({ type: 'open not sent', id, key, problem: problem as Problem });
  }
}

const name = (id: string): string => {
  const session = getState().sessions[id];
  return session?.title ? `“${session.title}”` : 'the session';
};

function what(ids: string[]): string {
  return ids.length === 1 ? name(ids[0] as string) : `${ids.length} sessions`;
}

async function setArchived(ids: string[], isArchived: boolean): Promise<void> {
  const change = isArchived ? api.archive : api.unarchive;
  for (const id of ids) dispatch({ type: 'session', session: await change(id) });
  dispatch({ type: 'list settled', ids });
}

export async function archive(ids: string[], isArchived = true): Promise<void> {
  try {
    await setArchived(ids, isArchived);
    dispatch({ type: 'selected', ids: [] });
    tell(`${isArchived ? 'Archived' : 'Brought back'} ${what(ids)}`, {
      undo: () => void setArchived(ids, !isArchived).catch((problem) => tellProblem('Can’t be undone', problem)),
    });
  } catch (problem) {
    tellProblem(`${what(ids)} can’t be archived`, problem);
  }
}

export async function erase(ids: string[]): Promise<void> {
  const said = what(ids);
  try {
    for (const id of ids) {
      await api.remove(id);
      dispatch({ type: 'session gone', id });
    }
    tell(`Deleted ${said}`);
    const { place } = getState();
    if (place.page === 'session' && ids.includes(place.id)) go(getState().lastList);
  } catch (problem) {
    tellProblem(`${said} can’t be deleted`, problem);
  }
}

export async function rename(id: string, title: string): Promise<void> {
  const before = getState().sessions[id]?.title ?? '';
  if (title === before) return;
  try {
    dispatch({ type: 'session', session: await api.rename(id, title) });
    tell(`Renamed to “${title}”`, { undo: () => void rename(id, before) });
  } catch (problem) {
    tellProblem('The title stays as it was', problem);
  }
}

export async function reopen(id: string): Promise<void> {
  try {
    dispatch({ type: 'session', session: await api.reopen(id) });
  } catch (problem) {
    tellProblem('The session can’t be reopened', problem);
  }
}

export async function retry(id: string): Promise<void> {
  try {
    const session = await api.retry(id, newKey());
    dispatch({ type: 'session', session });
    go(sessionPlace(session.id));
  } catch (problem) {
    tellProblem('The work can’t be tried again', problem);
  }
}

/** The agent inside the server that needs no model: something to see within a minute. */
export async function tryDemo(): Promise<void> {
  try {
    const body = { type: 'agent', agent: 'demo', title: 'Hello, demo', prompt: 'Hello. What can you show me?' };
    const session = await api.create(body, newKey());
    dispatch({ type: 'session', session });
    go(sessionPlace(session.id));
  } catch (problem) {
    tellProblem('The demo can’t be started', problem);
  }
}
