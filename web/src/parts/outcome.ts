// What became of an ask, in a few words.
import { pretty } from '../format';
import { isOutput } from '../state/output';
import type { Ask } from '../types';

const DECISION_WORDS = {
  once: 'allowed once',
  session: 'allowed for the session',
  always: 'always allowed',
  deny: 'denied',
};

type Decided = Pick<Ask, 'kind' | 'state' | 'decision' | 'answer' | 'reason' | 'details'>;

export function outcomeOf(ask: Decided): string {
  const reason = ask.reason ? `: ${ask.reason}` : '';
  if (ask.state === 'expired') return 'expired without an answer';
  if (ask.state === 'cancelled') return `no longer asked${reason}`;
  if (ask.state === 'pending') return 'not decided yet';
  if (isOutput(ask)) return ask.decision === 'deny' ? `rejected${reason}` : ask.answer ? 'kept with changes' : 'kept';
  if (ask.decision === 'deny') return ask.kind === 'approval' ? `denied${reason}` : `declined${reason}`;
  if (ask.kind === 'approval') return ask.decision ? DECISION_WORDS[ask.decision] : 'allowed';
  return ask.kind === 'question' ? `answered: ${pretty(ask.answer)}` : 'filled in';
}
