// Everything that leaves the page: the only fetch and the only WebSocket of the dashboard.
import type {
  Agent,
  Ask,
  AskList,
  ChangedFile,
  Entity,
  EntityList,
  EntitySession,
  EventList,
  Explanation,
  Export,
  File as SessionFile,
  Me,
  ListedParticipant,
  Persona,
  Preferences,
  Prompt,
  QueueMode,
  Receipt,
  Reply,
  Rule,
  Session,
  SessionEvent,
  SessionList,
  ShareLink,
  Task,
  TaskList,
  Token,
  User,
} from './types';

/** What went wrong, in the server's words. Status 0: the server was not reached. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

let csrf = '';
let signIns = 0;
let signedOut: () => void = () => {};

/** Called when the server no longer knows who we are. */
export function onSignedOut(call: () => void): void {
  signedOut = call;
}

async function readProblem(response: Response): Promise<Problem> {
  const fallback = `The server answered ${response.status}.`;
  try {
    const body = (await response.json()) as { code?: string; detail?: string; title?: string };
    return new Problem(response.status, body.code ?? 'unknown', body.detail ?? body.title ?? fallback);
  } catch {
    return new Problem(response.status, 'unknown', fallback);
  }
}

interface Options {
  body?: unknown;
  key?: string;
  revision?: number; // of what is changed; refused when it is another one by now
  signal?: AbortSignal | undefined;
}

async function request(method: string, path: string, options: Options): Promise<Response> {
  const headers: Record<string, string> = { Accept: 'application/json' };
  if (method !== 'GET') headers['X-CSRF-Token'] = csrf;
  if (options.body !== undefined) headers['Content-Type'] = 'application/json';
  if (options.key) headers['Idempotency-Key'] = options.key;
  if (options.revision) headers['If-Match'] = `"${options.revision}"`;
  const init: RequestInit = { method, headers, credentials: 'same-origin', cache: 'no-store' };
  if (options.body !== undefined) init.body = JSON.stringify(options.body);
  if (options.signal) init.signal = options.signal;
  try {
    return await fetch(path, init);
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw error;
    throw new Problem(0, 'unreachable', 'The server can’t be reached.');
  }
}

async function call<T>(method: string, path: string, options: Options = {}): Promise<T> {
  const before = signIns;
  const response = await request(method, path, options);
  if (!response.ok) {
    const problem = await readProblem(response);
    // An answer to a question from before the last sign-in says nothing about now.
    if (problem.status === 401 && !path.startsWith('/api/auth/') && before === signIns) signedOut();
    throw problem;
  }
  return (response.status === 204 ? undefined : await response.json()) as T;
}

export type Query = Record<string, string | number | undefined>;

function withQuery(path: string, query: Query): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') params.set(name, String(value));
  }
  const text = params.toString();
  return text ? `${path}?${text}` : path;
}

const at = (id: string, rest = ''): string => `/api/sessions/${encodeURIComponent(id)}${rest}`;

const waiting = (id: string, prompt: Prompt, rest = ''): string =>
  at(id, `/queue/${encodeURIComponent(prompt.prompt_id)}${rest}`);
const workAt = (kind: 'tasks' | 'entities' | 'personas' | 'users' | 'tokens', id: string, rest = ''): string =>
  `/api/${kind}/${encodeURIComponent(id)}${rest}`;
const agentAt = (id: string, rest = ''): string => `/api/agents/${encodeURIComponent(id)}${rest}`;

/** A key that is used for one intent, so that trying again does nothing twice. */
export function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

async function remember<T extends { csrf_token?: string }>(answer: Promise<T>): Promise<T> {
  const value = await answer;
  csrf = value.csrf_token ?? csrf;
  signIns += 1;
  return value;
}

