// Decisions that stand: tool calls that need nobody any more, until somebody revokes it.
import { useState } from 'preact/hooks';
import { api, type Problem } from '../api';
import { Arguments } from '../parts/Arguments';
import { Exact } from '../parts/Exact';
import { useLoaded } from '../parts/loaded';
import { Empty, Failed, Waiting } from '../parts/States';
import { Time } from '../parts/Time';
import { linkTo } from '../state/navigate';
import { sessionPlace } from '../state/place';
import { tell } from '../state/notices';
import { useStore } from '../state/store';
import type { Rule } from '../types';

function Scope({ rule }: { rule: Rule }) {
  const users = useStore((state) => state.users);
  const sessions = useStore((state) => state.sessions);
  if (rule.scope === 'session' && rule.session_id) {
    return (
      <span>
        in the session{' '}
        <a {...linkTo(sessionPlace(rule.session_id))}>{sessions[rule.session_id]?.title ?? rule.session_id}</a>
      </span>
    );
  }
  const user = rule.user_id ? users[rule.user_id] : undefined;
  const whose = rule.user_id ? `sessions of ${user?.name || user?.email || rule.user_id}` : 'all sessions';
  return <span>always, in {whose}</span>;
}

function Row({ rule, onRevoked }: { rule: Rule; onRevoked: () => void }) {
  const [problem, setProblem] = useState<Problem | null>(null);
  const revoke = async (): Promise<void> => {
    try {
      await api.revoke(rule.id);
      tell(`${rule.tool} will be asked about again`);
      onRevoked();
    } catch (error) {
      setProblem(error as Problem);
    }
  };
  return (
    <li class="rule">
      <div class="rule-head">
        <code class="tool-name">
          <Exact text={rule.tool} isOneLine />
        </code>
        {rule.agent && <span class="muted">by {rule.agent}</span>}
        <Scope rule={rule} />
        <Time at={rule.created_at} suffix=" ago" />
        <button class="danger" onClick={() => void revoke()}>
          Revoke
        </button>
      </div>
      {rule.arguments ? <Arguments value={rule.arguments} isWhole /> : <p class="muted">with any arguments</p>}
      {problem && <p class="problem-line">{problem.message}</p>}
    </li>
  );
}

export function Rules() {
  const done = useStore((state) => state.asks.done.length);
  const { value, problem, again } = useLoaded(`rules ${done}`, () => api.rules());
  if (problem && !value) return <Failed what="Couldn’t load rules" problem={problem} again={again} />;
  if (!value) return <Waiting />;
  if (value.rules.length === 0) {
    return (
      <Empty
        title="No decision stands"
        text="When you allow a tool for a session or always, it is listed here and can be revoked."
      />
    );
  }
  return (
    <div class="plain">
      <h1>
        Rules <span class="count">{value.rules.length}</span>
      </h1>
      <p class="muted">Tool calls that are allowed without asking anybody. Revoked, they are asked about again.</p>
      <ul class="rules">
        {value.rules.map((rule) => (
          <Row key={rule.id} rule={rule} onRevoked={again} />
        ))}
      </ul>
    </div>
  );
}
