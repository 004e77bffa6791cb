// Email and password, or the one-time link: /sign-in#SECRET.
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { api, Problem } from '../api';
import { goOn, lastEmail, ownEmail, signIn, signInByLink } from '../state/account';
import { useStore } from '../state/store';

function Sheet({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <main class="sign-in">
      <div class="brand">Sojourn</div>
      <h1>{title}</h1>
      {children}
    </main>
  );
}

/** The secret is taken out of the address at once, so that it stays in no history. */
function takeSecret(): string {
  const secret = location.hash.slice(1);
  if (secret) history.replaceState(null, '', '/sign-in');
  return secret;
}

const initialSecret = location.pathname === '/sign-in' ? takeSecret() : '';

function useAttempt(run: () => Promise<void>) {
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const attempt = async (): Promise<void> => {
    setBusy(true);
    setProblem(null);
    try {
      await run();
    } catch (error) {
      setProblem(error instanceof Problem ? error : new Problem(0, 'unknown', String(error)));
    }
    setBusy(false);
  };
  return { problem, isBusy, attempt };
}

function SetPassword() {
  const email = useStore(ownEmail);
  const [password, setPassword] = useState('');
  const [current, setCurrent] = useState('');
  const { problem, isBusy, attempt } = useAttempt(async () => {
    await api.setPassword(password, current);
    goOn();
  });
  return (
    <Sheet title="Set a password">
      <p>
        You are signed in{email && ' as '}
        {email && <strong>{email}</strong>}. The link works only once; set a password to sign in with this name again.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void attempt();
        }}
      >
        <input type="email" name="username" autocomplete="username" value={email} readonly hidden />
        {problem?.code === 'wrong_password' && (
          <label>
            Password until now
            <input
              type="password"
              autocomplete="current-password"
              value={current}
              onInput={(event) => setCurrent(event.currentTarget.value)}
            />
          </label>
        )}
        <label>
          New password
          <input
            type="password"
            name="new-password"
            autocomplete="new-password"
            required
            autofocus
            value={password}
            onInput={(event) => setPassword(event.currentTarget.value)}
          />
        </label>
        {problem && (
          <p class="problem-line" role="alert">
            {problem.code === 'wrong_password'
              ? 'You have a password already. Give it to set another.'
              : problem.message}
          </p>
        )}
        <div class="buttons">
          <button type="button" onClick={goOn}>
            Not now
          </button>
          <button class="primary" disabled={isBusy}>
            Set password
          </button>
        </div>
      </form>
    </Sheet>
  );
}

function ByPassword({ note }: { note: Problem | null }) {
  const [email, setEmail] = useState(lastEmail);
  const [password, setPassword] = useState('');
  const { problem, isBusy, attempt } = useAttempt(async () => {
    await signIn(email, password);
    goOn();
  });
  const shown = problem ?? note;
  return (
    <Sheet title="Sign in">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void attempt();
        }}
      >
        <label>
          Email
          <input
            type="email"
            name="email"
            autocomplete="username"
            required
            autofocus={!email}
            value={email}
            onInput={(event) => setEmail(event.currentTarget.value)}
          />
        </label>
        <label>
          Password
          <input
            type="password"
            name="password"
            autocomplete="current-password"
            required
            autofocus={!!email}
            value={password}
            onInput={(event) => setPassword(event.currentTarget.value)}
          />
        </label>
        {shown && (
          <p class="problem-line" role="alert">
            {shown.message}
          </p>
        )}
        <div class="buttons">
          <button class="primary" disabled={isBusy}>
            {isBusy ? 'Signing in…' : 'Sign in'}
          </button>
        </div>
      </form>
      <p class="muted">
        The first owner’s link was printed when the server started. Others get theirs from an admin:{' '}
        <code>sojourn users create</code>
      </p>
    </Sheet>
  );
}

export function SignIn({ isHere }: { isHere: boolean }) {
  const me = useStore((state) => state.me);
  const [secret, setSecret] = useState(initialSecret);
  const [link, setLink] = useState<'none' | 'trying' | 'used'>(initialSecret ? 'trying' : 'none');
  const [note, setNote] = useState<Problem | null>(null);
  useEffect(() => {
    const onHash = (): void => setSecret(takeSecret());
    addEventListener('hashchange', onHash);
    return () => removeEventListener('hashchange', onHash);
  }, []);
  useEffect(() => {
    if (!secret) return;
    setSecret('');
    setLink('trying');
    setNote(null);
    signInByLink(secret).then(
      () => setLink('used'),
      (problem: Problem) => {
        setLink('none');
        setNote(problem);
      },
    );
  }, [secret]);
  const isIn = me !== null && me !== 'unknown';
  useEffect(() => {
    if (isIn && isHere && link === 'none' && !note) goOn();
  }, [isIn, isHere, link]);
  if (link === 'used') return <SetPassword />;
  if (link === 'trying' || (me === 'unknown' && !note)) return <Sheet title="Signing in…">{null}</Sheet>;
  return <ByPassword note={note} />;
}