export const api = {
  me: () => remember(call<Me>('GET', '/api/me')),
  signIn: (email: string, password: string) =>
    remember(call<{ csrf_token: string }>('POST', '/api/auth/sign-in', { body: { email, password } })),
  signInByLink: (secret: string) =>
    remember(call<{ csrf_token: string }>('POST', '/api/auth/link', { body: { secret } })),
  signOut: () => call<void>('POST', '/api/auth/sign-out', { body: {} }),
  setPassword: (password: string, current: string) =>
    call<void>('PUT', '/api/me/password', { body: current ? { password, current } : { password } }),
  users: () => call<{ users: User[] }>('GET', '/api/users'),
  createUser: (body: Record<string, unknown>) => call<User>('POST', '/api/users', { body }),
  changeUser: (id: string, body: Record<string, unknown>) => call<User>('PATCH', workAt('users', id), { body }),
  removeUser: (id: string) => call<void>('DELETE', workAt('users', id)),
  tokens: (signal?: AbortSignal) => call<{ tokens: Token[] }>('GET', '/api/tokens', { signal }),
  createToken: (body: Record<string, unknown>) => call<Token>('POST', '/api/tokens', { body }),
  revokeToken: (id: string) => call<void>('DELETE', workAt('tokens', id)),

  sessions: (query: Query, signal?: AbortSignal) =>
    call<SessionList>('GET', withQuery('/api/sessions', query), { signal }),
  session: (id: string, sequence?: number, signal?: AbortSignal) =>
    call<Session>('GET', withQuery(at(id), { at: sequence }), { signal }),
  create: (body: Record<string, unknown>, key: string) => call<Session>('POST', '/api/sessions', { body, key }),
  rename: (id: string, title: string) => call<Session>('PATCH', at(id), { body: { title } }),
  archive: (id: string) => call<Session>('POST', at(id, '/archive'), { body: {} }),
  unarchive: (id: string) => call<Session>('POST', at(id, '/unarchive'), { body: {} }),
  reopen: (id: string) => call<Session>('POST', at(id, '/reopen'), { body: {} }),
  retry: (id: string, key: string) => call<Session>('POST', at(id, '/retry'), { body: {}, key }),
  remove: (id: string) => call<void>('DELETE', at(id)),

  events: (id: string, query: Query, signal?: AbortSignal) =>
    call<EventList>('GET', withQuery(at(id, '/events'), query), { signal }),
  /** Makes the session's agent run, now or when its turn is over. */
  send: (id: string, content: unknown[], mode: QueueMode | null, key: string) =>
    call<Receipt>('POST', at(id, '/messages'), { body: mode ? { content, mode } : { content }, key }),
  say: (id: string, content: unknown[], key: string) =>
    call<{ events: SessionEvent[] }>('POST', at(id, '/events'), {
      body: { events: [{ type: 'user.message', content, external_event_id: key }] },
      key,
    }),

  files: (id: string, signal?: AbortSignal) => call<{ files: SessionFile[] }>('GET', at(id, '/files'), { signal }),
  changedFiles: (id: string, signal?: AbortSignal) =>
    call<{ files: ChangedFile[]; has_more: boolean }>('GET', withQuery(at(id, '/files-changed'), { limit: 1000 }), {
      signal,
    }),
  exportSession: (id: string) => call<Export>('POST', at(id, '/export'), { body: {} }),

  queue: (id: string) => call<{ prompts: Prompt[] }>('GET', at(id, '/queue')),
  withdraw: (id: string, prompt: Prompt) => call<void>('DELETE', waiting(id, prompt), { revision: prompt.revision }),
  editPrompt: (id: string, prompt: Prompt, text: string) =>
    call<Prompt>('PATCH', waiting(id, prompt), { body: { text, revision: prompt.revision } }),
  movePrompt: (id: string, prompt: Prompt, position: number) =>
    call<Prompt>('POST', waiting(id, prompt, '/move'), { body: { position, revision: prompt.revision } }),
  promote: (id: string, prompt: Prompt, steer: boolean) =>
    call<Receipt>('POST', waiting(id, prompt, '/promote'), { body: { steer, revision: prompt.revision } }),
  clearQueue: (id: string, key: string) =>
    call<{ prompts: Prompt[] }>('POST', at(id, '/clear-queue'), { body: {}, key }),

  interrupt: (id: string, key: string) =>
    call<{ turn: number; requested: boolean }>('POST', at(id, '/interrupt'), { body: {}, key }),
  resume: (id: string, key: string) => call<Session>('POST', at(id, '/resume'), { body: {}, key }),
  stop: (id: string, key: string) => call<unknown>('POST', at(id, '/stop'), { body: {}, key }),
  pause: (id: string) => call<unknown>('POST', at(id, '/pause'), { body: {} }),
  unpause: (id: string) => call<unknown>('POST', at(id, '/unpause'), { body: {} }),
  hibernate: (id: string) => call<unknown>('POST', at(id, '/hibernate'), { body: {} }),
  wake: (id: string) => call<unknown>('POST', at(id, '/wake'), { body: {} }),
  explain: (id: string, signal?: AbortSignal) => call<Explanation>('GET', at(id, '/explain'), { signal }),

  /** What waits for a decision the caller may make. */
  inbox: () => call<AskList>('GET', withQuery('/api/asks', { limit: 200 })),
  asks: (id: string) => call<AskList>('GET', withQuery(at(id, '/asks'), { descendants: 'true', limit: 50 })),
  askAgain: (id: string, ask: string, key: string) =>
    call<Receipt>('POST', at(id, `/asks/${encodeURIComponent(ask)}/again`), { body: {}, key }),
  answer: (id: string, ask: string, reply: Reply, key: string) =>
    call<Ask>('POST', at(id, `/asks/${encodeURIComponent(ask)}/answer`), { body: reply, key }),
  rules: () => call<{ rules: Rule[] }>('GET', '/api/rules'),
  revoke: (rule: string) => call<void>('DELETE', `/api/rules/${encodeURIComponent(rule)}`),

  agents: (signal?: AbortSignal) =>
    call<{ agents: Agent[]; has_more: boolean }>('GET', withQuery('/api/agents', { limit: 200 }), { signal }),
  agent: (id: string, version: number | null, signal?: AbortSignal) =>
    call<Agent>('GET', withQuery(agentAt(id), { version: version ?? undefined }), { signal }),
  agentVersions: (id: string, signal?: AbortSignal) =>
    call<{ agents: Agent[]; has_more: boolean }>('GET', agentAt(id, '/versions'), { signal }),

  tasks: (signal?: AbortSignal) => call<TaskList>('GET', withQuery('/api/tasks', { limit: 200 }), { signal }),
  task: (id: string, signal?: AbortSignal) => call<Task>('GET', workAt('tasks', id), { signal }),
  createTask: (body: Record<string, unknown>, key: string) => call<Task>('POST', '/api/tasks', { body, key }),
  runTask: (id: string, body: Record<string, unknown>, key: string) =>
    call<{ session: Session }>('POST', workAt('tasks', id, '/runs'), { body, key }),

  entities: (query: Query, signal?: AbortSignal) =>
    call<EntityList>('GET', withQuery('/api/entities', query), { signal }),
  entity: (id: string, signal?: AbortSignal) => call<Entity>('GET', workAt('entities', id), { signal }),
  createEntity: (body: Record<string, unknown>, key: string) => call<Entity>('POST', '/api/entities', { body, key }),
  /** Refused when it has another version than the one that was seen. */
  changeEntity: (id: string, fields: Record<string, unknown>, version: number) =>
    call<Entity>('PATCH', workAt('entities', id), { body: { fields, version } }),
  removeEntity: (id: string, version: number) => call<void>('DELETE', withQuery(workAt('entities', id), { version })),
  entitySessions: (id: string, signal?: AbortSignal) =>
    call<{ sessions: EntitySession[]; has_more: boolean }>(
      'GET',
      withQuery(workAt('entities', id, '/sessions'), { parents_only: 'true', limit: 50 }),
      { signal },
    ),

  preferences: (signal?: AbortSignal) => call<Preferences>('GET', '/api/me/preferences', { signal }),
  setPreferences: (body: Record<string, unknown>) => call<Preferences>('PATCH', '/api/me/preferences', { body }),
  personas: (signal?: AbortSignal) =>
    call<{ personas: Persona[]; has_more: boolean }>('GET', withQuery('/api/personas', { limit: 200 }), { signal }),
  createPersona: (body: Record<string, unknown>) => call<Persona>('POST', '/api/personas', { body }),
  changePersona: (id: string, body: Record<string, unknown>) =>
    call<Persona>('PATCH', workAt('personas', id), { body }),
  removePersona: (id: string) => call<void>('DELETE', workAt('personas', id)),

  participants: (id: string) => call<{ participants: ListedParticipant[] }>('GET', at(id, '/participants')),
  addParticipant: (id: string, email: string, role: string) =>
    call<unknown>('POST', at(id, '/participants'), { body: { email, role } }),
  removeParticipant: (id: string, user: string) =>
    call<void>('DELETE', at(id, `/participants/${encodeURIComponent(user)}`)),
  shareLinks: (id: string) => call<{ share_links: ShareLink[] }>('GET', at(id, '/share-links')),
  createShareLink: (id: string, role: string) => call<ShareLink>('POST', at(id, '/share-link'), { body: { role } }),
  endShareLink: (id: string, link: string) => call<void>('DELETE', at(id, `/share-link/${encodeURIComponent(link)}`)),
  join: (token: string) =>
    call<{ session_id: string }>('POST', `/api/sessions/join/${encodeURIComponent(token)}`, { body: {} }),
};

