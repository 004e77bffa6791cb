// One session: what it is, what was said, what it waits for, and how it was.
import { useEffect, useState } from 'preact/hooks';
import { cost, dollars, plural, titleOf, usdOf } from '../format';
import { AskCards } from '../parts/AskCards';
import { Composer } from '../parts/Composer';
import { Id } from '../parts/Copy';
import { Exact } from '../parts/Exact';
import { Files } from '../parts/Files';
import { Menu } from '../parts/Menu';
import { People } from '../parts/People';
import { Queue } from '../parts/Queue';
import { Raw } from '../parts/Raw';
import { Slider } from '../parts/Slider';
import { Empty, Failed, Waiting } from '../parts/States';
import { Status } from '../parts/Status';
import { Time } from '../parts/Time';
import { Timeline } from '../parts/Timeline';
import { Transcript } from '../parts/Transcript';
import { Tree } from '../parts/Tree';
import { Why } from '../parts/Why';
import { useKeys } from '../parts/keys';
import { useLayer } from '../parts/layers';
import { useTwice } from '../parts/twice';
import { agentOf, budgetOf } from '../state/agents';
import { adjust, go, linkTo } from '../state/navigate';
import type { Open } from '../state/open';
import { entityPlace, type Place, sessionPlace, sessionsPlace, taskPlace, type View } from '../state/place';
import { archive, closeSession, isForAgent, loadOlder, lookBack, openSession, retry, say } from '../state/session';
import { dispatch, getState, useStore } from '../state/store';
import { gist, transcript } from '../state/transcript';
import { hibernate, interrupt, isPaused, isRunning, setPaused, wake } from '../state/turn';
import { isEnded, lookOf, reasonBeside } from '../status';
import type { Agent, Session } from '../types';

type SessionPlace = Place & { page: 'session' };

const REASON = 200; // characters beside the state

const VIEWS: readonly { view: View; word: string }[] = [
  { view: 'transcript', word: 'transcript' },
  { view: 'files', word: 'files' },
  { view: 'tree', word: 'tree' },
  { view: 'time', word: 'time' },
  { view: 'people', word: 'people' },
  { view: 'raw', word: 'raw' },
];

/** The definition of the version the session was started with. */
function useDefinition(session: Session): Agent | null {
  const [agent, setAgent] = useState<Agent | null>(null);
  useEffect(() => {
    if (session.agent && session.agent_version > 0) void agentOf(session.agent, session.agent_version).then(setAgent);
  }, [session.agent, session.agent_version]);
  return agent;
}

function AgentName({ session, agent }: { session: Session; agent: Agent | null }) {
  if (!agent) return <>{session.agent}</>;
  return (
    <a {...linkTo({ page: 'agents', id: agent.id, version: agent.version })}>
      {agent.id}
      {agent.model && ` (${agent.model})`}
    </a>
  );
}

/** What was spent, and of how much. */
function Budget({ session, most }: { session: Session; most: number }) {
  const spent = usdOf(session.usage) ?? 0;
  const tone = spent >= most ? 'tone-red' : spent >= 0.8 * most ? 'tone-amber' : '';
  return (
    <span class={tone} title="Spent, and the budget of the session">
      {dollars(spent)} of {dollars(most)}
    </span>
  );
}

function Facts({ session }: { session: Session }) {
  const agent = useDefinition(session);
  const most = budgetOf(agent, session);
  const branch = session.details?.['branch_name'];
  const facts = [
    session.agent ? <AgentName session={session} agent={agent} /> : session.type,
    session.workspace,
    session.runtime !== 'none' && <span class="sandbox">sandbox {session.runtime}</span>,
    typeof branch === 'string' ? branch : null,
    <>
      started <Time at={session.started_at ?? session.created_at} suffix=" ago" />
    </>,
    session.turn_count > 0 && plural(session.turn_count, 'turn'),
    session.message_count > 0 && plural(session.message_count, 'message'),
    session.tool_call_count > 0 && plural(session.tool_call_count, 'tool call'),
    most === null ? cost(session) : <Budget session={session} most={most} />,
  ].filter(Boolean);
  return (
    <div class="facts">
      {facts.map((fact, index) => (
        <span key={index}>{fact}</span>
      ))}
      {session.retry_of && (
        <a {...linkTo(sessionPlace(session.retry_of))}>attempt {session.attempt}, see the one before</a>
      )}
      {session.parent_id && <a {...linkTo(sessionPlace(session.parent_id))}>part of another session</a>}
      {session.task_id && <a {...linkTo(taskPlace(session.task_id))}>task {session.task_id}</a>}
      {session.entity_id && <a {...linkTo(entityPlace(session.entity_id))}>about {session.entity_id}</a>}
      <Id value={session.id} />
    </div>
  );
}

