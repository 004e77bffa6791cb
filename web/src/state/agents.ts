// Definitions of agents; a version never changes, so each is asked for once.
import { api } from '../api';
import { MICROCENTS_PER_USD } from '../format';
import type { Agent, Session } from '../types';

const known = new Map<string, Promise<Agent | null>>();

export function agentOf(id: string, version: number): Promise<Agent | null> {
  const key = `${id} ${version}`;
  const found = known.get(key) ?? api.agent(id, version).catch(() => null);
  known.set(key, found);
  // What failed is asked for again the next time.
  void found.then((agent) => agent ?? known.delete(key));
  return found;
}

/** What a session may cost, in dollars; a session may only narrow what its agent may. Null: there is no limit. */
export function budgetOf(agent: Agent | null, session: Session): number | null {
  const caps = (agent?.definition?.['caps'] ?? {}) as Record<string, unknown>;
  const limits = [caps['cost_microcents_max'], session.agent_config?.['cost_microcents_max']];
  const set = limits.filter((one): one is number => typeof one === 'number' && one > 0);
  return set.length > 0 ? Math.min(...set) / MICROCENTS_PER_USD : null;
}
