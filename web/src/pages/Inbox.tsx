// What needs a person, and everything needed to decide.
import { useEffect } from 'preact/hooks';
import { plural, titleOf } from '../format';
import { useKeys } from '../parts/keys';
import { Peek } from '../parts/Peek';
import { SecondLine } from '../parts/SessionRow';
import { Empty, Waiting } from '../parts/States';
import { MarkOf } from '../parts/Status';
import { Time } from '../parts/Time';
import { Why } from '../parts/Why';
import { adjust, go } from '../state/navigate';
import { type Place, sessionPlace } from '../state/place';
import { archive } from '../state/session';
import { countOf } from '../state/sessions';
import { useStore } from '../state/store';
import { lookOf } from '../status';
import type { Session } from '../types';

const GROUPS = [
  { word: 'Needs you', display: 'blocked' },
  { word: 'Failed', display: 'failed' },
] as const;

function newestFirst(sessions: Session[]): Session[] {
  return sessions.sort((a, b) => (a.last_active_at < b.last_active_at ? 1 : -1));
}

function Item({ session, isCursor, onPick }: { session: Session; isCursor: boolean; onPick: () => void }) {
  return (
    <li class={isCursor ? 'inbox-item is-cursor' : 'inbox-item'} data-id={session.id}>
      <button onClick={onPick} onDblClick={() => go(sessionPlace(session.id))}>
        <MarkOf look={lookOf(session)} />
        <span class="row-title">{titleOf(session)}</span>
        <Time at={session.last_active_at} />
        <SecondLine session={session} />
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

export function Inbox({ place }: { place: Place & { page: 'inbox' } }) {
  const sessions = useStore((state) => state.sessions);
  const known = useStore((state) => state.known);
  const groups = GROUPS.map((group) => ({
    ...group,
    items: newestFirst(
      Object.values(sessions).filter((one) => one.display_status === group.display && !one.archived_at),
    ),
  }));
  const ids = groups.flatMap((group) => group.items.map((session) => session.id));
  const cursor = ids.includes(place.cursor) ? place.cursor : (ids[0] ?? '');
  const session = sessions[cursor];
  const move = (by: number): void => {
    const next = ids[Math.max(0, Math.min(ids.length - 1, ids.indexOf(cursor) + by))];
    if (next) adjust({ ...place, cursor: next });
  };
  useKeys(true, {
    j: () => move(1),
    k: () => move(-1),
    n: () => move(1),
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    Enter: () => cursor && go(sessionPlace(cursor)),
    e: () => cursor && void archive([cursor]),
  });
  useEffect(() => {
    document.querySelector('.inbox-item.is-cursor')?.scrollIntoView({ block: 'nearest' });
  }, [cursor]);
  if (!known['blocked'] || !known['failed']) return <Waiting />;
  if (!session) return <Nothing />;
  return (
    <div class="inbox">
      <section class="inbox-list" aria-label="Items">
        {groups.map(
          (group) =>
            group.items.length > 0 && (
              <div key={group.word}>
                <h2 class="group">
                  {group.word} <span class="count">{group.items.length}</span>
                </h2>
                <ul>
                  {group.items.map((one) => (
                    <Item
                      key={one.id}
                      session={one}
                      isCursor={one.id === cursor}
                      onPick={() => adjust({ ...place, cursor: one.id })}
                    />
                  ))}
                </ul>
              </div>
            ),
        )}
      </section>
      <section class="inbox-detail" aria-label="Item">
        <Peek id={cursor} />
        <div class="inbox-foot">
          <Why session={session} />
          <button class="primary" onClick={() => go(sessionPlace(cursor))}>
            Open <kbd>enter</kbd>
          </button>
          <button onClick={() => void archive([cursor])}>
            Archive <kbd>e</kbd>
          </button>
        </div>
      </section>
    </div>
  );
}
