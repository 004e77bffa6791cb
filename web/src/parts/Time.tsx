import { useEffect, useReducer } from 'preact/hooks';
import { ago, exact } from '../format';

const redraws = new Set<() => void>();
setInterval(() => {
  if (!document.hidden) for (const redraw of redraws) redraw();
}, 20_000);

/** Relative, with the exact time on hover; grows older by itself. */
export function Time({ at, suffix = '' }: { at: string; suffix?: string }) {
  const [, redraw] = useReducer<number, void>((count) => count + 1, 0);
  useEffect(() => {
    const call = (): void => redraw();
    redraws.add(call);
    return () => void redraws.delete(call);
  }, []);
  const text = ago(at, Date.now());
  return (
    <time dateTime={at} title={exact(at)}>
      {text}
      {text === 'now' || !/^\d+ .$/.test(text) ? '' : suffix}
    </time>
  );
}
