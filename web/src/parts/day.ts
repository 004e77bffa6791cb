import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Problem } from '../api';
import { type Day, dayOf, midnight, weekBefore } from '../state/day';
import { loadSince } from '../state/sessions';
import { useStore } from '../state/store';

export interface KnownDay {
  day: Day | null;
  isMore: boolean; // more happened than the page knows
  problem: Problem | null;
  again: () => void;
}

/** Asked for once when the page is shown and after the connection was lost; in between the firehose tells. */
function useSince(name: 'today' | 'week', from: string): KnownDay {
  const sessions = useStore((state) => state.sessions);
  const known = useStore((state) => state.known[name]);
  const stream = useStore((state) => state.stream);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [round, setRound] = useState(0);
  useEffect(() => {
    if (stream === 'reconnecting') return;
    loadSince(name, from).then(() => setProblem(null), setProblem);
  }, [name, from, stream, round]);
  const day = useMemo(() => (known ? dayOf(sessions, from) : null), [sessions, known, from]);
  return { day, isMore: known === 'some', problem, again: () => setRound(round + 1) };
}

export const useDay = (): KnownDay => useSince('today', midnight(new Date()));

/** The last seven days, today among them. */
export const useWeek = (): KnownDay => useSince('week', weekBefore(new Date()));
