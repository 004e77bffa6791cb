// The whole state of the page and how every action changes it. No input, no output, no clock.
import type { Frame, Problem, StreamState } from '../api';
import type { Ask, AskList, EventList, Me, Prompt, Receipt, Session, SessionEvent, SessionList, User } from '../types';
import * as asks from './asklist';
import { filterKey } from './filter';
import * as list from './list';
import * as open from './open';
import { type Filters, type Place, sessionsPlace } from './place';

export interface Notice {
  id: number;
  text: string;
  isProblem: boolean;
  undo: (() => void) | null;
}

export interface State {
  place: Place;
  lastList: Place; // to where one goes back from a session
  me: Me | null | 'unknown';
  users: Record<string, User>;
  stream: StreamState;
  /** Grows whenever something was told that tasks, entities or files may have changed by. */
  beat: number;
  sessions: Record<string, Session>;
  /** How many sessions of a display status are known: all of them, or only the newest. */
  known: Record<string, 'all' | 'some'>;
  list: list.List;
  asks: asks.Asks;
  open: open.Open | null;
  selected: string[];
  notices: Notice[];
  dialog: Dialog | null;
}

export type Dialog =
  | { kind: 'palette' }
  | { kind: 'keys' }
  | { kind: 'new'; agent?: string }
  | { kind: 'delete'; ids: string[] }
  | { kind: 'stop'; id: string }
  | { kind: 'rename'; id: string }
  | { kind: 'run'; task: string; entity: string }
  | { kind: 'entity' }
  | { kind: 'remove entity'; id: string; version: number }
  | { kind: 'export'; id: string };

export type Action =
  | { type: 'went'; place: Place }
  | { type: 'me'; me: Me | null }
  | { type: 'users'; users: User[] }
  | { type: 'stream'; stream: StreamState }
  | { type: 'beat' }
  | { type: 'session'; session: Session }
  | { type: 'session gone'; id: string }
  | { type: 'known'; display: string; page: SessionList }
  | { type: 'list asked'; filters: Filters }
  | { type: 'list got'; filters: Filters; page: SessionList }
  | { type: 'list more asked' }
  | { type: 'list got more'; filters: Filters; page: SessionList }
  | { type: 'list failed'; filters: Filters; problem: Problem }
  | { type: 'list held'; isHeld: boolean }
  | { type: 'list released' }
  | { type: 'list settled'; ids: string[] }
  | { type: 'open'; id: string }
  | { type: 'open closed' }
  | { type: 'open got'; id: string; page: EventList }
  | { type: 'open failed'; id: string; problem: Problem }
  | { type: 'open gone'; id: string }
  | { type: 'open older asked' }
  | { type: 'open got older'; id: string; page: EventList | null }
  | { type: 'open stream'; id: string; stream: StreamState }
  | { type: 'open frame'; id: string; frame: Frame }
  | { type: 'open sending'; id: string; sent: open.Saying }
  | { type: 'open accepted'; id: string; key: string; receipt: Receipt }
  | { type: 'open queue'; id: string; queue: Prompt[] }
  | { type: 'open asks'; id: string; asks: Ask[] }
  | { type: 'open not sent'; id: string; key: string; problem: Problem }
  | { type: 'open dropped'; id: string; key: string }
  | { type: 'past asked'; id: string; at: number | null }
  | { type: 'past got'; id: string; at: number; session: Session; events: SessionEvent[] }
  | { type: 'past failed'; id: string; at: number; problem: Problem }
  | { type: 'asks asked' }
  | { type: 'asks got'; page: AskList }
  | { type: 'asks failed'; problem: Problem }
  | { type: 'ask decided'; ask: Ask }
  | { type: 'selected'; ids: string[] }
  | { type: 'notice'; notice: Notice }
  | { type: 'notice over'; id: number }
  | { type: 'dialog'; dialog: Dialog | null };

export function initialState(place: Place): State {
  return {
    place,
    lastList: place.page === 'sessions' ? place : sessionsPlace(),
    me: 'unknown',
    users: {},
    stream: 'connecting',
    beat: 0,
    sessions: {},
    known: {},
    list: list.NO_LIST,
    asks: asks.NO_ASKS,
    open: null,
    selected: [],
    notices: [],
    dialog: null,
  };
}

