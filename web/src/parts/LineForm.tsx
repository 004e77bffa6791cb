// A form of one line that makes something. What was typed stays when it is refused, with the reason below it.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Problem } from '../api';

interface Props {
  word: string;
  isReady: boolean;
  onSend: () => Promise<void>;
  children: ComponentChildren;
}

export function LineForm({ word, isReady, onSend, children }: Props) {
  const [problem, setProblem] = useState<Problem | null>(null);
  const send = async (): Promise<void> => {
    try {
      await onSend();
      setProblem(null);
    } catch (error) {
      setProblem(error as Problem);
    }
  };
  return (
    <form
      class="inline-form"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {children}
      <button disabled={!isReady}>{word}</button>
      {problem && (
        <p class="problem-line" role="alert">
          {problem.message}
        </p>
      )}
    </form>
  );
}
