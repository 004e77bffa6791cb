// Nobody decides what they have not seen: what decides an ask answers only after it has stood where it is for a moment.
//
// Elements that decide carry `data-decides` with the key of their ask. All of them are looked at ten times a second
// while there are any; one that is new, has moved, belongs to another ask or was covered is not steady, and what is
// pressed then was meant for something else. One that allows what its row shows (`data-needs-call`) is not seen either
// while any line of that call (`data-decided`) is cut or covered, whatever the style sheet or the window does.
import { useLayoutEffect } from 'preact/hooks';

const STEADY_MS = 500;
const LOOK_MS = 100;
const DECIDES = '[data-decides]';

interface Stand {
  place: string;
  isSeen: boolean;
  since: number;
}

let stands = new WeakMap<Element, Stand>();
let watchers = 0;
let timer = 0;

const touches = (element: Element, x: number, y: number): boolean => {
  const top = document.elementFromPoint(x, y);
  return top !== null && element.contains(top);
};

/** Is every line of the call beside the button there to be read? */
function isCallSeen(button: HTMLElement): boolean {
  const call = button.closest('li')?.querySelector(`[data-decided="${CSS.escape(button.dataset['decides'] ?? '')}"]`);
  if (!call) return false;
  const range = document.createRange();
  range.selectNodeContents(call);
  const lines = [...range.getClientRects()].filter((line) => line.width > 2);
  return lines.every((line) => {
    const middle = line.top + line.height / 2;
    return touches(call, line.left + 1, middle) && touches(call, line.right - 1, middle);
  });
}

function isSeenAt(element: HTMLElement, box: DOMRect): boolean {
  const isThere = touches(element, box.left + box.width / 2, box.top + box.height / 2);
  return isThere && (!element.hasAttribute('data-needs-call') || isCallSeen(element));
}

function look(element: HTMLElement): Stand & { isSteady: boolean } {
  const box = element.getBoundingClientRect();
  const isSeen = isSeenAt(element, box);
  const sides = [box.left, box.top, box.right, box.bottom].map(Math.round);
  const place = [element.dataset['decides'], isSeen, ...sides].join(' ');
  const now = performance.now();
  const before = stands.get(element);
  const stand = before?.place === place ? before : { place, isSeen, since: now };
  stands.set(element, stand);
  const isSteady = now - stand.since >= STEADY_MS;
  element.toggleAttribute('data-steady', isSteady);
  return { ...stand, isSteady };
}

const lookAtAll = (): void => document.querySelectorAll<HTMLElement>(DECIDES).forEach((one) => look(one));

/** What was there while nobody could look has just appeared. */
function forget(): void {
  if (!document.hidden) stands = new WeakMap();
  lookAtAll();
}

/** A key that is held down presses once. */
function ignoreRepeat(event: KeyboardEvent): void {
  const target = event.target as HTMLElement;
  const isPress =
    event.key === 'Enter' ? target.tagName !== 'TEXTAREA' : event.key === ' ' && !!target.closest('button');
  if (event.repeat && isPress && target.closest?.(`${DECIDES}, form:has(${DECIDES})`)) event.preventDefault();
}

function watch(): () => void {
  watchers += 1;
  if (watchers === 1) {
    timer = window.setInterval(lookAtAll, LOOK_MS);
    addEventListener('keydown', ignoreRepeat, true);
    document.addEventListener('visibilitychange', forget);
  }
  return () => {
    watchers -= 1;
    if (watchers > 0) return;
    clearInterval(timer);
    removeEventListener('keydown', ignoreRepeat, true);
    document.removeEventListener('visibilitychange', forget);
  };
}

/** For the parts that draw elements that decide. */
export function useGuard(): void {
  useLayoutEffect(watch, []);
  useLayoutEffect(lookAtAll);
}

function pressed(event: Event): HTMLElement | null {
  const element = (event as SubmitEvent).submitter ?? event.currentTarget;
  return element instanceof HTMLElement ? element.closest<HTMLElement>(DECIDES) : null;
}

/** A press is meant for what can be seen; what can't be seen is brought into view first. */
function isMeant(element: HTMLElement): boolean {
  const stand = look(element);
  if (!stand.isSeen) (element.closest('li') ?? element).scrollIntoView({ block: 'nearest' });
  return stand.isSeen && stand.isSteady;
}

/** Was this press meant for this ask? */
export function isDeliberate(event: Event, about: string): boolean {
  const own = pressed(event);
  if (own && own.dataset['decides'] === about) return isMeant(own);
  if (!(event instanceof KeyboardEvent) || event.repeat) return false;
  const shown = document.querySelector<HTMLElement>(`[data-decides="${CSS.escape(about)}"]`);
  return shown !== null && isMeant(shown);
}
