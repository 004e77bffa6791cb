// What needs a person, and everything needed to decide.
import { useEffect, useRef } from 'preact/hooks';
import { plural, titleOf } from '../format';
import { AskCard } from '../parts/Ask';
import { Exact } from '../parts/Exact';
import { type Held, useHeld } from '../parts/held';
import { outcomeOf } from '../parts/outcome';
import { Outcome } from '../parts/RowDecision';
import { useKeys } from '../parts/keys';
import { Peek } from '../parts/Peek';
import { SecondLine } from '../parts/SessionRow';
import { Empty, Failed, Waiting } from '../parts/States';
import { MarkOf } from '../parts/Status';
import { Time } from '../parts/Time';
import { Why } from '../parts/Why';
import { askKey, waitingWithoutAsk } from '../state/asklist';
import { loadAsks } from '../state/asks';
import { adjust, go } from '../state/navigate';
import { type Place, sessionPlace } from '../state/place';
import { archive } from '../state/session';
import { countOf } from '../state/sessions';
import type { State } from '../state/state';
import { useStore } from '../state/store';
import { lookOf, lookOfState } from '../status';
import type { Ask, Session } from '../types';

type Item = { key: string; at: string } & ({ ask: Ask; isGone: boolean } | { session: Session });

interface Group {
  word: string;
  items: Item[];
}

const ofAsk = (ask: Ask, isGone = false): Item => ({
  key: askKey(ask),
  at: ask.answered_at ?? ask.created_at,
  ask,
  isGone,
});
const ofSession = (session: Session): Item => ({ key: session.id, at: session.last_active_at, session });

function newestFirst(items: Item[]): Item[] {
  return items.sort((a, b) => (a.at < b.at ? 1 : -1));
}

/** What is gone stays where it was as long as somebody is at it. */
function groupsOf(sessions: State['sessions'], asks: State['asks'], gone: Ask[]): Group[] {
  const kept = new Set(gone.map(askKey));
  const done = asks.done.filter((ask) => ask.state === 'answered' && !kept.has(askKey(ask)));
  const failed = Object.values(sessions).filter((one) => one.display_status === 'failed' && !one.archived_at);
  return [
    {
      word: 'Needs you',
      items: newestFirst([
        ...asks.items.map((ask) => ofAsk(ask)),
        ...gone.map((ask) => ofAsk(ask, true)),
        ...waitingWithoutAsk(sessions, asks).map(ofSession),
      ]),
    },
    { word: 'Failed', items: newestFirst(failed.map(ofSession)) },
    { word: 'Done', items: newestFirst(done.map((ask) => ofAsk(ask))) },
  ];
}

function AskRow({ ask, isGone }: { ask: Ask; isGone: boolean }) {
  const isPending = ask.state === 'pending' && !isGone;
  return (
    <>
      <MarkOf look={lookOfState(isPending ? 'waiting_human' : 'completed')} />
      <span class="row-title">
        <Exact text={ask.text} isProse isOneLine most={200} canOpen={false} />
      </span>
      <Time at={ask.answered_at ?? ask.created_at} />
      <span class="row-second">
        {isPending ? (
          ask.tool && (
            <code>
              <Exact text={ask.tool} isOneLine canOpen={false} />
            </code>
          )
        ) : isGone ? (
          <Outcome ask={ask} />
        ) : (
          outcomeOf(ask)
        )}
        {(!isPending || ask.tool) && ' · '}
        {ask.session_title ?? ask.session_id}
      </span>
    </>
  );
}

function SessionRow({ session }: { session: Session }) {
  return (
    <>
      <MarkOf look={lookOf(session)} />
      <span class="row-title">{titleOf(session)}</span>
      <Time at={session.last_active_at} />
      <SecondLine session={session} />
    </>
  );
}

const sessionOf = (item: Item): string => ('ask' in item ? item.ask.session_id : item.session.id);

function Row({ item, isCursor, onPick }: { item: Item; isCursor: boolean; onPick: () => void }) {
  return (
    <li class={isCursor ? 'inbox-item is-cursor' : 'inbox-item'} data-id={item.key}>
      <button onClick={onPick} onDblClick={() => go(sessionPlace(sessionOf(item)))}>
        {'ask' in item ? <AskRow ask={item.ask} isGone={item.isGone} /> : <SessionRow session={item.session} />}
      </button>
    </li>
  );
}

function Nothing() {
  const sessions = useStore((state) => state.sessions);
  const known = useStore((state) => state.known);
  const working = countOf(sessions, known, 'active')?.count ?? 0;
  const text =
    working === 0 ? 'No agent is working.' : `${plural(working, 'agent')} ${working === 1 ? 'is' : 'are'} working.`;
  return <Empty title="Nothing needs you" text={text} />;
}

