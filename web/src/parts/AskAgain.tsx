// Nobody answered in time: the same can be asked once more.
import { useState } from 'preact/hooks';
import type { Problem } from '../api';
import { askAgain } from '../state/asks';
import type { Ask } from '../types';

export function AskAgain({ ask }: { ask: Ask }) {
  const [problem, setProblem] = useState<Problem | null>(null);
  if (ask.state !== 'expired') return null;
  return (
    <>
      <button onClick={() => void askAgain(ask).then(setProblem)}>Ask again</button>
      {problem && (
        <span class="problem-line" role="alert">
          {problem.message}
        </span>
      )}
    </>
  );
}
