// Where the time went: states of the session and its tool calls as bars over one axis.
import { useEffect, useState } from 'preact/hooks';
import { api, type Problem } from '../api';
import { clock, duration, exact } from '../format';
import { escaped } from '../state/exact';
import { type Span, spans } from '../state/spans';
import type { Session, SessionEvent } from '../types';
import { Characters } from './Exact';
import { Empty, Failed, Waiting } from './States';

const TYPES = 'session.created,session.status_change,agent.tool_call,agent.tool_result,tool.*';

interface Props {
  session: Session;
  until: number | null;
  onPick: (sequence: number) => void;
}

function useEvents(session: Session) {
  const [events, setEvents] = useState<SessionEvent[] | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [round, setRound] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    api.events(session.id, { types: TYPES, order: 'newest', limit: 1000 }, stop.signal).then(
      (page) => setEvents(page.events.reverse()),
      (error: Problem) => error.name === 'AbortError' || setProblem(error),
    );
    return () => stop.abort();
  }, [session.id, session.last_sequence, round]);
  return { events, problem, again: () => (setProblem(null), setRound(round + 1)) };
}

function Bar({ span, from, to, onPick }: { span: Span; from: number; to: number; onPick: (sequence: number) => void }) {
  const whole = Math.max(to - from, 1);
  const left = ((span.from - from) / whole) * 100;
  const width = Math.max(((span.to - span.from) / whole) * 100, 0.4);
  const began = exact(new Date(span.from).toISOString());
  const label = `${escaped(span.word, true)}, ${duration(span.to - span.from)}, from ${began}`;
  return (
    <li class={`span is-${span.kind}`}>
      <button title={label} onClick={() => onPick(span.sequence)}>
        <span class="span-word">
          <Characters text={span.word} isOneLine />
        </span>
        <span class="span-track">
          <span class={`span-bar tone-${span.tone}`} style={{ left: `${Math.min(left, 99.6)}%`, width: `${width}%` }} />
        </span>
        <span class="span-time">{duration(span.to - span.from)}</span>
      </button>
    </li>
  );
}

export function Timeline({ session, until, onPick }: Props) {
  const { events, problem, again } = useEvents(session);
  if (problem) return <Failed what="Couldn’t load the timeline" problem={problem} again={again} />;
  if (!events) return <Waiting />;
  const shown = until === null ? events : events.filter((event) => event.sequence <= until);
  const end = session.completed_at ?? (until === null ? new Date().toISOString() : (shown.at(-1)?.created_at ?? ''));
  const all = spans(shown, Date.parse(end));
  const first = all[0];
  if (!first) return <Empty title="Nothing has happened yet" />;
  const last = Math.max(...all.map((span) => span.to));
  return (
    <div class="side-pad">
      <div class="axis">
        <time title={exact(new Date(first.from).toISOString())}>{clock(new Date(first.from).toISOString())}</time>
        <span>{duration(last - first.from)}</span>
        <time title={exact(new Date(last).toISOString())}>{clock(new Date(last).toISOString())}</time>
      </div>
      <ul class="spans">
        {all.map((span) => (
          <Bar key={`${span.kind}${span.sequence}`} span={span} from={first.from} to={last} onPick={onPick} />
        ))}
      </ul>
    </div>
  );
}
