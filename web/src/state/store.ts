// Holds the state; parts of the page look at it through useStore.
import { useEffect, useReducer, useRef } from 'preact/hooks';
import { readPlace } from './place';
import { type Action, initialState, reduce, type State } from './state';

let state = initialState(readPlace(new URL(location.href)));
const listeners = new Set<() => void>();

export const getState = (): State => state;

export function dispatch(action: Action): void {
  const next = reduce(state, action);
  if (next === state) return;
  state = next;
  for (const listener of [...listeners]) listener();
}

/** What `select` picks, kept up to date. It must give the same object while nothing it looks at has changed. */
export function useStore<T>(select: (state: State) => T): T {
  const [, redraw] = useReducer<number, void>((count) => count + 1, 0);
  const value = select(state);
  const latest = useRef({ value, select });
  latest.current = { value, select };
  useEffect(() => {
    const look = (): void => {
      if (!Object.is(latest.current.select(state), latest.current.value)) redraw();
    };
    listeners.add(look);
    look();
    return () => void listeners.delete(look);
  }, []);
  return value;
}
