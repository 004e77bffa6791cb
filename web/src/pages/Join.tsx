// Redeems a share link: /sessions/join#TOKEN.
import { useEffect, useState } from 'preact/hooks';
import { api, type Problem } from '../api';
import { Empty, Waiting } from '../parts/States';
import { go } from '../state/navigate';
import { sessionPlace, sessionsPlace } from '../state/place';

export function Join({ token }: { token: string }) {
  const [problem, setProblem] = useState<Problem | null>(null);
  useEffect(() => {
    api.join(token).then(({ session_id }) => go(sessionPlace(session_id)), setProblem);
  }, [token]);
  if (!problem) return <Waiting text="Joining…" />;
  return (
    <Empty title="This link does not work" text={problem.message}>
      <button onClick={() => go(sessionsPlace())}>Go to sessions</button>
    </Empty>
  );
}
