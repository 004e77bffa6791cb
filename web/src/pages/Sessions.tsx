// The list of sessions: tabs with live counts, filters in the URL, everything by keyboard.
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { plural } from '../format';
import { Copy } from '../parts/Copy';
import { Filters as FilterBar } from '../parts/Filters';
import { type Held, useHeld } from '../parts/held';
import { useKeys } from '../parts/keys';
import { useLayer } from '../parts/layers';
import { Peek } from '../parts/Peek';
import { SessionRow } from '../parts/SessionRow';
import { Empty, Failed, Waiting } from '../parts/States';
import { adjust, go, linkTo } from '../state/navigate';
import { filterKey } from '../state/filter';
import { type Filters, NO_FILTERS, type Place, sessionPlace, sessionsPlace } from '../state/place';
import { archive, tryDemo } from '../state/session';
import { countOf, loadList, loadMore, showList } from '../state/sessions';
import { dispatch, getState, useStore } from '../state/store';
import { TABS } from '../status';
import type { Ask } from '../types';
import { askKey } from '../state/asklist';

type SessionsPlace = Place & { page: 'sessions' };

function Tabs({ filters }: { filters: Filters }) {
  const sessions = useStore((state) => state.sessions);
  const known = useStore((state) => state.known);
  return (
    <div class="tabs" role="tablist" aria-label="Status">
      {TABS.map((tab) => {
        const counted = tab.isCounted && tab.display ? countOf(sessions, known, tab.display) : null;
        const isHere = filters.tab === tab.name && !filters.archived;
        return (
          <a
            key={tab.name}
            role="tab"
            aria-selected={isHere}
            {...linkTo(sessionsPlace({ ...filters, tab: tab.name, archived: false }))}
          >
            {tab.word}
            {counted !== null && counted.count > 0 && (
              <span class="count" data-tab={tab.name}>
                {counted.count}
                {counted.isMore ? '+' : ''}
              </span>
            )}
          </a>
        );
      })}
      {filters.archived && (
        <a role="tab" aria-selected="true" {...linkTo(sessionsPlace(filters))}>
          Archived
        </a>
      )}
    </div>
  );
}

const FIRST_COMMAND = 'sojourn sessions create --agent demo --prompt "Hello"';

function Nothing({ filters }: { filters: Filters }) {
  const isFiltered = filterKey(filters) !== filterKey(NO_FILTERS);
  if (isFiltered) {
    return (
      <Empty title="No session matches" text="Nothing has this status and these filters at the moment.">
        <button onClick={() => go(sessionsPlace())}>Show all sessions</button>
      </Empty>
    );
  }
  return (
    <Empty title="No sessions yet" text="Agents and people make them through the API, the command line, or here.">
      <div class="command">
        <code>{FIRST_COMMAND}</code>
        <Copy text={FIRST_COMMAND} />
      </div>
      <button class="primary" onClick={() => void tryDemo()}>
        Talk to the demo agent
      </button>{' '}
      <button onClick={() => dispatch({ type: 'dialog', dialog: { kind: 'new' } })}>
        New session <kbd>c</kbd>
      </button>
    </Empty>
  );
}

function Selection({ selected, isArchived }: { selected: string[]; isArchived: boolean }) {
  if (selected.length === 0) return null;
  return (
    <div class="selection" role="toolbar" aria-label="Selected sessions">
      <span>{selected.length} selected</span>
      <button class="quiet" onClick={() => void archive(selected, !isArchived)}>
        {isArchived ? 'Bring back' : 'Archive'} <kbd>e</kbd>
      </button>
      <button
        class="quiet danger"
        onClick={() => dispatch({ type: 'dialog', dialog: { kind: 'delete', ids: selected } })}
      >
        Delete
      </button>
      <button class="quiet" onClick={() => dispatch({ type: 'selected', ids: [] })}>
        Clear <kbd>esc</kbd>
      </button>
    </div>
  );
}

function toggle(id: string): void {
  const { selected } = getState();
  const ids = selected.includes(id) ? selected.filter((one) => one !== id) : [...selected, id];
  dispatch({ type: 'selected', ids });
}

/** Row after or before the cursor; the first when there is none. */
function step(ids: string[], cursor: string, by: number): string {
  const at = ids.indexOf(cursor);
  return ids[at < 0 ? 0 : Math.max(0, Math.min(ids.length - 1, at + by))] ?? '';
}

function useListKeys(place: SessionsPlace, ids: string[], onFilter: () => void): void {
  const { cursor } = place;
  const move = (by: number): void => {
    const next = step(ids, cursor, by);
    adjust({ ...place, cursor: next });
    const row = document.querySelector(`[data-id="${CSS.escape(next)}"]`);
    row?.scrollIntoView({ block: 'nearest' });
    row?.querySelector<HTMLElement>('.row-link')?.focus({ preventScroll: true });
    if (ids.indexOf(next) > ids.length - 10) void loadMore();
  };
  const targets = (): string[] => {
    const { selected } = getState();
    return selected.length ? selected : cursor ? [cursor] : [];
  };
  const archiveAndMove = (gone: string[]): void => {
    const rest = ids.slice(ids.indexOf(cursor) + 1).find((id) => !gone.includes(id));
    if (gone.includes(cursor)) adjust({ ...place, cursor: rest ?? '' });
    void archive(gone, !place.filters.archived);
  };
  // What is decided is shown first; beside the list the card has these keys.
  const review = (): void => {
    if (getState().asks.items.some((one) => one.session_id === cursor)) adjust({ ...place, peek: true });
  };
  useKeys(!place.peek, { a: review, d: review });
  useLayer(getState().selected.length > 0, () => dispatch({ type: 'selected', ids: [] }));
  useKeys(true, {
    j: () => move(1),
    k: () => move(-1),
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    Enter: () => cursor && go(sessionPlace(cursor)),
    x: () => cursor && toggle(cursor),
    e: () => targets().length && archiveAndMove(targets()),
    p: () => adjust({ ...place, cursor: cursor || (ids[0] ?? ''), peek: !place.peek }),
    f: onFilter,
    '/': onFilter,
    Escape: () => adjust({ ...place, cursor: '' }),
  });
}

