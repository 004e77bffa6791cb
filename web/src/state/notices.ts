import type { Problem } from '../api';
import { dispatch } from './store';

let last = 0;
const SHOWN_MS = 8_000;

export function tell(text: string, options: { undo?: () => void; isProblem?: boolean } = {}): void {
  last += 1;
  const id = last;
  dispatch({
    type: 'notice',
    notice: { id, text, undo: options.undo ?? null, isProblem: options.isProblem ?? false },
  });
  setTimeout(() => dispatch({ type: 'notice over', id }), SHOWN_MS);
}

/** Says what could not be done, what was kept, and why. */
export function tellProblem(what: string, problem: unknown): void {
  tell(`${what}: ${(problem as Problem).message}`, { isProblem: true });
}
