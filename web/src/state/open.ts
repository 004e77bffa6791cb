// The session that is open: a window of its log, what streams right now, and how it was at an earlier event.
import type { Frame, Problem, StreamState } from '../api';
import type { Delta } from '../frames';
import type {
  Ask,
  EventList,
  EventType,
  File,
  Prompt,
  QueueMode,
  Receipt,
  Session,
  SessionEvent,
  Status,
} from '../types';

/** Live output behind event `sequence`, its pieces joined. */
export interface Partial {
  sequence: number;
  kind: Delta['kind'];
  group: string; // what else the delta says, such as a tool call's id
  text: string;
}

/** A message of the person at the page. */
export interface Saying {
  key: string; // the server writes it once, however often it is sent
  text: string;
  mode: QueueMode | null;
  files: File[];
}

export interface Sending extends Saying {
  problem: Problem | null;
  sequence: number | null; // of its event, once the server has told
}

export interface Past {
  at: number;
  phase: 'loading' | 'ready' | 'error';
  session: Session | null;
  events: SessionEvent[];
  problem: Problem | null;
}

export interface Open {
  id: string;
  phase: 'loading' | 'ready' | 'gone' | 'error';
  problem: Problem | null;
  events: SessionEvent[]; // a dense run that ends with the newest
  hasOlder: boolean;
  isLoadingOlder: boolean;
  partials: Partial[];
  sending: Sending[];
  queue: Prompt[];
  asks: Ask[]; // that are pending, here and in sessions below
  stream: StreamState;
  past: Past | null;
}

export function openFresh(id: string): Open {
  return {
    id,
    phase: 'loading',
    problem: null,
    events: [],
    hasOlder: false,
    isLoadingOlder: false,
    partials: [],
    sending: [],
    queue: [],
    asks: [],
    stream: 'connecting',
    past: null,
  };
}

const lastSequence = (open: Open): number => open.events.at(-1)?.sequence ?? 0;

export function openGot(open: Open, page: EventList): Open {
  return { ...open, phase: 'ready', problem: null, events: [...page.events].reverse(), hasOlder: page.has_more };
}

export function openGotOlder(open: Open, page: EventList): Open {
  const first = open.events[0]?.sequence ?? Infinity;
  const older = page.events.filter((event) => event.sequence < first).reverse();
  return { ...open, events: [...older, ...open.events], hasOlder: page.has_more, isLoadingOlder: false };
}

// --- frames ---

/** What each kind of live output becomes. */
const SETTLED_BY: { [type in EventType]?: Delta['kind'] } = {
  'agent.message': 'text',
  'agent.thinking': 'reasoning',
  'agent.tool_call': 'tool_input',
  'agent.tool_result': 'tool_output',
};

/** Live output stays on screen until the event comes that it was the beginning of, or the turn ends. */
function settle(partials: Partial[], event: SessionEvent): Partial[] {
  if (partials.length === 0) return partials;
  if (event.type === 'session.status_change' && event.metadata['to'] !== ('running' satisfies Status)) return [];
  const kind = SETTLED_BY[event.type];
  return kind ? partials.filter((partial) => partial.kind !== kind) : partials;
}

function withEvent(open: Open, event: SessionEvent): Open {
  if (event.sequence <= lastSequence(open)) return open;
  return {
    ...open,
    events: [...open.events, event],
    partials: settle(open.partials, event),
    sending: open.sending.filter((one) => one.key !== event.external_event_id && one.sequence !== event.sequence),
  };
}

/** The server has the message; it stays on screen until its event comes. */
export function openAccepted(open: Open, key: string, receipt: Receipt): Open {
  const isOver = receipt.status === 'queued' || receipt.sequence <= lastSequence(open);
  const sending = isOver
    ? open.sending.filter((one) => one.key !== key)
    : open.sending.map((one) => (one.key === key ? { ...one, sequence: receipt.sequence } : one));
  return { ...open, sending };
}

function groupOf(delta: Delta): string {
  const { kind: _kind, text: _text, dropped_bytes: _dropped, ...rest } = delta;
  return JSON.stringify(rest);
}

function withDelta(partials: Partial[], sequence: number, delta: Delta): Partial[] {
  const group = groupOf(delta);
  const text = delta.text ?? '';
  const at = partials.findIndex((one) => one.kind === delta.kind && one.group === group);
  if (at < 0) return [...partials, { sequence, kind: delta.kind, group, text }];
  return partials.map((one, index) => (index === at ? { ...one, sequence, text: one.text + text } : one));
}

/** All that streams and has not become an event, joined. */
function withSnapshot(open: Open, data: { sequence: number; partial: Delta[] }): Open {
  const partials = (data.partial ?? []).reduce<Partial[]>((all, delta) => withDelta(all, data.sequence, delta), []);
  return { ...open, partials };
}

export function openFrame(open: Open, frame: Frame): Open {
  switch (frame.type) {
    case 'event':
      return withEvent(open, frame.data as SessionEvent);
    case 'delta': {
      const sequence = Number.parseInt(frame.id ?? '0', 10);
      return { ...open, partials: withDelta(open.partials, sequence, frame.data as Delta) };
    }
    case 'snapshot':
      return withSnapshot(open, frame.data as { sequence: number; partial: Delta[] });
    default:
      return open;
  }
}

// --- earlier ---

/** The events up to `at`, when the loaded window reaches back far enough to show them. */
export function eventsUntil(open: Open, at: number): SessionEvent[] | null {
  const first = open.events[0]?.sequence ?? 1;
  return at >= first ? open.events.filter((event) => event.sequence <= at) : null;
}