/** One of each session; what was decided here stays until the list moves again. */
function askRows({ rows }: Held<Ask>): Map<string, Held<Ask>['rows'][number]> {
  return new Map([...rows].reverse().map((row) => [row.item.session_id, row]));
}

const hold = (isHeld: boolean): void => dispatch({ type: 'list held', isHeld });

function Rows({ place }: { place: SessionsPlace }) {
  const list = useStore((state) => state.list);
  const sessions = useStore((state) => state.sessions);
  const selected = useStore((state) => state.selected);
  const held = useHeld(
    useStore((state) => state.asks.items),
    askKey,
    hold,
  );
  const asks = askRows(held);
  const end = useRef<HTMLLIElement>(null);
  const latest = useRef(place);
  latest.current = place;
  const onPoint = useCallback((id: string) => adjust({ ...latest.current, cursor: id }), []);
  useEffect(() => document.querySelector('.row.is-cursor')?.scrollIntoView({ block: 'center' }), []);
  useEffect(() => {
    if (!end.current) return;
    const observer = new IntersectionObserver(
      (entries) => entries.some((entry) => entry.isIntersecting) && void loadMore(),
      {
        rootMargin: '400px',
      },
    );
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [list.nextCursor]);
  return (
    <div class="list-box" {...held.holding}>
      {list.waiting.length > 0 && (
        <div class="new-rows">
          <button onClick={() => dispatch({ type: 'list released' })}>{list.waiting.length} new</button>
        </div>
      )}
      <ul class="list" aria-label="Sessions">
        {list.ids.map((id) => {
          const session = sessions[id];
          return (
            session && (
              <SessionRow
                key={id}
                session={session}
                ask={asks.get(id)?.item}
                isDecided={asks.get(id)?.isGone ?? false}
                peek={{ ...place, cursor: id, peek: true }}
                isCursor={place.cursor === id}
                isSelected={selected.includes(id)}
                isLeaving={list.leaving.includes(id)}
                onPoint={onPoint}
                onSelect={toggle}
              />
            )
          );
        })}
        {list.nextCursor && (
          <li class="list-end" ref={end}>
            {list.problem ? (
              <>
                {list.problem.message} <button onClick={() => void loadMore()}>Try again</button>
              </>
            ) : (
              'loading more…'
            )}
          </li>
        )}
      </ul>
      {!list.nextCursor && list.ids.length > 20 && <div class="list-end">{plural(list.ids.length, 'session')}</div>}
    </div>
  );
}

export function Sessions({ place }: { place: SessionsPlace }) {
  const { filters } = place;
  const key = filterKey(filters);
  const list = useStore((state) => state.list);
  const selected = useStore((state) => state.selected);
  const asks = useStore((state) => state.asks.items);
  const asked = useMemo(() => asks.filter((ask) => ask.session_id === place.cursor), [asks, place.cursor]);
  const [isFiltering, setFiltering] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const stable = useMemo(() => filters, [key]);
  useEffect(() => {
    showList(stable);
    return () => dispatch({ type: 'list held', isHeld: false });
  }, [stable]);
  const onFilter = (): void => {
    setFiltering(true);
    requestAnimationFrame(() => box.current?.querySelector<HTMLInputElement>('.filter-text')?.focus());
  };
  useListKeys(place, list.ids, onFilter);
  const isHere = list.filters !== null && filterKey(list.filters) === key;
  return (
    <div class={place.peek && place.cursor ? 'sessions has-peek' : 'sessions'} ref={box}>
      <section class="sessions-main" aria-label="Sessions">
        <h1 class="offscreen">Sessions</h1>
        <header class="bar">
          <Tabs filters={filters} />
          <FilterBar filters={filters} isOpen={isFiltering} onOpen={onFilter} />
          <button
            class="primary new-button"
            title="New session (c)"
            onClick={() => dispatch({ type: 'dialog', dialog: { kind: 'new' } })}
          >
            New
          </button>
        </header>
        <Selection selected={selected} isArchived={filters.archived} />
        {(!isHere || list.phase === 'loading') && <Waiting />}
        {isHere && list.phase === 'error' && (
          <Failed what="Couldn’t load sessions" problem={list.problem} again={() => void loadList(stable)} />
        )}
        {isHere && list.phase === 'ready' && list.ids.length + list.waiting.length === 0 && (
          <Nothing filters={filters} />
        )}
        {isHere && list.phase === 'ready' && <Rows place={place} />}
      </section>
      {place.peek && place.cursor && (
        <Peek id={place.cursor} asks={asked} onClose={() => adjust({ ...place, peek: false })} />
      )}
    </div>
  );
}
