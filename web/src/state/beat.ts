// Tasks, entities and files have no stream of their own: pages that show them ask again at every beat.
import type { SessionEvent } from '../types';
import { dispatch } from './store';

const PAUSE_MS = 400;
const TELLING = /^(entity\.|session\.(created|status_change|completed|error|deleted|file_added)|agent\.files_changed)/;

let timer = 0;

export function beat(): void {
  if (!timer) {
    timer = window.setTimeout(() => {
      timer = 0;
      dispatch({ type: 'beat' });
    }, PAUSE_MS);
  }
}

export function noticeBeat(event: SessionEvent): void {
  if (TELLING.test(event.type)) beat();
}
