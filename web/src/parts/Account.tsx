// How a person gets in: the password, and the tokens of programs that act for him.
import { useState } from 'preact/hooks';
import { api, type Problem } from '../api';
import { exact } from '../format';
import { tell, tellProblem } from '../state/notices';
import { useStore } from '../state/store';
import type { Token } from '../types';
import { Copy } from './Copy';
import { LineForm } from './LineForm';
import { useLayer } from './layers';
import { useLoaded } from './loaded';
import { Failed, Waiting } from './States';
import { Sure } from './Sure';
import { Time } from './Time';

export function Password() {
  const [isOpen, setOpen] = useState(false);
  const [password, setPassword] = useState('');
  const [current, setCurrent] = useState('');
  const [problem, setProblem] = useState<Problem | null>(null);
  const close = (): void => {
    setOpen(false);
    setPassword('');
    setCurrent('');
    setProblem(null);
  };
  const save = async (): Promise<void> => {
    try {
      await api.setPassword(password, current);
      tell('The new password is set');
      close();
    } catch (error) {
      setProblem(error as Problem);
    }
  };
  useLayer(isOpen, close);
  if (!isOpen) return <button onClick={() => setOpen(true)}>Change your password…</button>;
  return (
    <form
      class="plain-form"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <label>
        Password until now
        <input
          type="password"
          name="current-password"
          autocomplete="current-password"
          placeholder="empty when you have none"
          value={current}
          autofocus
          onInput={(event) => setCurrent(event.currentTarget.value)}
        />
      </label>
      <label>
        New password
        <input
          type="password"
          name="new-password"
          autocomplete="new-password"
          required
          value={password}
          onInput={(event) => setPassword(event.currentTarget.value)}
        />
      </label>
      <div class="inline">
        <button class="primary">Set password</button>
        <button type="button" class="quiet" onClick={close}>
          Cancel
        </button>
      </div>
      {problem && (
        <p class="problem-line" role="alert">
          {problem.message}
        </p>
      )}
    </form>
  );
}

/** What is told only once, with copy. */
export function Once({ text, hint }: { text: string; hint: string }) {
  return (
    <div class="once" role="status">
      <div class="command">
        <code>{text}</code>
        <Copy text={text} />
      </div>
      <p class="muted">{hint}</p>
    </div>
  );
}

function TokenRow({ token, onRevoked }: { token: Token; onRevoked: () => void }) {
  const revoke = async (): Promise<void> => {
    try {
      await api.revokeToken(token.id);
      tell(`“${token.name}” is of no use any more`);
      onRevoked();
    } catch (problem) {
      tellProblem('The token stays', problem);
    }
  };
  return (
    <li class="plain-line">
      <span>
        <strong>{token.name}</strong> <span class="muted">{[token.kind, ...token.scopes].join(' · ')}</span>
        {token.expires_at && <span class="muted"> · until {exact(token.expires_at)}</span>}
      </span>
      <Time at={token.created_at} />
      <Sure word="Revoke" sure={`Revoke “${token.name}” for good`} onDo={() => void revoke()} />
    </li>
  );
}

const KINDS = [
  { kind: 'user', word: 'acts as you' },
  { kind: 'worker', word: 'a worker that claims sessions' },
];

function NewToken({ onMade }: { onMade: (token: Token) => void }) {
  const [name, setName] = useState('');
  const [kind, setKind] = useState('user');
  const make = async (): Promise<void> => {
    onMade(await api.createToken({ name, kind }));
    setName('');
  };
  return (
    <LineForm word="Make a token" isReady={name.trim() !== ''} onSend={make}>
      <input
        value={name}
        required
        maxLength={100}
        placeholder="What will use it"
        aria-label="Name of the token"
        onInput={(event) => setName(event.currentTarget.value)}
      />
      <select aria-label="Kind of token" value={kind} onChange={(event) => setKind(event.currentTarget.value)}>
        {KINDS.map((one) => (
          <option key={one.kind} value={one.kind}>
            {one.word}
          </option>
        ))}
      </select>
    </LineForm>
  );
}

export function Tokens() {
  const { value, problem, again } = useLoaded('tokens', (signal) => api.tokens(signal));
  const [made, setMade] = useState<Token | null>(null);
  if (problem && !value) return <Failed what="Couldn’t load tokens" problem={problem} again={again} />;
  if (!value) return <Waiting />;
  const valid = value.tokens.filter((token) => !token.revoked_at);
  return (
    <>
      {valid.length === 0 && <p class="muted">No program has a token.</p>}
      <ul class="tokens">
        {valid.map((token) => (
          <TokenRow key={token.id} token={token} onRevoked={again} />
        ))}
      </ul>
      {made?.token && <Once text={made.token} hint={`The token “${made.name}”. It is shown this once; keep it now.`} />}
      <NewToken
        onMade={(token) => {
          setMade(token);
          again();
        }}
      />
    </>
  );
}

/** Whether the person may make tokens and look after people. */
export function useIsAdmin(): boolean {
  const me = useStore((state) => state.me);
  return me !== null && me !== 'unknown' && me.scopes.includes('admin') && me.role !== 'member';
}
