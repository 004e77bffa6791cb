// What an approval is about, and how much of it must be seen before somebody may allow it.
import { isOutput } from './output';
import { isPlain } from './exact';
import type { Ask } from '../types';

const ROW_CHARACTERS = 160;
const COMMAND_NAMES = ['command', 'cmd', 'script'];
const ROW_RISKS: unknown[] = [undefined, null, '', 'low', 'medium'];

export const isCommand = (name: string): boolean => COMMAND_NAMES.includes(name);

function written(args: Record<string, unknown>): string {
  const all = Object.entries(args);
  const [first] = all;
  if (all.length === 1 && first && isCommand(first[0]) && typeof first[1] === 'string') return first[1];
  return all.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join(', ');
}

/** Everything that would be allowed, in one line; null when only the card shows all of it, or the risk is high. */
export function wholeCallOf(ask: Ask): string | null {
  if (ask.kind !== 'approval' || !ask.tool || !ask.arguments || isOutput(ask)) return null;
  const { risk, ...more } = ask.details ?? {};
  if (!ROW_RISKS.includes(risk) || Object.keys(more).length > 0) return null;
  const text = written(ask.arguments);
  const fits = text.trim() !== '' && text.length <= ROW_CHARACTERS && isPlain(text);
  return fits && Object.keys(ask.arguments).length > 0 ? text : null;
}

/** A call whose arguments nobody has seen is allowed once and never more. */
export const isSeen = (ask: Ask): boolean => Object.keys(ask.arguments ?? {}).length > 0;