function withSessions(sessions: Record<string, Session>, page: SessionList): Record<string, Session> {
  const fresh = page.sessions.filter((session) => isNewer(session, sessions[session.id]));
  return { ...sessions, ...Object.fromEntries(fresh.map((one) => [one.id, merged(sessions[one.id], one)])) };
}

/** Lists leave the details out; those that are known stay. */
function merged(old: Session | undefined, session: Session): Session {
  return old?.details && !session.details ? { ...session, details: old.details } : session;
}

/** Answers may overtake each other; the one that has seen more of the log wins. */
function isNewer(session: Session, old: Session | undefined): boolean {
  return !old || session.last_sequence >= old.last_sequence;
}

function withSession(state: State, session: Session): State {
  if (!isNewer(session, state.sessions[session.id])) return state;
  return {
    ...state,
    sessions: { ...state.sessions, [session.id]: merged(state.sessions[session.id], session) },
    list: list.listChanged(state.list, session),
  };
}

function withoutSession(state: State, id: string): State {
  const { [id]: _gone, ...sessions } = state.sessions;
  return {
    ...state,
    sessions,
    list: list.listWithout(state.list, id),
    selected: state.selected.filter((one) => one !== id),
  };
}

function withPlace(state: State, place: Place): State {
  return {
    ...state,
    place,
    lastList: place.page === 'sessions' ? place : state.lastList,
    selected: isSameList(state.place, place) ? state.selected : [],
  };
}

function isSameList(one: Place, other: Place): boolean {
  return one.page === 'sessions' && other.page === 'sessions' && filterKey(one.filters) === filterKey(other.filters);
}

function reduceList(state: State, action: Action): State {
  const isAsked = 'filters' in action && action.filters === state.list.filters;
  switch (action.type) {
    case 'list asked':
      return { ...state, list: { ...list.listAsked(state.list, action.filters), filters: action.filters } };
    case 'list more asked':
      return { ...state, list: { ...state.list, isLoadingMore: true } };
    case 'list got':
      if (!isAsked) return state;
      return {
        ...state,
        sessions: withSessions(state.sessions, action.page),
        list: list.listGot(state.list, action.page),
      };
    case 'list got more':
      if (!isAsked) return state;
      return {
        ...state,
        sessions: withSessions(state.sessions, action.page),
        list: list.listGotMore(state.list, action.page),
      };
    case 'list failed':
      if (!isAsked) return state;
      return {
        ...state,
        list: list.listFailed(state.list, action.problem),
      };
    case 'list held':
      return { ...state, list: list.listHeld(state.list, action.isHeld, state.sessions) };
    case 'list settled':
      return { ...state, list: list.listSettled(state.list, action.ids) };
    case 'list released':
      return { ...state, list: list.listReleased(state.list, state.sessions) };
    default:
      return state;
  }
}

function changeOpen(state: State, id: string, change: (one: open.Open) => open.Open): State {
  return state.open?.id === id ? { ...state, open: change(state.open) } : state;
}

function changePast(state: State, id: string, at: number, past: globalThis.Partial<open.Past>): State {
  return changeOpen(state, id, (one) => (one.past?.at === at ? { ...one, past: { ...one.past, ...past } } : one));
}

function reduceOpen(state: State, action: Action): State {
  switch (action.type) {
    case 'open':
      return { ...state, open: open.openFresh(action.id) };
    case 'open closed':
      return { ...state, open: null };
    case 'open got':
      return changeOpen(state, action.id, (one) => open.openGot(one, action.page));
    case 'open failed':
      return changeOpen(state, action.id, (one) => ({ ...one, phase: 'error', problem: action.problem }));
    case 'open gone':
      return changeOpen(state, action.id, (one) => ({ ...one, phase: 'gone' }));
    case 'open older asked':
      return state.open ? { ...state, open: { ...state.open, isLoadingOlder: true } } : state;
    case 'open got older':
      return changeOpen(state, action.id, (one) =>
        action.page ? open.openGotOlder(one, action.page) : { ...one, isLoadingOlder: false },
      );
    case 'open stream':
      return changeOpen(state, action.id, (one) => ({ ...one, stream: action.stream }));
    case 'open frame':
      return changeOpen(state, action.id, (one) => open.openFrame(one, action.frame));
    default:
      return state;
  }
}

