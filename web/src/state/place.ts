// The URL holds where we are: page, filters and selection.

export interface Filters {
  tab: string;
  q: string;
  agent: string;
  source: string;
  owner: string;
  archived: boolean;
}

export type View = 'transcript' | 'raw' | 'people' | 'time';

export type Place =
  | { page: 'sign-in' }
  | { page: 'sessions'; filters: Filters; cursor: string; peek: boolean }
  | { page: 'session'; id: string; view: View; at: number | null }
  | { page: 'inbox'; cursor: string }
  | { page: 'agents'; id: string; version: number | null }
  | { page: 'rules' }
  | { page: 'join'; token: string }
  | { page: 'nowhere' };

export const NO_FILTERS: Filters = { tab: 'all', q: '', agent: '', source: '', owner: '', archived: false };
const VIEWS: readonly View[] = ['transcript', 'raw', 'people', 'time'];

function readSessions(params: URLSearchParams): Place {
  const text = (name: string): string => params.get(name) ?? '';
  const filters = {
    tab: text('tab') || 'all',
    q: text('q'),
    agent: text('agent'),
    source: text('source'),
    owner: text('owner'),
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

export function readPlace(url: URL): Place {
  const [first, second, ...rest] = url.pathname.split('/').slice(1);
  if (rest.length > 0) return { page: 'nowhere' };
  if (first === 'sign-in') return { page: 'sign-in' };
  if (first === 'inbox') return { page: 'inbox', cursor: url.searchParams.get('row') ?? '' };
  if (first === 'agents') return readAgents(decodeURIComponent(second ?? ''), url.searchParams);
  if (first === 'rules' && !second) return { page: 'rules' };
  if (first === 'sessions' && second) {
    return readSession(decodeURIComponent(second), url.searchParams, url.hash.slice(1));
  }
  return first === 'sessions' || first === '' ? readSessions(url.searchParams) : { page: 'nowhere' };
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
    case 'rules':
      return '/rules';
    case 'join':
      return `/sessions/join#${place.token}`;
    case 'nowhere':
      return location.pathname;
  }
}

export const sessionPlace = (id: string): Place => ({ page: 'session', id, view: 'transcript', at: null });

export function sessionsPlace(filters: Partial<Filters> = {}): Place {
  return { page: 'sessions', filters: { ...NO_FILTERS, ...filters }, cursor: '', peek: false };
}
