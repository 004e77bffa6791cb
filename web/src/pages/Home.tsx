// One glance: what needs you, what is happening, what happened.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { api, newKey, type Problem } from '../api';
import { dollars, plural, titleOf } from '../format';
import { useAgent } from '../parts/agent';
import { useDay, useWeek } from '../parts/day';
import { MOD, useKeys } from '../parts/keys';
import { useRows } from '../parts/rows';
import { Exact } from '../parts/Exact';
import { useHeld } from '../parts/held';
import { RowCall, RowDecision } from '../parts/RowDecision';
import { SecondLine } from '../parts/SessionRow';
import { Failed, Waiting } from '../parts/States';
import { MarkOf } from '../parts/Status';
import { Time } from '../parts/Time';
import { askKey, waitingWithoutAsk } from '../state/asklist';
import { type Day, greeting, isHappening, isOver } from '../state/day';
import { go, linkTo } from '../state/navigate';
import { type Place, sessionPlace, sessionsPlace } from '../state/place';
import { tryDemo } from '../state/session';
import { dispatch, useStore } from '../state/store';
import { lookOf, lookOfState } from '../status';
import type { Ask as AskOf, Session } from '../types';

const SHOWN = 8;
const RECENT = 5;

interface PartProps {
  word: string;
  count: number;
  waiting?: number; // new ones that are not shown yet
  isKept?: boolean; // rows are shown although nothing is counted any more
  all: Place;
  nothing: string;
  children: ComponentChildren;
}

function Part({ word, count, waiting = 0, isKept = false, all, nothing, children }: PartProps) {
  return (
    <section class="home-part" aria-label={word}>
      <h2 class="group">
        <a {...linkTo(all)}>
          {word} {count > 0 && <span class="count">{count}</span>}
          {waiting > 0 && <span class="muted"> {waiting} new</span>}
        </a>
      </h2>
      {count === 0 && !isKept ? <p class="muted home-nothing">{nothing}</p> : <ul>{children}</ul>}
      {count > SHOWN && (
        <a class="muted home-more" {...linkTo(all)}>
          {count - SHOWN} more
        </a>
      )}
    </section>
  );
}

export function SessionLine({ session }: { session: Session }) {
  return (
    <li class="home-row">
      <a {...linkTo(sessionPlace(session.id))}>
        <MarkOf look={lookOf(session)} />
        <span class="row-title" dir="auto">
          {titleOf(session)}
        </span>
        <Time at={session.last_active_at} />
        <SecondLine session={session} />
      </a>
    </li>
  );
}

function AskLine({ ask, isGone }: { ask: AskOf; isGone: boolean }) {
  const card: Place = { page: 'inbox', cursor: askKey(ask) };
  return (
    <li class={isGone ? 'home-row is-over' : 'home-row'} data-ask={ask.id}>
      <a {...linkTo(card)}>
        <MarkOf look={lookOfState('waiting_human')} />
        <span class="row-title" dir="auto">
          <Exact text={ask.text} isProse isOneLine most={200} canOpen={false} />
        </span>
        <Time at={ask.created_at} />
        <span class="row-second">
          {ask.tool && (
            <code>
              <Exact text={ask.tool} isOneLine canOpen={false} />
            </code>
          )}{' '}
          {ask.session_title ?? ask.session_id}
        </span>
        <RowCall ask={ask} />
      </a>
      {(isGone || (ask.kind === 'approval' && ask.tool)) && <RowDecision ask={ask} isGone={isGone} card={card} />}
    </li>
  );
}

function NeedsYou() {
  const asks = useStore((state) => state.asks);
  const sessions = useStore((state) => state.sessions);
  const silent = waitingWithoutAsk(sessions, asks);
  const { rows, waiting, holding } = useHeld(asks.items, askKey);
  const asked = rows.slice(0, SHOWN);
  const count = asks.items.length + silent.length;
  return (
    <div {...holding}>
      <Part
        word="Needs you"
        count={count}
        waiting={waiting}
        isKept={asked.length > 0}
        all={{ page: 'inbox', cursor: '' }}
        nothing="Nothing needs you."
      >
        {asked.map(({ item, isGone }) => (
          <AskLine key={askKey(item)} ask={item} isGone={isGone} />
        ))}
        {silent.slice(0, SHOWN - asked.length).map((session) => (
          <SessionLine key={session.id} session={session} />
        ))}
      </Part>
    </div>
  );
}

function useHappening(): Session[] {
  const sessions = useStore((state) => state.sessions);
  return Object.values(sessions)
    .filter((one) => isHappening(one) && !one.parent_id)
    .sort((a, b) => (a.last_active_at < b.last_active_at ? 1 : -1));
}

