// How long something still waits: words, and a line that shrinks.
import { useEffect, useReducer } from 'preact/hooks';
import { duration, exact } from '../format';

const SOON_MS = 60_000;

export function Expiry({ from, to }: { from: string; to: string | null }) {
  const [, redraw] = useReducer<number, void>((count) => count + 1, 0);
  useEffect(() => {
    if (!to) return;
    const timer = setInterval(() => redraw(), 1000);
    return () => clearInterval(timer);
  }, [to]);
  if (!to) return null;
  const left = Math.max(0, Date.parse(to) - Date.now());
  const part = left / Math.max(1, Date.parse(to) - Date.parse(from));
  const rough = left < SOON_MS ? `${Math.ceil(left / 1000)} s` : duration(left);
  return (
    <div class={left < SOON_MS ? 'expiry is-soon' : 'expiry'} title={`Expires ${exact(to)}`}>
      <span class="expiry-track">
        <span class="expiry-bar" style={{ width: `${Math.min(100, part * 100)}%` }} />
      </span>
      <span class="expiry-word">{left === 0 ? 'expired' : `expires in ${rough}`}</span>
    </div>
  );
}
