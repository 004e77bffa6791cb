// j, k and enter in a plain list of links: the focus of the browser is the cursor.
import { useKeys } from './keys';

export function useRows(selector: string): void {
  const move = (by: number): void => {
    const rows = [...document.querySelectorAll<HTMLElement>(selector)];
    const at = rows.indexOf(document.activeElement as HTMLElement);
    const next = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.max(0, Math.min(rows.length - 1, at + by))];
    next?.focus();
    next?.scrollIntoView({ block: 'nearest' });
  };
  useKeys(true, { j: () => move(1), k: () => move(-1), ArrowDown: () => move(1), ArrowUp: () => move(-1) });
}
