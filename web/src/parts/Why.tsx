// What the session waits for, in words, with the button that goes on.
import { useState } from 'preact/hooks';
import { exact } from '../format';
import { reopen, retry } from '../state/session';
import { isCut, resume } from '../state/turn';
import { lookOf } from '../status';
import type { Session } from '../types';
import { Exact } from './Exact';
import { Explain } from './Explain';
import { useLayer } from './layers';
import { MarkOf } from './Status';
import { Time } from './Time';

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Reasons that the server gives as a word of its vocabulary. */
const REASONS: Record<string, string> = {
  ask_expired: 'what it asked expired without an answer',
  ask_withdrawn: 'what it asked was withdrawn',
};

/** When the present state began, as far as the session says. */
function since(session: Session): string | null {
  if (session.completed_at) return session.completed_at;
  return session.status === 'pending' ? session.queued_at : null;
}

function details(session: Session): string[] {
  return [
    session.error?.message,
    session.status_reason !== session.error?.message
      ? (REASONS[session.status_reason ?? ''] ?? session.status_reason)
      : null,
    session.status === 'pending' && session.agent ? `for a worker of the agent ${session.agent}` : null,
    session.claim_attempts > 1 ? `attempt ${session.claim_attempts}` : null,
    session.expires_at ? `expires ${exact(session.expires_at)}` : null,
  ].filter((text): text is string => Boolean(text));
}

export function Why({ session }: { session: Session }) {
  const [isExplained, setExplained] = useState(false);
  useLayer(isExplained, () => setExplained(false));
  const look = lookOf(session);
  const began = since(session);
  return (
    <>
      {isExplained && <Explain session={session} />}
      <div class="why" aria-label="Why it waits">
        <MarkOf look={look} />
        <span class="why-text">
          <span class={`tone-${look.tone}`}>
            <Exact text={capital(session.display_reason)} isProse isOneLine />
          </span>
          {details(session).map((text) => (
            <span key={text}>
              {' · '}
              <Exact text={text} isProse isOneLine />
            </span>
          ))}
          {began && (
            <span>
              {' '}
              · <Time at={began} suffix=" ago" />
            </span>
          )}
        </span>
        {isCut(session) && <button onClick={() => void resume(session.id)}>Run it again</button>}
        {session.retryable && !session.reopenable && <button onClick={() => void retry(session.id)}>Try again</button>}
        {session.reopenable && <button onClick={() => void reopen(session.id)}>Reopen</button>}
        <button
          class="quiet"
          aria-expanded={isExplained}
          title="What is this waiting for?"
          onClick={() => setExplained(!isExplained)}
        >
          {isExplained ? 'Close' : 'Explain'}
        </button>
      </div>
    </>
  );
}
