import { type Look, lookOf, type Mark } from '../status';
import type { Session } from '../types';

const SHAPES: Record<Mark, preact.JSX.Element> = {
  dot: <circle cx="6" cy="6" r="4" fill="currentColor" />,
  pulse: (
    <>
      <circle class="halo" cx="6" cy="6" r="5.5" fill="currentColor" />
      <circle cx="6" cy="6" r="3.5" fill="currentColor" />
    </>
  ),
  hollow: <circle cx="6" cy="6" r="3.6" fill="none" stroke="currentColor" stroke-width="1.6" />,
  bars: <path d="M4 2.500v7M8 2.500v7" stroke="currentColor" stroke-width="2" stroke-linecap="round" />,
  lock: (
    <>
      <rect x="2" y="5.5" width="8" height="5.5" rx="1.2" fill="currentColor" />
      <path d="M3.8 5.500V4a2.2 2.2 0 0 1 4.4 0v1.5" fill="none" stroke="currentColor" stroke-width="1.4" />
    </>
  ),
  ring: (
    <circle
      class="turn"
      cx="6"
      cy="6"
      r="4"
      fill="none"
      stroke="currentColor"
      stroke-width="1.8"
      stroke-dasharray="17 8"
    />
  ),
  check: (
    <path
      d="M2.3 6.4 5 9l4.7-6"
      fill="none"
      stroke="currentColor"
      stroke-width="1.9"
      stroke-linecap="round"
      stroke-linejoin="round"
    />
  ),
  cross: <path d="m3 3 6 6M9 3 3 9" stroke="currentColor" stroke-width="1.9" stroke-linecap="round" />,
  dash: <path d="M2.5 6h7" stroke="currentColor" stroke-width="1.9" stroke-linecap="round" />,
};

export function MarkOf({ look }: { look: Look }) {
  return (
    <svg class={`mark tone-${look.tone}`} viewBox="0 0 12 12" role="img" aria-label={look.word}>
      <title>{look.word}</title>
      {SHAPES[look.mark]}
    </svg>
  );
}

/** Mark and word. */
export function Status({ session }: { session: Session }) {
  const look = lookOf(session);
  return (
    <span class={`status tone-${look.tone}`}>
      <MarkOf look={look} /> {look.word}
    </span>
  );
}
