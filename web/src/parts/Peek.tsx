// The last messages of a session beside the list, and what it asks.
import { useEffect, useState } from 'preact/hooks';
import { api, type Problem } from '../api';
import { titleOf } from '../format';
import { linkTo } from '../state/navigate';
import { sessionPlace } from '../state/place';
import { useStore } from '../state/store';
import { reasonBeside } from '../status';
import type { Ask, SessionEvent } from '../types';
import { AskCards } from './AskCards';
import { Exact } from './Exact';
import { useLayer } from './layers';
import { Failed, Waiting } from './States';
import { Status } from './Status';
import { Transcript } from './Transcript';

const SHOWN = 30;

interface Loaded {
  id: string;
  events: SessionEvent[] | null;
  problem: Problem | null;
}

/** Asked for again whenever the firehose has shown that the session went on. */
function useEvents(id: string, sequence: number | undefined): { loaded: Loaded; again: () => void } {
  const [loaded, setLoaded] = useState<Loaded>({ id, events: null, problem: null });
  const [round, setRound] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    api.events(id, { order: 'newest', limit: SHOWN }, stop.signal).then(
      (page) => setLoaded({ id, events: page.events.reverse(), problem: null }),
      (problem: Problem) => problem.name === 'AbortError' || setLoaded({ id, events: null, problem }),
    );
    return () => stop.abort();
  }, [id, sequence, round]);
  return { loaded: loaded.id === id ? loaded : { id, events: null, problem: null }, again: () => setRound(round + 1) };
}

const NONE: Ask[] = [];

interface Props {
  id: string;
  /** Decided here. */
  asks?: Ask[];
  onClose?: () => void;
}

export function Peek({ id, asks = NONE, onClose }: Props) {
  const session = useStore((state) => state.sessions[id]);
  const { loaded, again } = useEvents(id, session?.last_sequence);
  useLayer(onClose !== undefined, () => onClose?.());
  return (
    <aside class="peek" aria-label="Preview">
      <header class="peek-head">
        <a class="peek-title" {...linkTo(sessionPlace(id))}>
          {session ? titleOf(session) : id}
        </a>
        {onClose && (
          <button class="quiet" aria-label="Close preview" title="Close (p)" onClick={onClose}>
            ✕
          </button>
        )}
        {session && (
          <div class="peek-status">
            <Status session={session} />{' '}
            <span class="muted">
              <Exact text={session.status_reason ?? reasonBeside(session)} isProse isOneLine />
            </span>
          </div>
        )}
      </header>
      {loaded.problem && <Failed what="Couldn’t load messages" problem={loaded.problem} again={again} />}
      {!loaded.events && !loaded.problem && <Waiting />}
      {loaded.events && (
        <Transcript key={id} events={loaded.events} asked={asks}>
          <AskCards id={id} asks={asks} />
        </Transcript>
      )}
    </aside>
  );
}
