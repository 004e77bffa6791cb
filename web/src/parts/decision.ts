// The one way from a press to a decision: guarded, sent once, and told where the buttons are when it is refused.
import { useEffect, useState } from 'preact/hooks';
import type { Problem } from '../api';
import { askKey } from '../state/asklist';
import { decide } from '../state/asks';
import { useStore } from '../state/store';
import type { Ask, Reply } from '../types';
import { isDeliberate, useGuard } from './guard';

export interface Decision {
  about: string; // for `data-decides` of every element that decides
  isBusy: boolean;
  problem: Problem | null;
  send: (reply: Reply, by: Event) => void;
  /** For what leads to a decision without being one. */
  press: (by: Event, act: () => void) => void;
}

export function useDecision(ask: Ask, onDecided?: (by: Event) => void): Decision {
  const about = askKey(ask);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const stream = useStore((state) => state.stream);
  useGuard();
  useEffect(() => setProblem(null), [stream]);
  const press = (by: Event, act: () => void): void => {
    if (!isBusy && isDeliberate(by, about)) act();
  };
  const answer = async (reply: Reply, by: Event): Promise<void> => {
    setBusy(true);
    const failed = await decide(ask, reply);
    setProblem(failed);
    setBusy(false);
    if (!failed) onDecided?.(by);
  };
  return { about, isBusy, problem, press, send: (reply, by) => press(by, () => void answer(reply, by)) };
}
