// A list that stands still while somebody is at it: what is gone stays in its place, what is new waits.
import { useEffect, useRef, useState } from 'preact/hooks';

export interface Kept<T> {
  item: T;
  isGone: boolean;
}

export interface Held<T> {
  rows: Kept<T>[];
  waiting: number; // new ones, not shown yet
  release: () => void;
  holding: {
    ref: (node: HTMLElement | null) => void;
    onPointerEnter: (event: PointerEvent) => void;
    onPointerLeave: (event: PointerEvent) => void;
    onPointerDown: () => void;
    onKeyDown: (event: KeyboardEvent) => void;
  };
}

/** Of a button in the list; what is sent from a field goes on to the next thing. */
const isPress = (event: KeyboardEvent): boolean =>
  (event.key === 'Enter' || event.key === ' ') && (event.target as HTMLElement).tagName === 'BUTTON';

/** A mouse holds as long as it is there; a finger and the keyboard until they are used elsewhere. */
function useHold(onHeld?: (isHeld: boolean) => void): [boolean, (isHeld: boolean) => void, Held<never>['holding']] {
  const [isHeld, setHeld] = useState(false);
  const box = useRef<HTMLElement | null>(null);
  const set = (value: boolean): void => {
    setHeld(value);
    onHeld?.(value);
  };
  const latest = useRef(set);
  latest.current = set;
  useEffect(() => {
    if (!isHeld) return;
    const elsewhere = (event: Event): void => {
      if (!box.current?.contains(event.target as Node)) latest.current(false);
    };
    addEventListener('pointerdown', elsewhere, true);
    addEventListener('focusin', elsewhere, true);
    return () => {
      removeEventListener('pointerdown', elsewhere, true);
      removeEventListener('focusin', elsewhere, true);
    };
  }, [isHeld]);
  const holding = {
    ref: (node: HTMLElement | null): void => void (box.current = node),
    onPointerEnter: (event: PointerEvent): void => void (event.pointerType === 'mouse' && set(true)),
    onPointerLeave: (event: PointerEvent): void => void (event.pointerType === 'mouse' && set(false)),
    onPointerDown: (): void => set(true),
    onKeyDown: (event: KeyboardEvent): void => void (isPress(event) && set(true)),
  };
  return [isHeld, set, holding];
}

export function useHeld<T>(items: T[], keyOf: (item: T) => string, onHeld?: (isHeld: boolean) => void): Held<T> {
  const [isHeld, set, holding] = useHold(onHeld);
  const shown = useRef<T[]>([]);
  const now = new Map(items.map((item) => [keyOf(item), item]));
  const isFree = !isHeld || shown.current.length === 0;
  shown.current = isFree ? items : shown.current.map((item) => now.get(keyOf(item)) ?? item);
  const rows = shown.current.map((item) => ({ item, isGone: !now.has(keyOf(item)) }));
  const waiting = items.length - rows.filter((row) => !row.isGone).length;
  return { rows, waiting, release: () => set(false), holding };
}
