// Moving through the dashboard: the history of the browser is the history of places.
import { type Place, readPlace, writePlace } from './place';
import { dispatch, getState } from './store';

export function go(place: Place): void {
  const url = writePlace(place);
  if (url !== location.pathname + location.search) history.pushState(null, '', url);
  dispatch({ type: 'went', place });
  scrollTo(0, 0);
}

let timer = 0;

/** The same page with another selection: no step back in the history. The browser limits how often that is written. */
export function adjust(place: Place): void {
  dispatch({ type: 'went', place });
  clearTimeout(timer);
  timer = window.setTimeout(() => {
    const url = writePlace(getState().place);
    if (url !== location.pathname + location.search) history.replaceState(null, '', url);
  }, 120);
}

export function followHistory(): void {
  addEventListener('popstate', () => {
    clearTimeout(timer);
    dispatch({ type: 'went', place: readPlace(new URL(location.href)) });
  });
}

/** For links: an ordinary click stays in the page, everything else is the browser's. */
export function linkTo(place: Place): { href: string; onClick: (event: MouseEvent) => void } {
  return {
    href: writePlace(place),
    onClick: (event) => {
      if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      go(place);
    },
  };
}