function canPause(session: Session): boolean {
  return session.type === 'agent' && !isEnded(session.status);
}

function Actions({ session, isSure }: { session: Session; isSure: boolean }) {
  const isArchived = session.archived_at !== null;
  return (
    <div class="actions">
      {isRunning(session) && (
        <button
          class={isSure ? 'interrupt is-sure' : 'interrupt'}
          title="End the running turn (Esc in the message, or twice)"
          onClick={() => void interrupt(session.id)}
        >
          {isSure ? (
            <span role="status">
              Press <kbd>esc</kbd> again to interrupt
            </span>
          ) : (
            <>
              Interrupt <kbd>esc</kbd>
            </>
          )}
        </button>
      )}
      {canPause(session) && (
        <button
          class="pause"
          aria-pressed={isPaused(session)}
          title={
            isPaused(session)
              ? 'Unpause and dispatch queued messages (p)'
              : 'Pause: the running turn finishes, messages queue (p)'
          }
          onClick={() => void setPaused(session.id, !isPaused(session))}
        >
          {isPaused(session) ? 'Go on' : 'Pause'} <kbd>p</kbd>
        </button>
      )}
      <button class="archive" onClick={() => void archive([session.id], !isArchived)}>
        {isArchived ? 'Bring back' : 'Archive'}
      </button>
      <Menu label="⋯" title="More">
        <button class="on-phone" onClick={() => void archive([session.id], !isArchived)}>
          {isArchived ? 'Bring back' : 'Archive'}
        </button>
        <button onClick={() => dispatch({ type: 'dialog', dialog: { kind: 'rename', id: session.id } })}>Rename</button>
        <button onClick={() => dispatch({ type: 'dialog', dialog: { kind: 'export', id: session.id } })}>
          Export as a workflow…
        </button>
        {session.runtime === 'running' && (
          <button onClick={() => void hibernate(session.id)}>Put its sandbox to sleep</button>
        )}
        {session.runtime === 'hibernated' && <button onClick={() => void wake(session.id)}>Wake its sandbox</button>}
        {!isEnded(session.status) && session.type === 'agent' && (
          <button class="danger" onClick={() => dispatch({ type: 'dialog', dialog: { kind: 'stop', id: session.id } })}>
            Stop the session…
          </button>
        )}
        {session.retryable && <button onClick={() => void retry(session.id)}>Try again as a new session</button>}
        <button
          class="danger"
          onClick={() => dispatch({ type: 'dialog', dialog: { kind: 'delete', ids: [session.id] } })}
        >
          Delete…
        </button>
      </Menu>
    </div>
  );
}

/** What a session does right now, or needs, as far as its log tells. */
function doing(session: Session, open: Open): string {
  const ask = open.past ? undefined : open.asks.find((one) => one.session_id === session.id);
  if (ask) return `asks: ${ask.text}`;
  if (lookOf(session).word !== 'Active' || open.past) return reasonBeside(session);
  const live = open.partials.at(-1);
  if (live)
    return {
      text: 'writing',
      reasoning: 'thinking',
      tool_input: 'preparing a tool call',
      tool_output: 'running a tool',
    }[live.kind];
  const last = transcript(open.events.slice(-20)).findLast((item) => item.kind !== 'line' && item.kind !== 'ask');
  const isRunning = last?.kind === 'tool' && last.tool.state === 'running';
  return isRunning ? `${last.tool.name} ${gist(last.tool.input)}` : reasonBeside(session);
}

interface HeadProps {
  session: Session;
  reason: string;
  isPast: boolean;
  isSure: boolean; // that the turn is interrupted with the next press
}

function Head({ session, reason, isPast, isSure }: HeadProps) {
  return (
    <header class="head">
      <div class="head-first">
        <a class="back" aria-label="Back to sessions" {...linkTo(getState().lastList)}>
          ‹
        </a>
        <h1
          dir="auto"
          title={titleOf(session)}
          onDblClick={() => dispatch({ type: 'dialog', dialog: { kind: 'rename', id: session.id } })}
        >
          {titleOf(session)}
        </h1>
        <Status session={session} />
        {reason && (
          <span class="reason">
            <Exact text={reason} isProse isOneLine most={REASON} canOpen={false} />
          </span>
        )}
        {session.archived_at && <span class="chip">archived</span>}
        {!isPast && <Actions session={session} isSure={isSure} />}
      </div>
      <Facts session={session} />
    </header>
  );
}

function ViewTabs({ place }: { place: SessionPlace }) {
  return (
    <div class="tabs view-tabs" role="tablist" aria-label="View">
      {VIEWS.map(({ view, word }) => (
        <button
          key={view}
          role="tab"
          class={`view-${view}`}
          aria-selected={place.view === view}
          onClick={() => adjust({ ...place, view: place.view === view ? 'transcript' : view })}
        >
          {word}
        </button>
      ))}
    </div>
  );
}