// --- files ---

/** XMLHttpRequest and not fetch, because only it tells how far an upload is. */
export function upload(
  id: string,
  file: Blob,
  name: string,
  onProgress: (part: number) => void,
  signal: AbortSignal,
): Promise<SessionFile> {
  return new Promise((done, fail) => {
    const request = new XMLHttpRequest();
    request.open('POST', withQuery(at(id, '/files'), { name }));
    request.setRequestHeader('X-CSRF-Token', csrf);
    request.setRequestHeader('Content-Type', file.type || 'application/octet-stream');
    request.responseType = 'json';
    request.upload.onprogress = (event) => onProgress(event.loaded / Math.max(event.total, 1));
    request.onload = () => {
      if (request.status < 300) return done(request.response as SessionFile);
      const { code = 'unknown', detail } = (request.response ?? {}) as { code?: string; detail?: string };
      fail(new Problem(request.status, code, detail ?? `The server answered ${request.status}.`));
    };
    request.onerror = () => fail(new Problem(0, 'unreachable', 'The server can’t be reached, or refuses the file.'));
    signal.addEventListener('abort', () => request.abort());
    request.send(file);
  });
}

/** Where a file of a session is, by its handle. */
export const fileUrl = (id: string, handle: string): string => at(id, `/files/${encodeURIComponent(handle)}`);

