// Single keys as commands, silent while somebody types or a dialog is open.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { getState } from '../state/store';

export type Keys = Record<string, (event: KeyboardEvent) => void>;

function isTyping(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement;
  return target.matches?.('input:not([type=range]):not([type=checkbox]), textarea, select, [contenteditable]') ?? false;
}

/** Enter on a link or a button is theirs. */
function isTheirs(event: KeyboardEvent): boolean {
  return event.key === 'Enter' && Boolean((event.target as HTMLElement).closest?.('a, button, summary'));
}

function nameOf(event: KeyboardEvent): string {
  return event.metaKey || event.ctrlKey ? `mod+${event.key.toLowerCase()}` : event.key;
}

export function useKeys(isOn: boolean, keys: Keys): void {
  const latest = useRef(keys);
  latest.current = keys;
  // At once: what can be seen can be pressed.
  useLayoutEffect(() => {
    if (!isOn) return;
    const onKey = (event: KeyboardEvent): void => {
      const name = nameOf(event);
      const call = latest.current[name];
      const isFree =
        name.startsWith('mod+') || (!isTyping(event) && !isTheirs(event) && !event.altKey && !getState().dialog);
      if (!call || !isFree || event.defaultPrevented) return;
      event.preventDefault();
      call(event);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [isOn]);
}

export const MOD = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘' : 'Ctrl ';
