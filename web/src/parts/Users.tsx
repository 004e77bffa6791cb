// Who works here: people are invited by a link that signs them in once.
import { useState } from 'preact/hooks';
import { api } from '../api';
import { tell, tellProblem } from '../state/notices';
import { dispatch, useStore } from '../state/store';
import type { MemberRole, User } from '../types';
import { Once } from './Account';
import { LineForm } from './LineForm';
import { useLoaded } from './loaded';
import { Failed, Waiting } from './States';
import { Sure } from './Sure';

const ROLES: readonly MemberRole[] = ['member', 'admin'];

function Row({ user, onChanged }: { user: User; onChanged: () => void }) {
  const me = useStore((state) => state.me);
  const isMe = me !== null && me !== 'unknown' && me.user_id === user.id;
  const attempt = async (what: string, call: Promise<unknown>): Promise<void> => {
    try {
      await call;
      tell(what);
    } catch (problem) {
      tellProblem('Nothing is changed', problem);
    }
    onChanged();
  };
  return (
    <li class="plain-line">
      <span>
        <strong>{user.name || user.email}</strong> <span class="muted">{user.email}</span>
      </span>
      {isMe || user.role === 'owner' ? (
        <span class="muted">
          {user.role}
          {isMe && ', you'}
        </span>
      ) : (
        <>
          <select
            aria-label={`Role of ${user.email}`}
            value={user.role}
            onChange={(event) => {
              const role = event.currentTarget.value;
              void attempt(`${user.email} is ${role} now`, api.changeUser(user.id, { role }));
            }}
          >
            {ROLES.map((role) => (
              <option key={role}>{role}</option>
            ))}
          </select>
          <Sure
            word="Remove"
            sure={`Remove ${user.email} from here`}
            onDo={() => void attempt(`${user.email} can’t sign in any more`, api.removeUser(user.id))}
          />
        </>
      )}
    </li>
  );
}

function Invite({ onInvited }: { onInvited: (user: User) => void }) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState('member');
  const invite = async (): Promise<void> => {
    onInvited(await api.createUser({ email, role }));
    setEmail('');
  };
  return (
    <LineForm word="Invite" isReady={email.trim() !== ''} onSend={invite}>
      <input
        type="email"
        value={email}
        required
        placeholder="name@example.com"
        aria-label="Email"
        onInput={(event) => setEmail(event.currentTarget.value)}
      />
      <select aria-label="Role" value={role} onChange={(event) => setRole(event.currentTarget.value)}>
        {ROLES.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
    </LineForm>
  );
}

export function Users() {
  const { value, problem, again } = useLoaded('users', () => api.users());
  const [invited, setInvited] = useState<User | null>(null);
  if (problem && !value) return <Failed what="Couldn’t load people" problem={problem} again={again} />;
  if (!value) return <Waiting />;
  return (
    <>
      <ul class="users">
        {value.users.map((user) => (
          <Row key={user.id} user={user} onChanged={again} />
        ))}
      </ul>
      {invited?.sign_in_secret && (
        <Once
          text={`${location.origin}/sign-in#${invited.sign_in_secret}`}
          hint={`Send this link to ${invited.email}. It signs in once, and is shown this once.`}
        />
      )}
      <Invite
        onInvited={(user) => {
          setInvited(user);
          again();
          void api.users().then(({ users }) => dispatch({ type: 'users', users }));
        }}
      />
    </>
  );
}
