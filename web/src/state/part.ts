// The parts of what is said, as they stand in the log.
import type { SessionEvent } from '../types';

export type Part = Record<string, unknown>;

export const isPart = (value: unknown): value is Part => typeof value === 'object' && value !== null;
export const text = (value: unknown): string => (typeof value === 'string' ? value : '');

export function parts(event: SessionEvent): SessionEvent['content'] {
  return event.content.filter(isPart);
}

export function textOf(event: SessionEvent): string {
  const all = parts(event).filter((part) => part['type'] === 'text' || part['type'] === 'reasoning');
  return all
    .map((part) => text(part['text']))
    .filter(Boolean)
    .join('\n\n');
}

/** Words and numbers as text; anything else is none. */
export const str = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';