function Side({ place, open, session }: { place: SessionPlace; open: Open; session: Session }) {
  const events = open.past?.events ?? open.events;
  switch (place.view) {
    case 'files':
      return <Files session={session} events={events} />;
    case 'tree':
      return <Tree session={session} />;
    case 'raw':
      return (
        <Raw
          events={events}
          session={session}
          hasOlder={open.hasOlder && !open.past}
          onOlder={() => void loadOlder()}
        />
      );
    case 'people':
      return <People session={session} />;
    case 'time':
      return <Timeline session={session} until={place.at} onPick={(at) => adjust({ ...place, at })} />;
    case 'transcript':
      return null;
  }
}

function Body({ place, open, session }: { place: SessionPlace; open: Open; session: Session }) {
  const { past } = open;
  return (
    <div class={place.view === 'transcript' ? 'body' : 'body has-side'}>
      <section class="talk" aria-label="Transcript">
        {past?.phase === 'error' && (
          <Failed
            what="Couldn’t load that point in the log"
            problem={past.problem}
            again={() => lookBack(open.id, past.at)}
          />
        )}
        <Transcript
          events={past ? past.events : open.events}
          partials={past ? [] : open.partials}
          sending={past ? [] : open.sending}
          hasOlder={!past && open.hasOlder}
          onOlder={() => void loadOlder()}
          {...(!past && { asked: open.asks })}
          onAgain={(message) => void say(open.id, message.text, message)}
          onDrop={(message) => dispatch({ type: 'open dropped', id: open.id, key: message.key })}
        >
          {!past && <AskCards id={open.id} asks={open.asks} />}
        </Transcript>
        {!past && <Why session={session} />}
        {!past && <Queue id={open.id} prompts={open.queue} />}
        <Composer
          id={open.id}
          isOff={Boolean(past)}
          hint={past ? 'This is how it was. Go back to now to write.' : 'Message…'}
          mode={isForAgent(open.id) ? session.queue_mode : null}
          onInterrupt={isRunning(session) ? () => void interrupt(open.id) : null}
          onSend={(text, mode, files) => void say(open.id, text, { mode, files })}
        />
      </section>
      {place.view !== 'transcript' && (
        <section class="side-view" aria-label={place.view}>
          <Side place={place} open={open} session={session} />
        </section>
      )}
    </div>
  );
}

export function SessionPage({ place }: { place: SessionPlace }) {
  const open = useStore((state) => state.open);
  const current = useStore((state) => state.sessions[place.id]);
  const isThere = open?.id === place.id;
  const isReady = isThere && open.phase === 'ready';
  useEffect(() => {
    void openSession(place.id);
    return closeSession;
  }, [place.id]);
  useEffect(() => {
    if (isReady) lookBack(place.id, place.at);
  }, [isReady, place.id, place.at]);
  const step = (by: number): void => {
    const at = VIEWS.findIndex(({ view }) => view === place.view) + by + VIEWS.length;
    adjust({ ...place, view: VIEWS[at % VIEWS.length]?.view ?? 'transcript' });
  };
  useLayer(place.view !== 'transcript', () => adjust({ ...place, view: 'transcript' }));
  useLayer(Boolean(place.at), () => adjust({ ...place, at: null }));
  const sure = useTwice(() => void interrupt(place.id));
  useKeys(true, {
    Escape: (event) => {
      if (event.repeat) return;
      if (current && isRunning(current)) sure.press();
      else go(getState().lastList);
    },
    v: () => step(1),
    V: () => step(-1),
    p: () => {
      if (current && canPause(current)) void setPaused(place.id, !isPaused(current));
    },
  });
  if (isThere && open.phase === 'gone') {
    return (
      <Empty title="This session is not here" text="It was deleted, or you may not see it.">
        <button onClick={() => go(sessionsPlace())}>Go to sessions</button>
      </Empty>
    );
  }
  if (isThere && open.phase === 'error') {
    return <Failed what="Couldn’t load the session" problem={open.problem} again={() => void openSession(place.id)} />;
  }
  if (!isReady || !current) return <Waiting />;
  const session = open.past?.session ?? current;
  return (
    <div class="session">
      <Head session={session} reason={doing(session, open)} isPast={open.past !== null} isSure={sure.isAsked} />
      <div class="bar">
        <ViewTabs place={place} />
        {open.stream === 'reconnecting' && <span class="stream-state tone-amber">reconnecting…</span>}
        <Slider
          place={place}
          last={Math.max(current.last_sequence, open.events.at(-1)?.sequence ?? 0)}
          events={open.past?.events ?? open.events}
        />
      </div>
      <Body place={place} open={open} session={session} />
    </div>
  );
}