interface DetailProps {
  item: Item;
  holding: Held<Ask>['holding'];
  onNext: () => void;
}

function Detail({ item, holding, onNext }: DetailProps) {
  const id = sessionOf(item);
  const isGone = 'ask' in item && item.isGone;
  return (
    <section class="inbox-detail" aria-label="Item" {...holding}>
      <Peek id={id} />
      {'ask' in item && item.ask.state === 'pending' && (
        <div class="inbox-ask">
          <AskCard
            key={item.key}
            ask={item.ask}
            hasKeys={!isGone}
            isGone={isGone}
            onDecided={(by) => by instanceof KeyboardEvent && onNext()}
          />
        </div>
      )}
      <div class="inbox-foot">
        {'session' in item && <Why session={item.session} />}
        {'ask' in item && item.ask.state !== 'pending' && (
          <span class="why">
            <Exact text={item.ask.text} isProse isOneLine most={200} canOpen={false} /> · {outcomeOf(item.ask)}
          </span>
        )}
        {isGone && (
          <button onClick={onNext}>
            Next <kbd>n</kbd>
          </button>
        )}
        <button class={'ask' in item ? '' : 'primary'} onClick={() => go(sessionPlace(id))}>
          Open <kbd>enter</kbd>
        </button>
        {'session' in item && (
          <button onClick={() => void archive([id])}>
            Archive <kbd>e</kbd>
          </button>
        )}
      </div>
    </section>
  );
}

function List({ groups, cursor, onPick }: { groups: Group[]; cursor: string; onPick: (key: string) => void }) {
  const shown = groups.filter((group) => group.items.length > 0);
  return (
    <section class="inbox-list" aria-label="Items">
      {shown.map((group) => (
        <div key={group.word}>
          <h2 class="group">
            {group.word} <span class="count">{group.items.length}</span>
          </h2>
          <ul>
            {group.items.map((item) => (
              <Row key={item.key} item={item} isCursor={item.key === cursor} onPick={() => onPick(item.key)} />
            ))}
          </ul>
        </div>
      ))}
    </section>
  );
}

export function Inbox({ place }: { place: Place & { page: 'inbox' } }) {
  const sessions = useStore((state) => state.sessions);
  const known = useStore((state) => state.known);
  const asks = useStore((state) => state.asks);
  const { rows, holding } = useHeld(asks.items, askKey);
  const gone = rows.filter((row) => row.isGone).map((row) => row.item);
  const groups = groupsOf(sessions, asks, gone);
  const items = groups.flatMap((group) => group.items);
  const chosen = items.find((one) => one.key === place.cursor);
  const item = chosen ?? items[0];
  const cursor = item?.key ?? '';
  const pick = (key: string): void => adjust({ ...place, cursor: key });
  const move = (by: number): void => {
    const next = items[Math.max(0, Math.min(items.length - 1, items.findIndex((one) => one.key === cursor) + by))];
    if (next) pick(next.key);
  };
  const next = (): void => {
    const at = items.findIndex((one) => one.key === cursor);
    const isOpen = (one: Item): boolean => !('ask' in one) || (one.ask.state === 'pending' && !one.isGone);
    const after = items.slice(at + 1).find(isOpen) ?? items.slice(0, Math.max(0, at)).find(isOpen);
    if (after) pick(after.key);
  };
  useKeys(true, {
    j: () => move(1),
    k: () => move(-1),
    n: () => next(),
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    Enter: () => item && go(sessionPlace(sessionOf(item))),
    ...(item && 'session' in item && { e: () => void archive([item.session.id]) }),
  });
  useEffect(() => {
    document.querySelector('.inbox-item.is-cursor')?.scrollIntoView({ block: 'nearest' });
  }, [cursor]);
  const isDecided = chosen && 'ask' in chosen && chosen.ask.state !== 'pending';
  const wasPending = useRef(false);
  useEffect(() => {
    // What is shown stays when something new comes above it: nobody decides what they have not read.
    if (isDecided && wasPending.current && item !== items[0]) pick(items[0]?.key ?? '');
    else if (!chosen && item) pick(item.key);
    wasPending.current = Boolean(item && !isDecided);
  });
  if (asks.phase === 'error') {
    return <Failed what="Couldn’t load the inbox" problem={asks.problem} again={() => void loadAsks()} />;
  }
  if (!known['blocked'] || !known['failed'] || asks.phase === 'loading') return <Waiting />;
  if (!item) return <Nothing />;
  return (
    <div class="inbox">
      <h1 class="offscreen">Inbox</h1>
      <List groups={groups} cursor={cursor} onPick={pick} />
      <Detail item={item} holding={holding} onNext={next} />
    </div>
  );
}
