// The URL holds where we are: page, filters and selection.

export interface Filters {
  tab: string;
  q: string;
  agent: string;
  source: string;
  owner: string;
  kind: string; // run: work that was handed over; chat: a conversation
  archived: boolean;
}

export type View = 'transcript' | 'files' | 'tree' | 'time' | 'people' | 'raw';

export type Place =
  | { page: 'sign-in' }
  | { page: 'home' }
  | { page: 'today' }
  | { page: 'sessions'; filters: Filters; cursor: string; peek: boolean }
  | { page: 'session'; id: string; view: View; at: number | null }
  | { page: 'inbox'; cursor: string }
  | { page: 'agents'; id: string; version: number | null }
  | { page: 'tasks'; id: string; run: string }
  | { page: 'entities'; id: string; kind: string; q: string }
  | { page: 'rules' }
  | { page: 'settings' }
  | { page: 'join'; token: string }
  | { page: 'nowhere' };

export const NO_FILTERS: Filters = { tab: 'all', q: '', agent: '', source: '', owner: '', kind: '', archived: false };
const VIEWS: readonly View[] = ['transcript', 'files', 'tree', 'time', 'people', 'raw'];

function readSessions(params: URLSearchParams): Place {
  const text = (name: string): string => params.get(name) ?? '';
  const filters = {
    tab: text('tab') || 'all',
    q: text('q'),
    agent: text('agent'),
    source: text('source'),
    owner: text('owner'),
    kind: text('kind'),
    archived: text('archived') === 'true',
  };
  return { page: 'sessions', filters, cursor: text('row'), peek: text('peek') === 'true' };
}

function readSession(id: string, params: URLSearchParams, hash: string): Place {
  if (id === 'join' && hash) return { page: 'join', token: hash };
  const view = VIEWS.find((one) => one === params.get('view')) ?? 'transcript';
  const at = Number(params.get('at'));
  return { page: 'session', id, view, at: Number.isInteger(at) && at > 0 ? at : null };
}

function readAgents(id: string, params: URLSearchParams): Place {
  const version = Number(params.get('version'));
  return { page: 'agents', id, version: Number.isInteger(version) && version > 0 ? version : null };
}

/** Pages that have an address and nothing else. */
const PLAIN = { '': 'home', today: 'today', rules: 'rules', settings: 'settings' } as const;

function readWork(first: string, id: string, params: URLSearchParams): Place | null {
  const text = (name: string): string => params.get(name) ?? '';
  if (first === 'tasks') return { page: 'tasks', id, run: text('run') };
  if (first === 'entities') return { page: 'entities', id, kind: text('type'), q: text('q') };
  return null;
}

export function readPlace(url: URL): Place {
  const [first = '', second, ...rest] = url.pathname.split('/').slice(1);
  if (rest.length > 0) return { page: 'nowhere' };
  if (first in PLAIN && !second) return { page: PLAIN[first as keyof typeof PLAIN] };
  const work = readWork(first, decodeURIComponent(second ?? ''), url.searchParams);
  if (work) return work;
  if (first === 'sign-in') return { page: 'sign-in' };
  if (first === 'inbox') return { page: 'inbox', cursor: url.searchParams.get('row') ?? '' };
  if (first === 'agents') return readAgents(decodeURIComponent(second ?? ''), url.searchParams);
  if (first === 'sessions' && second) {
    return readSession(decodeURIComponent(second), url.searchParams, url.hash.slice(1));
  }
  return first === 'sessions' ? readSessions(url.searchParams) : { page: 'nowhere' };
}

function query(values: Record<string, string | number | boolean | null>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== '' && value !== null && value !== false) params.set(name, String(value));
  }
  const text = params.toString();
  return text ? `?${text}` : '';
}

export function writePlace(place: Place): string {
  switch (place.page) {
    case 'sign-in':
      return '/sign-in';
    case 'inbox':
      return `/inbox${query({ row: place.cursor })}`;
    case 'session': {
      const view = place.view === 'transcript' ? '' : place.view;
      return `/sessions/${encodeURIComponent(place.id)}${query({ view, at: place.at })}`;
    }
    case 'sessions': {
      const { tab, ...filters } = place.filters;
      return `/sessions${query({ tab: tab === 'all' ? '' : tab, ...filters, row: place.cursor, peek: place.peek })}`;
    }
    case 'agents':
      return `/agents${place.id ? `/${encodeURIComponent(place.id)}` : ''}${query({ version: place.version })}`;
    case 'tasks':
      return `/tasks${place.id ? `/${encodeURIComponent(place.id)}` : ''}${query({ run: place.run })}`;
    case 'entities':
      return `/entities${place.id ? `/${encodeURIComponent(place.id)}` : ''}${query({ type: place.kind, q: place.q })}`;
    case 'home':
      return '/';
    case 'today':
    case 'rules':
    case 'settings':
      return `/${place.page}`;
    case 'join':
      return `/sessions/join#${place.token}`;
    case 'nowhere':
      return location.pathname;
  }
}

export const HOME: Place = { page: 'home' };
export const taskPlace = (id = '', run = ''): Place => ({ page: 'tasks', id, run });
export const entityPlace = (id = ''): Place => ({ page: 'entities', id, kind: '', q: '' });
export const sessionPlace = (id: string): Place => ({ page: 'session', id, view: 'transcript', at: null });

export function sessionsPlace(filters: Partial<Filters> = {}): Place {
  return { page: 'sessions', filters: { ...NO_FILTERS, ...filters }, cursor: '', peek: false };
}
