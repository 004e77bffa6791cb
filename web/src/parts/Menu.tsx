import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

interface Props {
  label: ComponentChildren;
  title?: string;
  class?: string;
  isUp?: boolean;
  children: ComponentChildren;
}

/** A button that opens a small list of commands. Any click closes it. */
export function Menu({ label, title, class: name = '', isUp = false, children }: Props) {
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    const close = (event: Event): void => {
      if (event instanceof KeyboardEvent) {
        if (event.key !== 'Escape') return;
        event.preventDefault(); // the page has other uses for it
      }
      if (event instanceof MouseEvent && root.current?.contains(event.target as Node)) return;
      setOpen(false);
    };
    addEventListener('mousedown', close);
    addEventListener('keydown', close, true);
    return () => {
      removeEventListener('mousedown', close);
      removeEventListener('keydown', close, true);
    };
  }, [isOpen]);
  return (
    <div class={`menu ${name}`} ref={root}>
      <button class="quiet" title={title} aria-haspopup="menu" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {label}
      </button>
      {isOpen && (
        <div class={isUp ? 'menu-list up' : 'menu-list'} role="menu" onClick={() => setOpen(false)}>
          {children}
        </div>
      )}
    </div>
  );
}
