// The log as spans of time: each state the session was in, each tool call.
import { lookOfState, type Tone } from '../status';
import type { SessionEvent } from '../types';
import { transcript } from './transcript';

export interface Span {
  kind: 'state' | 'tool';
  word: string;
  tone: Tone;
  from: number;
  to: number;
  sequence: number;
}

function stateSpans(events: SessionEvent[], end: number): Span[] {
  const states = events.filter((event) => event.type === 'session.created' || event.type === 'session.status_change');
  return states.map((event, index) => {
    const look = lookOfState(String(event.metadata[event.type === 'session.created' ? 'status' : 'to']));
    const from = Date.parse(event.created_at);
    const next = states[index + 1];
    const to = next ? Date.parse(next.created_at) : Math.max(from, end);
    return { kind: 'state', word: look.word, tone: look.tone, from, to, sequence: event.sequence };
  });
}

function toolSpans(events: SessionEvent[], end: number): Span[] {
  return transcript(events).flatMap((item) => {
    if (item.kind !== 'tool') return [];
    const from = Date.parse(item.at);
    const to = item.tool.tookMs === null ? Math.max(from, end) : from + item.tool.tookMs;
    const tone = item.tool.state === 'failed' ? 'red' : 'grey';
    return [{ kind: 'tool', word: item.tool.name, tone, from, to, sequence: Number.parseInt(item.key, 10) }];
  });
}

/** In the order in which they began; an end of the session has no length. */
export function spans(events: SessionEvent[], end: number): Span[] {
  return [...stateSpans(events, end), ...toolSpans(events, end)].sort(
    (a, b) => a.from - b.from || a.sequence - b.sequence,
  );
}
