// What a single key must not do by accident: the first press shows a hint, a second one while it is shown does it.
import { useEffect, useState } from 'preact/hooks';
import { useLayer } from './layers';

const HINT_MS = 3000;

interface Twice {
  isAsked: boolean;
  press: () => void;
}

/** The second press of Escape is taken by the hint: it is the topmost thing. */
export function useTwice(act: () => void): Twice {
  const [isAsked, setAsked] = useState(false);
  useEffect(() => {
    if (!isAsked) return;
    const timer = setTimeout(() => setAsked(false), HINT_MS);
    return () => clearTimeout(timer);
  }, [isAsked]);
  useLayer(isAsked, () => {
    setAsked(false);
    act();
  });
  return { isAsked, press: () => setAsked(true) };
}
