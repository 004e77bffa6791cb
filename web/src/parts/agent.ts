// Who is to do the work: all agents there are, and the one that was used last.
import { useState } from 'preact/hooks';
import { api } from '../api';
import type { Agent } from '../types';
import { useLoaded } from './loaded';

const AGENT = 'sojourn.agent';

/** The agent that was used last is offered first. */
export function useAgent(): { agents: Agent[]; agent: string; choose: (agent: string) => void } {
  const agents = useLoaded('agents', (signal) => api.agents(signal)).value?.agents ?? [];
  const [chosen, setChosen] = useState(() => localStorage.getItem(AGENT) ?? '');
  const known = agents.find((one) => one.id === chosen) ?? agents[0];
  const choose = (agent: string): void => {
    localStorage.setItem(AGENT, agent);
    setChosen(agent);
  };
  return { agents, agent: known?.id ?? '', choose };
}