// --- streams ---

export interface Frame {
  type: 'ready' | 'event' | 'delta' | 'snapshot' | 'gap' | 'slow' | 'closed' | 'ping';
  id?: string;
  data?: unknown;
}

export type StreamState = 'connecting' | 'connected' | 'reconnecting';

interface Watching {
  /** The address, given the cursor behind which to continue; null: from where the stream begins. */
  path: (cursor: string | null) => string;
  cursor: string | null;
  onFrame: (frame: Frame) => void;
  onState: (state: StreamState) => void;
  /** The server refuses for good: the session is gone. */
  onRefused?: (problem: Problem) => void;
  /** Asked after a failed attempt, because a WebSocket does not say why it failed. */
  probe: () => Promise<unknown>;
}

export interface Watch {
  stop: () => void;
}

const SILENCE_MS = 40_000; // the server says something every 15 s
const PAUSE_MS = { first: 250, most: 8_000 };

/**
 * One stream that stays: resumes where it was, however often the connection breaks. WebSocket and not EventSource,
 * because browsers open at most six HTTP connections to a server, and every open tab needs one.
 */
class Stream implements Watch {
  private socket: WebSocket | null = null;
  private pauseMs = PAUSE_MS.first;
  private timer = 0;
  private cursor: string | null;
  private isOver = false;

