// What a page shows when it has nothing to show.
import type { ComponentChildren } from 'preact';
import type { Problem } from '../api';

interface EmptyProps {
  title: string;
  text?: string;
  children?: ComponentChildren;
}

export function Empty({ title, text, children }: EmptyProps) {
  return (
    <div class="empty">
      <h1>{title}</h1>
      {text && <p>{text}</p>}
      {children}
    </div>
  );
}

/** Appears only when the wait is long enough to be noticed. */
export function Waiting({ text = 'Loading…' }: { text?: string }) {
  return (
    <div class="empty waiting" role="status">
      <p>{text}</p>
    </div>
  );
}

export function Failed({ what, problem, again }: { what: string; problem: Problem | null; again: () => void }) {
  return (
    <div class="empty" role="alert">
      <h1>{what}</h1>
      <p>{problem?.message ?? 'Something went wrong.'} Nothing was lost.</p>
      <button onClick={again}>Try again</button>
    </div>
  );
}