function Happening() {
  const active = useHappening();
  return (
    <Part
      word="Active"
      count={active.length}
      all={sessionsPlace({ tab: 'active' })}
      nothing="No agent is working. Press c to give one something to do."
    >
      {active.slice(0, SHOWN).map((session) => (
        <SessionLine key={session.id} session={session} />
      ))}
    </Part>
  );
}

function Happened({ day }: { day: Day }) {
  const over = day.sessions.filter(isOver);
  return (
    <Part word="Finished today" count={over.length} all={{ page: 'today' }} nothing="Nothing has finished today.">
      {over.slice(0, SHOWN).map((session) => (
        <SessionLine key={session.id} session={session} />
      ))}
    </Part>
  );
}

/** The last ones, whatever became of them: where one was. */
function Recent({ week }: { week: Day }) {
  const shown = week.sessions.slice(0, RECENT);
  return (
    <section class="home-part is-wide" aria-label="Recent">
      <h2 class="group">
        <a {...linkTo(sessionsPlace({}))}>Recent</a>
      </h2>
      {shown.length === 0 && <p class="muted home-nothing">Nothing happened this week.</p>}
      <ul>
        {shown.map((session) => (
          <SessionLine key={session.id} session={session} />
        ))}
      </ul>
    </section>
  );
}

/** The shortest way to work: say what, choose who. What was typed stays when it is refused. */
function Ask() {
  const { agents, agent, choose } = useAgent();
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<Problem | null>(null);
  const [key, setKey] = useState(newKey);
  const send = async (): Promise<void> => {
    if (!text.trim() || !agent) return;
    try {
      const session = await api.create({ type: 'agent', agent, prompt: text }, key);
      dispatch({ type: 'session', session });
      go(sessionPlace(session.id));
    } catch (error) {
      setProblem(error as Problem);
      setKey(newKey());
    }
  };
  return (
    <form
      class="home-ask"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <textarea
        rows={2}
        value={text}
        placeholder="What should the agent do?"
        aria-label="What should the agent do?"
        onInput={(event) => {
          setText(event.currentTarget.value);
          setKey(newKey());
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) void send();
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
      <select aria-label="Agent" value={agent} onChange={(event) => choose(event.currentTarget.value)}>
        {agents.map((one) => (
          <option key={one.id} value={one.id}>
            {one.name ?? one.id}
          </option>
        ))}
      </select>
      <button class="primary" disabled={!text.trim() || !agent} title={`Begin (${MOD}↵)`}>
        Begin
      </button>
      {problem && (
        <p class="problem-line" role="alert">
          {problem.message} What you typed is kept here.
        </p>
      )}
    </form>
  );
}

interface FiguresProps {
  day: Day;
  isMore: boolean;
  week?: string;
}

/** The day in one line; at home behind the week. */
export function Figures({ day, isMore, week = '' }: FiguresProps) {
  const running = useHappening().length;
  const said = [
    week,
    `${running} running now`,
    `${plural(day.sessions.length, 'session')}${isMore ? ' or more' : ''} today`,
    `${day.began} new`,
    `${day.completed} completed`,
    day.usd > 0 && dollars(day.usd),
  ].filter(Boolean);
  return (
    <p class="figures muted">
      {said.join(' · ')}
      {day.failed > 0 && <span class="tone-red"> · {day.failed} failed</span>}
    </p>
  );
}

/** Nothing was ever done here: the first thing to do. */
function First() {
  return (
    <div class="home-first">
      <p class="muted">Nothing happened yet. Give an agent something to do, above or in a terminal:</p>
      <div class="command">
        <code>sojourn chat demo</code>
      </div>
      <button class="primary" onClick={() => void tryDemo()}>
        Try the demo
      </button>{' '}
      <button onClick={() => dispatch({ type: 'dialog', dialog: { kind: 'new' } })}>New session</button>
    </div>
  );
}

export function Home() {
  const { day, isMore, problem, again } = useDay();
  const { day: week, isMore: isMoreWeek } = useWeek();
  const isEmpty = useStore((state) => Object.keys(state.sessions).length === 0);
  const asksPhase = useStore((state) => state.asks.phase);
  useRows('.home-row a');
  useKeys(true, { '/': () => document.querySelector<HTMLElement>('.home-ask textarea')?.focus() });
  if (problem && !day) return <Failed what="Couldn’t load the day" problem={problem} again={again} />;
  if (!day || !week || asksPhase === 'loading') return <Waiting />;
  const inWeek = `${plural(week.sessions.length, 'session')}${isMoreWeek ? ' or more' : ''} this week`;
  return (
    <div class="plain home">
      <header class="home-head">
        <h1>{greeting(new Date())}</h1>
        <Figures day={day} isMore={isMore} week={inWeek} />
      </header>
      <Ask />
      {isEmpty ? (
        <First />
      ) : (
        <div class="home-parts">
          <NeedsYou />
          <Happening />
          <Happened day={day} />
          <Recent week={week} />
        </div>
      )}
    </div>
  );
}
