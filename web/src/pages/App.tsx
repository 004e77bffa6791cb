// Which page is shown.
import { useEffect } from 'preact/hooks';
import { titleOf } from '../format';
import { Dialogs } from '../parts/Dialogs';
import { Frame } from '../parts/Frame';
import { Notices } from '../parts/Notices';
import { Empty, Waiting } from '../parts/States';
import { useKeys } from '../parts/keys';
import { go } from '../state/navigate';
import { HOME, type Place } from '../state/place';
import { waitingWithoutAsk } from '../state/asklist';
import { dispatch, useStore } from '../state/store';
import { Agents } from './Agents';
import { Entities } from './Entities';
import { Home } from './Home';
import { Inbox } from './Inbox';
import { Join } from './Join';
import { Rules } from './Rules';
import { SessionPage } from './Session';
import { Sessions } from './Sessions';
import { Settings } from './Settings';
import { SignIn } from './SignIn';
import { Tasks } from './Tasks';
import { Today } from './Today';

const TITLES: Record<Place['page'], string> = {
  'sign-in': 'Sign in',
  home: 'Home',
  today: 'Today',
  sessions: 'Sessions',
  session: 'Session',
  inbox: 'Inbox',
  agents: 'Agents',
  tasks: 'Tasks',
  entities: 'Entities',
  rules: 'Rules',
  settings: 'Settings',
  join: 'Join',
  nowhere: 'Not found',
};

function Page({ place }: { place: Place }) {
  switch (place.page) {
    case 'home':
      return <Home />;
    case 'today':
      return <Today />;
    case 'sessions':
      return <Sessions place={place} />;
    case 'session':
      return <SessionPage key={place.id} place={place} />;
    case 'inbox':
      return <Inbox place={place} />;
    case 'agents':
      return <Agents place={place} />;
    case 'tasks':
      return <Tasks place={place} />;
    case 'entities':
      return <Entities place={place} />;
    case 'settings':
      return <Settings />;
    case 'rules':
      return <Rules />;
    case 'join':
      return <Join token={place.token} />;
    case 'sign-in':
    case 'nowhere':
      return (
        <Empty title="There is nothing here" text="The address may have a typing error.">
          <button onClick={() => go(HOME)}>Go home</button>
        </Empty>
      );
  }
}

/** The tab of the browser says how many wait, too. */
function useTitle(place: Place): void {
  const session = useStore((state) => (place.page === 'session' ? state.sessions[place.id] : undefined));
  const waiting = useStore((state) => state.asks.items.length + waitingWithoutAsk(state.sessions, state.asks).length);
  const title = session ? titleOf(session) : TITLES[place.page];
  useEffect(() => {
    document.title = `${waiting ? `(${waiting}) ` : ''}${title} · Sojourn`;
  }, [title, waiting]);
}

export function App() {
  const place = useStore((state) => state.place);
  const me = useStore((state) => state.me);
  const stream = useStore((state) => state.stream);
  const isSigningIn = place.page === 'sign-in' || me === null;
  useTitle(place);
  useKeys(!isSigningIn, {
    'mod+k': () => dispatch({ type: 'dialog', dialog: { kind: 'palette' } }),
    '?': () => dispatch({ type: 'dialog', dialog: { kind: 'keys' } }),
    c: () => dispatch({ type: 'dialog', dialog: { kind: 'new' } }),
  });
  if (isSigningIn) return <SignIn isHere={place.page === 'sign-in'} />;
  if (me === 'unknown') {
    return <Waiting text={stream === 'reconnecting' ? 'The server can’t be reached. Trying again…' : 'Loading…'} />;
  }
  return (
    <>
      <Frame place={place}>
        <Page place={place} />
      </Frame>
      <Dialogs />
      <Notices />
    </>
  );
}
