// What lies above what: Escape closes the topmost layer and nothing else.
import { useLayoutEffect, useRef } from 'preact/hooks';

interface Layer {
  close: () => void;
}

const layers: Layer[] = [];

function onKey(event: KeyboardEvent): void {
  const top = layers.at(-1);
  if (event.key !== 'Escape' || event.isComposing || !top) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  // Held down it would go through layer after layer.
  if (!event.repeat) top.close();
}

addEventListener('keydown', onKey, true);

export function useLayer(isOpen: boolean, close: () => void): void {
  const latest = useRef(close);
  latest.current = close;
  useLayoutEffect(() => {
    if (!isOpen) return;
    const layer = { close: () => latest.current() };
    layers.push(layer);
    return () => void layers.splice(layers.indexOf(layer), 1);
  }, [isOpen]);
}
