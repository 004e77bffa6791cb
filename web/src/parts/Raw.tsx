// The log as it is.
import { useState } from 'preact/hooks';
import { clock, exact, pretty } from '../format';
import type { Session, SessionEvent } from '../types';
import { Copy } from './Copy';
import { Code } from './Code';
import { memo } from './memo';

const Row = memo(({ event }: { event: SessionEvent }) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <li class="raw-row">
      <button class="raw-head" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span class="raw-seq">{event.sequence}</span>
        <span class="raw-type">{event.type}</span>
        <time title={exact(event.created_at)}>{clock(event.created_at)}</time>
      </button>
      {isOpen && <Code text={pretty(event)} name={`event ${event.sequence}`} language="json" />}
    </li>
  );
});

interface Props {
  events: SessionEvent[];
  session: Session;
  hasOlder: boolean;
  onOlder: () => void;
}

export function Raw({ events, session, hasOlder, onOlder }: Props) {
  return (
    <>
      <div class="side-tools">
        <Copy label="Copy events" text={() => pretty(events)} />
        <Copy label="Copy session" text={() => pretty(session)} />
      </div>
      <ul class="raw">
        {[...events].reverse().map((event) => (
          <Row key={event.sequence} event={event} />
        ))}
      </ul>
      {hasOlder && (
        <button class="quiet more" onClick={onOlder}>
          show earlier events
        </button>
      )}
    </>
  );
}
