// The left column, which becomes a bar at the bottom of a phone.
import type { ComponentChildren } from 'preact';
import { waitingWithoutAsk } from '../state/asklist';
import { signOut } from '../state/account';
import { go, linkTo } from '../state/navigate';
import { entityPlace, HOME, type Place, sessionsPlace, taskPlace } from '../state/place';
import { countOf } from '../state/sessions';
import { dispatch, useStore } from '../state/store';
import { MOD } from './keys';
import { Menu } from './Menu';

const LINES = {
  connecting: { word: 'connecting…', tone: 'grey' },
  connected: { word: 'connected', tone: 'green' },
  reconnecting: { word: 'reconnecting…', tone: 'amber' },
} as const;

function Count({ display }: { display: string }) {
  const sessions = useStore((state) => state.sessions);
  const known = useStore((state) => state.known);
  const counted = countOf(sessions, known, display);
  if (!counted?.count) return null;
  return (
    <span class="count">
      {counted.count}
      {counted.isMore ? '+' : ''}
    </span>
  );
}

/** Everything in the inbox that waits: what is asked, and sessions that wait without asking. */
function Waiting() {
  const sessions = useStore((state) => state.sessions);
  const asks = useStore((state) => state.asks);
  const count = asks.items.length + waitingWithoutAsk(sessions, asks).length;
  if (!count) return null;
  return (
    <span class="count tone-orange">
      {count}
      {asks.isMore ? '+' : ''}
    </span>
  );
}

/** The truth about the connection: everything shown may be old while it is lost. */
export function Connection() {
  const stream = useStore((state) => state.stream);
  const line = LINES[stream];
  return (
    <span class={`connection tone-${line.tone}`} role="status" data-state={stream}>
      <svg class="mark" viewBox="0 0 12 12" aria-hidden="true">
        <circle
          cx="6"
          cy="6"
          r="3.5"
          fill={stream === 'connected' ? 'currentColor' : 'none'}
          stroke="currentColor"
          stroke-width="1.5"
        />
      </svg>
      {line.word}
    </span>
  );
}

function Me() {
  const me = useStore((state) => state.me);
  const users = useStore((state) => state.users);
  if (!me || me === 'unknown') return null;
  const user = me.user_id ? users[me.user_id] : undefined;
  return (
    <Menu
      label={
        <>
          <span class="me-name">{user?.name || user?.email || me.actor}</span>
          <span class="me-more">More</span>
        </>
      }
      class="me"
      isUp
    >
      <div class="menu-note">
        {user?.email ?? me.actor} · {me.role} of {me.tenant_id}
      </div>
      {PAGES.filter((page) => !page.isOnPhone).map(({ word, to }) => (
        <button key={word} class="on-phone" onClick={() => go(to)}>
          {word}
        </button>
      ))}
      <button class="on-phone" onClick={openPalette}>
        Search
      </button>
      <button onClick={() => go({ page: 'settings' })}>Settings</button>
      <button onClick={() => dispatch({ type: 'dialog', dialog: { kind: 'keys' } })}>Keys</button>
      <button onClick={() => void signOut()}>Sign out</button>
    </Menu>
  );
}

interface PageOf {
  word: string;
  to: Place;
  pages: readonly Place['page'][];
  isOnPhone: boolean; // the bar of a phone has room for three; the others are in the menu
  count?: () => preact.JSX.Element;
}

const PAGES: readonly PageOf[] = [
  { word: 'Home', to: HOME, pages: ['home'], isOnPhone: true },
  { word: 'Inbox', to: { page: 'inbox', cursor: '' }, pages: ['inbox'], isOnPhone: true, count: () => <Waiting /> },
  {
    word: 'Sessions',
    to: sessionsPlace(),
    pages: ['sessions', 'session'],
    isOnPhone: true,
    count: () => <Count display="active" />,
  },
  { word: 'Today', to: { page: 'today' }, pages: ['today'], isOnPhone: false },
  { word: 'Tasks', to: taskPlace(), pages: ['tasks'], isOnPhone: false },
  { word: 'Entities', to: entityPlace(), pages: ['entities'], isOnPhone: false },
  { word: 'Agents', to: { page: 'agents', id: '', version: null }, pages: ['agents'], isOnPhone: false },
  { word: 'Rules', to: { page: 'rules' }, pages: ['rules'], isOnPhone: false },
];

function PageLink({ page, place }: { page: PageOf; place: Place }) {
  return (
    <a
      {...linkTo(page.to)}
      class={page.isOnPhone ? 'page-link' : 'page-link not-on-phone'}
      aria-current={page.pages.includes(place.page) ? 'page' : undefined}
    >
      {page.word} {page.count?.()}
    </a>
  );
}

function openPalette(): void {
  dispatch({ type: 'dialog', dialog: { kind: 'palette' } });
}

export function Frame({ place, children }: { place: Place; children: ComponentChildren }) {
  const stream = useStore((state) => state.stream);
  return (
    <div class="frame">
      <nav class="side" aria-label="Pages">
        <div class="brand">Sojourn</div>
        <button class="search not-on-phone" onClick={openPalette}>
          <span class="search-word">Search</span>
          <kbd>{MOD}K</kbd>
        </button>
        {PAGES.map((page) => (
          <PageLink key={page.word} page={page} place={place} />
        ))}
        <div class="side-foot">
          <Connection />
          <Me />
        </div>
      </nav>
      <main class="page">
        {stream === 'reconnecting' && (
          <div class="banner" role="alert">
            The connection to the server is lost. What you see may be old; it will catch up by itself.
          </div>
        )}
        {children}
      </main>
    </div>
  );
}