  constructor(private readonly watching: Watching) {
    this.cursor = watching.cursor;
    watching.onState('connecting');
    addEventListener('online', this.hurry);
    document.addEventListener('visibilitychange', this.hurry);
    this.open();
  }

  stop(): void {
    this.isOver = true;
    clearTimeout(this.timer);
    removeEventListener('online', this.hurry);
    document.removeEventListener('visibilitychange', this.hurry);
    this.socket?.close();
  }

  private hurry = (): void => {
    if (this.socket || this.isOver || document.hidden) return;
    clearTimeout(this.timer);
    this.open();
  };

  private open(): void {
    const url = new URL(this.watching.path(this.cursor), location.href);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    const socket = new WebSocket(url);
    this.socket = socket;
    this.expect(socket);
    socket.onmessage = (message) => {
      this.expect(socket);
      this.take(JSON.parse(message.data as string) as Frame);
    };
    socket.onclose = () => this.lost(socket);
  }

  /** A connection that says nothing is no connection. */
  private expect(socket: WebSocket): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => {
      socket.close();
      this.lost(socket);
    }, SILENCE_MS);
  }

  private take(frame: Frame): void {
    if (this.isOver) return;
    if (frame.type === 'ready') {
      this.pauseMs = PAUSE_MS.first;
      this.cursor ??= (frame.data as { cursor: string }).cursor;
      this.watching.onState('connected');
    }
    if (frame.id) this.cursor = frame.id;
    if (frame.type === 'snapshot' || frame.type === 'gap') this.cursor = (frame.data as { cursor: string }).cursor;
    this.watching.onFrame(frame);
  }

  private lost(socket: WebSocket): void {
    if (this.socket !== socket || this.isOver) return;
    this.socket = null;
    clearTimeout(this.timer);
    this.watching.onState('reconnecting');
    this.timer = window.setTimeout(() => void this.again(), this.pauseMs * (0.5 + Math.random() / 2));
    this.pauseMs = Math.min(this.pauseMs * 2, PAUSE_MS.most);
  }

  private async again(): Promise<void> {
    try {
      await this.watching.probe();
    } catch (error) {
      const problem = error as Problem;
      if (this.isOver || this.socket) return;
      if (problem.status === 403 || problem.status === 404 || problem.status === 410) {
        this.watching.onRefused?.(problem);
        return;
      }
      this.timer = window.setTimeout(() => void this.again(), this.pauseMs * (0.5 + Math.random() / 2));
      this.pauseMs = Math.min(this.pauseMs * 2, PAUSE_MS.most);
      return;
    }
    if (!this.isOver && !this.socket) this.open();
  }
}

/** All events the caller may see. */
export function watchAll(handlers: Pick<Watching, 'onFrame' | 'onState'>): Watch {
  return new Stream({
    ...handlers,
    path: (cursor) => withQuery('/api/stream', { after: cursor ?? undefined }),
    cursor: null,
    probe: api.me,
  });
}

/** One session from behind `cursor` on, with its live output. */
export function watchSession(
  id: string,
  cursor: string,
  handlers: Pick<Watching, 'onFrame' | 'onState' | 'onRefused'>,
): Watch {
  return new Stream({
    ...handlers,
    path: (from) => withQuery(at(id, '/ws'), { resume_from: from ?? undefined }),
    cursor,
    probe: () => api.session(id),
  });
}
