// How times, sizes and sums are written.
import type { Session } from './types';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** "now", "12 m", "3 h", "5 d", then the date. */
export function ago(time: string, nowMs: number): string {
  const ms = Math.max(0, nowMs - Date.parse(time));
  if (ms < MINUTE) return 'now';
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} m`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h`;
  if (ms < 14 * DAY) return `${Math.floor(ms / DAY)} d`;
  return new Date(time).toLocaleDateString(undefined, { year: 'numeric', month: 'short', day: 'numeric' });
}

export function exact(time: string): string {
  return new Date(time).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
}

export function clock(time: string): string {
  return new Date(time).toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
}

export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < MINUTE) return `${Math.round(ms / 1000)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} m ${Math.floor((ms % MINUTE) / 1000)} s`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h ${Math.floor((ms % HOUR) / MINUTE)} m`;
  return `${Math.floor(ms / DAY)} d ${Math.floor((ms % DAY) / HOUR)} h`;
}

export function bytes(count: number): string {
  if (count < 1000) return `${count} B`;
  if (count < 1_000_000) return `${(count / 1000).toFixed(count < 10_000 ? 1 : 0)} kB`;
  return `${(count / 1_000_000).toFixed(1)} MB`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`;
}

export const MICROCENTS_PER_USD = 1e8;

export function dollars(usd: number): string {
  return `$${usd.toFixed(usd > 0 && usd < 0.01 ? 4 : 2)}`;
}

/** In dollars, when the usage says so. */
export function usdOf(usage: Record<string, unknown> | null): number | null {
  const all = usage ?? {};
  const usd = all['cost_usd'] ?? all['total_cost_usd'] ?? all['cost'];
  if (typeof usd === 'number') return usd;
  const microcents = all['cost_microcents'];
  return typeof microcents === 'number' && microcents > 0 ? microcents / MICROCENTS_PER_USD : null;
}

/** What the session cost, when its usage says so. */
export function cost(session: Pick<Session, 'usage'>): string {
  const usd = usdOf(session.usage);
  return usd === null ? '' : dollars(usd);
}

export const microcents = (count: number): string => dollars(count / MICROCENTS_PER_USD);

/** What a session is called: nobody remembers an id. */
export function titleOf(session: Pick<Session, 'id' | 'title' | 'prompt_snippet' | 'agent'>): string {
  return session.title || session.prompt_snippet || (session.agent ? `Conversation with ${session.agent}` : session.id);
}

export function pretty(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
}

/** The first line of a text that has something in it. */
export function firstLine(text: string): string {
  return (text.split('\n').find((one) => one.trim()) ?? '').trim();
}

const EMPHASIS = /(?<=^|[\s(])(\*\*|__|`)([\p{L}\p{N}](?:[^*_`]*[\p{L}\p{N}])?)\1(?=$|[\s).,:;!?])/gu;

/** The same of a message, without the marks of Markdown around whole words; every other character stays. */
export function firstLineOfProse(text: string): string {
  return firstLine(text)
    .replace(/^#{1,6} /, '')
    .replace(EMPHASIS, '$2');
}

/** What to type in a terminal to do the same. */
export function postCommand(path: string, body: unknown): string {
  const url = `${location.origin}${path}`;
  return `curl -H "Authorization: Bearer $SOJOURN_TOKEN" ${url} -d '${JSON.stringify(body)}'`;
}
