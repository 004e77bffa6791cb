import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useLayer } from './layers';

interface Props {
  label: ComponentChildren;
  title?: string;
  class?: string;
  isUp?: boolean;
  children: ComponentChildren;
}

const commands = (list: HTMLElement | null): HTMLElement[] =>
  [...(list?.querySelectorAll<HTMLElement>('button') ?? [])].filter((one) => one.checkVisibility());

function move(list: HTMLElement | null, by: number): void {
  const all = commands(list);
  const at = all.indexOf(document.activeElement as HTMLElement);
  all[(at + by + all.length) % all.length]?.focus();
}

/** A button that opens a small list of commands. Any click closes it; arrows move, as in any menu. */
export function Menu({ label, title, class: name = '', isUp = false, children }: Props) {
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  useLayer(isOpen, () => {
    root.current?.querySelector('button')?.focus();
    setOpen(false);
  });
  useLayoutEffect(() => {
    commands(list.current).forEach((one) => one.setAttribute('role', 'menuitem'));
    if (isOpen && root.current?.contains(document.activeElement)) move(list.current, 1);
  }, [isOpen]);
  useEffect(() => {
    if (!isOpen) return;
    const close = (event: Event): void => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    addEventListener('mousedown', close);
    return () => removeEventListener('mousedown', close);
  }, [isOpen]);
  return (
    <div class={`menu ${name}`} ref={root}>
      <button class="quiet" title={title} aria-haspopup="menu" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {label}
      </button>
      {isOpen && (
        <div
          class={isUp ? 'menu-list up' : 'menu-list'}
          role="menu"
          ref={list}
          onClick={() => setOpen(false)}
          onKeyDown={(event) => {
            if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
              event.preventDefault();
              event.stopPropagation();
              move(list.current, event.key === 'ArrowDown' ? 1 : -1);
            }
          }}
        >
          {children}
        </div>
      )}
    </div>
  );
}
