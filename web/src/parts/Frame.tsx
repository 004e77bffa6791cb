// The left column, which becomes a bar at the bottom of a phone.
import type { ComponentChildren } from 'preact';
import { waitingWithoutAsk } from '../state/asklist';
import { signOut } from '../state/account';
import { go, linkTo } from '../state/navigate';
import { type Place, sessionsPlace } from '../state/place';
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
    <Menu label={user?.name || user?.email || me.actor} class="me" isUp>
      <div class="menu-note">
        {user?.email ?? me.actor} · {me.role} of {me.tenant_id}
      </div>
      <button class="on-phone" onClick={() => go(AGENTS)}>
        Agents
      </button>
      <button class="on-phone" onClick={() => go(RULES)}>
        Rules
      </button>
      <button onClick={() => dispatch({ type: 'dialog', dialog: { kind: 'keys' } })}>Keys</button>
      <button onClick={() => void signOut()}>Sign out</button>
    </Menu>
  );
}

const AGENTS: Place = { page: 'agents', id: '', version: null };
const RULES: Place = { page: 'rules' };

/** Too many for the bar of a phone; there they are in the menu. */
function PageLink({ word, to, isHere }: { word: string; to: Place; isHere: boolean }) {
  return (
    <a {...linkTo(to)} class="page-link not-on-phone" aria-current={isHere ? 'page' : undefined}>
      {word}
    </a>
  );
}

function openPalette(): void {
  dispatch({ type: 'dialog', dialog: { kind: 'palette' } });
}

export function Frame({ place, children }: { place: Place; children: ComponentChildren }) {
  const isSessions = place.page === 'sessions' || place.page === 'session';
  const stream = useStore((state) => state.stream);
  return (
    <div class="frame">
      <nav class="side" aria-label="Pages">
        <div class="brand">Sojourn</div>
        <button class="search" onClick={openPalette}>
          <span class="search-word">Search</span>
          <kbd>{MOD}K</kbd>
        </button>
        <a
          {...linkTo({ page: 'inbox', cursor: '' })}
          class="page-link"
          aria-current={place.page === 'inbox' ? 'page' : undefined}
        >
          Inbox <Waiting />
        </a>
        <a {...linkTo(sessionsPlace())} class="page-link" aria-current={isSessions ? 'page' : undefined}>
          Sessions <Count display="active" />
        </a>
        <PageLink word="Agents" to={AGENTS} isHere={place.page === 'agents'} />
        <PageLink word="Rules" to={RULES} isHere={place.page === 'rules'} />
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
