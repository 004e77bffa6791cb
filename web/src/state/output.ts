// An output that a step of a task brought and that waits for approval.
import type { Ask } from '../types';

/** Is it about what a step brought, and not about a tool? */
export function isOutput(ask: Pick<Ask, 'kind' | 'details'>): boolean {
  return ask.kind === 'approval' && ask.details?.['kind'] === 'output';
}

export function stagedOf(ask: Ask): Record<string, unknown> {
  return ask.arguments ?? (ask.details?.['staged_output'] as Record<string, unknown> | undefined) ?? {};
}
