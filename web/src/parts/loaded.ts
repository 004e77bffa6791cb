import { useEffect, useState } from 'preact/hooks';
import type { Problem } from '../api';
import { useStore } from '../state/store';

export interface Loaded<T> {
  value: T | null;
  problem: Problem | null;
  again: () => void;
}

/** Asks the server for what `key` names, again when it is another one; what was shown stays until the answer comes. */
export function useLoaded<T>(key: string, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [found, setFound] = useState<{ value: T | null; problem: Problem | null }>({ value: null, problem: null });
  const [round, setRound] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    load(stop.signal).then(
      (value) => setFound({ value, problem: null }),
      (problem: Problem) => problem.name === 'AbortError' || setFound((old) => ({ ...old, problem })),
    );
    return () => stop.abort();
  }, [key, round]);
  const stream = useStore((state) => state.stream);
  useEffect(() => {
    // What failed because the server was not there is asked for again when it is.
    const status = found.problem?.status ?? 200;
    if (stream === 'connected' && (status === 0 || status >= 500)) setRound((one) => one + 1);
  }, [stream]);
  return { ...found, again: () => setRound((one) => one + 1) };
}

/** The same, asked for again whenever the firehose tells of something that may have changed it. */
export function useLive<T>(key: string, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const beat = useStore((state) => state.beat);
  return useLoaded(`${beat} ${key}`, load);
}
