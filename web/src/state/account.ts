// Who we are.
import { api, onSignedOut, type Problem } from '../api';
import { go } from './navigate';
import { HOME, readPlace, writePlace } from './place';
import { closeSession } from './session';
import type { State } from './state';
import { startLive, stopLive } from './sessions';
import { dispatch, getState } from './store';

const RETURN = 'sojourn.return';
const EMAIL = 'sojourn.email';

/** The name under which this browser signed in last. */
export function lastEmail(): string {
  return localStorage.getItem(EMAIL) ?? '';
}

/** The signed-in user's own email, once the list of users is here. */
export function ownEmail({ me, users }: State): string {
  return (me && me !== 'unknown' && me.user_id && users[me.user_id]?.email) || '';
}

async function arrived(): Promise<void> {
  dispatch({ type: 'me', me: await api.me() });
  startLive();
  api.users().then(
    ({ users }) => {
      dispatch({ type: 'users', users });
      const email = ownEmail(getState());
      if (email) localStorage.setItem(EMAIL, email);
    },
    () => {},
  );
}

function left(): void {
  if (getState().me === null) return;
  stopLive();
  closeSession();
  const { place } = getState();
  if (place.page !== 'sign-in') sessionStorage.setItem(RETURN, writePlace(place));
  dispatch({ type: 'me', me: null });
}

/** At the start: is there a cookie that the server knows? */
export async function findOut(): Promise<void> {
  onSignedOut(left);
  for (let pause = 500; ; pause = Math.min(pause * 2, 8000)) {
    try {
      return await arrived();
    } catch (problem) {
      if ((problem as Problem).status === 401) return;
      dispatch({ type: 'stream', stream: 'reconnecting' });
      await new Promise((done) => setTimeout(done, pause));
    }
  }
}

export async function signIn(email: string, password: string): Promise<void> {
  await api.signIn(email, password);
  await arrived();
}

export async function signInByLink(secret: string): Promise<void> {
  await api.signInByLink(secret);
  await arrived();
}

/** To where the person was about to go. */
export function goOn(): void {
  const url = sessionStorage.getItem(RETURN);
  sessionStorage.removeItem(RETURN);
  go(url ? readPlace(new URL(url, location.href)) : HOME);
}

function forgetDrafts(): void {
  for (const name of Object.keys(localStorage)) {
    if (name.startsWith('sojourn.draft.')) localStorage.removeItem(name);
  }
}

export async function signOut(): Promise<void> {
  await api.signOut().catch(() => {});
  forgetDrafts();
  stopLive();
  closeSession();
  dispatch({ type: 'me', me: null });
  go({ page: 'sign-in' });
}
