// Tasks, entities and files have no stream of their own: pages that show them ask again at every beat.
import type { SessionEvent } from '../types';
import { dispatch } from './store';

const SOON_MS = 150;
const PAUSE_MS = 2000; // between two of them, however much happens
const TELLING = /^(entity\.|session\.(created|status_change|completed|error|deleted|file_added)|agent\.files_changed)/;

let timer = 0;
let lastMs = 0;

export function beat(): void {
  if (timer) return;
  const pause = Math.max(SOON_MS, lastMs + PAUSE_MS - Date.now());
  timer = window.setTimeout(() => {
    timer = 0;
    lastMs = Date.now();
    dispatch({ type: 'beat' });
  }, pause);
}

export function noticeBeat(event: SessionEvent): void {
  if (TELLING.test(event.type)) beat();
}