function reduceSending(state: State, action: Action): State {
  switch (action.type) {
    case 'open sending': {
      const sent = { ...action.sent, problem: null, sequence: null };
      return changeOpen(state, action.id, (one) => ({
        ...one,
        sending: [...one.sending.filter((message) => message.key !== sent.key), sent],
      }));
    }
    case 'open accepted':
      return changeOpen(state, action.id, (one) => open.openAccepted(one, action.key, action.receipt));
    case 'open queue':
      return changeOpen(state, action.id, (one) => ({ ...one, queue: action.queue }));
    case 'open not sent':
      return changeOpen(state, action.id, (one) => ({
        ...one,
        sending: one.sending.map((message) =>
          message.key === action.key ? { ...message, problem: action.problem } : message,
        ),
      }));
    case 'open dropped':
      return changeOpen(state, action.id, (one) => ({
        ...one,
        sending: one.sending.filter((message) => message.key !== action.key),
      }));
    default:
      return state;
  }
}

function reduceAsks(state: State, action: Action): State {
  switch (action.type) {
    case 'asks asked':
      return { ...state, asks: { ...state.asks, isStale: true } };
    case 'asks got':
      return { ...state, asks: asks.asksGot(state.asks, action.page) };
    case 'asks failed':
      return { ...state, asks: asks.asksFailed(state.asks, action.problem) };
    case 'ask decided': {
      const { open: one } = state;
      const left = one && { ...one, asks: asks.withAsk(one.asks, action.ask) };
      return { ...state, asks: asks.asksDecided(state.asks, action.ask), open: left };
    }
    case 'open asks':
      return changeOpen(state, action.id, (one) => ({ ...one, asks: action.asks }));
    default:
      return state;
  }
}

function reducePast(state: State, action: Action): State {
  switch (action.type) {
    case 'past asked':
      return changeOpen(state, action.id, (one) => ({
        ...one,
        past: action.at === null ? null : { ...startPast(one, action.at) },
      }));
    case 'past got':
      return changePast(state, action.id, action.at, {
        phase: 'ready',
        session: action.session,
        events: action.events,
      });
    case 'past failed':
      return changePast(state, action.id, action.at, { phase: 'error', problem: action.problem });
    default:
      return state;
  }
}

/** While the answer is under way the last known header stays, so that moving the slider does not flicker. */
function startPast(one: open.Open, at: number): open.Past {
  const events = open.eventsUntil(one, at);
  return {
    at,
    phase: 'loading',
    session: one.past?.session ?? null,
    events: events ?? one.past?.events ?? [],
    problem: null,
  };
}

export function reduce(state: State, action: Action): State {
  switch (action.type) {
    case 'went':
      return withPlace(state, action.place);
    case 'me': // who leaves, leaves nothing behind
      return action.me ? { ...state, me: action.me } : { ...initialState(state.place), me: null };
    case 'users':
      return { ...state, users: Object.fromEntries(action.users.map((user) => [user.id, user])) };
    case 'stream':
      return { ...state, stream: action.stream };
    case 'beat':
      return { ...state, beat: state.beat + 1 };
    case 'session':
      return withSession(state, action.session);
    case 'session gone':
      return withoutSession(state, action.id);
    case 'known': {
      const next = action.page.sessions.reduce(withSession, state);
      return { ...next, known: { ...state.known, [action.display]: action.page.has_more ? 'some' : 'all' } };
    }
    case 'selected':
      return { ...state, selected: action.ids };
    case 'notice':
      return { ...state, notices: [...state.notices.slice(-2), action.notice] };
    case 'notice over':
      return { ...state, notices: state.notices.filter((notice) => notice.id !== action.id) };
    case 'dialog':
      return { ...state, dialog: action.dialog };
    default:
      return [reduceList, reduceOpen, reduceSending, reduceAsks, reducePast].reduce(
        (now, part) => part(now, action),
        state,
      );
  }
}
