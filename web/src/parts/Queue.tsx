// Messages that wait until the running turn is over.
import { exact, firstLine } from '../format';
import { withdraw } from '../state/session';
import { saidIn } from '../state/transcript';
import type { Prompt } from '../types';

export function Queue({ id, prompts }: { id: string; prompts: Prompt[] }) {
  if (prompts.length === 0) return null;
  return (
    <ol class="queue" aria-label="Messages that wait">
      {prompts.map((prompt) => (
        <li key={prompt.prompt_id} title={exact(prompt.created_at)}>
          <span class="queue-word">waits</span>
          <span class="queue-text">{firstLine(saidIn(prompt.content))}</span>
          <button
            class="quiet"
            aria-label="Withdraw"
            title="Withdraw"
            onClick={() => void withdraw(id, prompt.prompt_id)}
          >
            ✕
          </button>
        </li>
      ))}
    </ol>
  );
}
