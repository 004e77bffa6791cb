// What a day brought, counted over the sessions the page knows.
import { usdOf } from '../format';
import { displayOf, isEnded } from '../status';
import type { Session } from '../types';

export function midnight(now: Date): string {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate()).toISOString();
}

/** The beginning of the last seven days, today among them. */
export function weekBefore(now: Date): string {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() - 6).toISOString();
}

/** What one says to somebody who comes in at this time. */
export function greeting(now: Date): string {
  const hour = now.getHours();
  return hour >= 5 && hour < 12 ? 'Good morning' : hour >= 12 && hour < 18 ? 'Good afternoon' : 'Good evening';
}

export interface Day {
  sessions: Session[]; // newest activity first, without parts of other sessions
  began: number;
  completed: number;
  failed: number;
  usd: number;
}

export function dayOf(all: Record<string, Session>, from: string): Day {
  const since = Date.parse(from);
  const is = (time: string | null): boolean => time !== null && Date.parse(time) >= since;
  const active = Object.values(all).filter((one) => is(one.last_active_at));
  const sessions = active
    .filter((one) => !one.parent_id)
    .sort((a, b) => (a.last_active_at < b.last_active_at ? 1 : -1));
  const ended = sessions.filter((one) => isEnded(one.status) && is(one.completed_at ?? one.last_active_at));
  return {
    sessions,
    began: sessions.filter((one) => is(one.created_at)).length,
    completed: ended.filter((one) => one.status === 'completed').length,
    failed: ended.filter((one) => one.status !== 'completed').length,
    usd: active.reduce((sum, one) => sum + (usdOf(one.usage) ?? 0), 0),
  };
}

/** Sessions that work, or are about to. */
export function isHappening(session: Session): boolean {
  return ['active', 'queued', 'recovering'].includes(displayOf(session)) && !session.archived_at;
}

/** Nothing more comes of it by itself. */
export function isOver(session: Session): boolean {
  const display = displayOf(session);
  return !isHappening(session) && display !== 'needs_you' && display !== 'blocked' && session.last_sequence > 1;
}

export interface Hour {
  word: string;
  sessions: Session[];
}

export function hoursOf(sessions: Session[]): Hour[] {
  const hours = new Map<string, Session[]>();
  for (const session of sessions) {
    const word = `${new Date(session.last_active_at).getHours()}:00`;
    hours.set(word, [...(hours.get(word) ?? []), session]);
  }
  return [...hours].map(([word, those]) => ({ word, sessions: those }));
}
