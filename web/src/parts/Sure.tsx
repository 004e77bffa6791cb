// A button for what can't be undone: the first press says what will be lost, the second does it.
import { useState } from 'preact/hooks';
import { useLayer } from './layers';

export function Sure({ word, sure, onDo }: { word: string; sure: string; onDo: () => void }) {
  const [isAsked, setAsked] = useState(false);
  useLayer(isAsked, () => setAsked(false));
  if (!isAsked) {
    return (
      <button class="quiet danger" onClick={() => setAsked(true)}>
        {word}
      </button>
    );
  }
  return (
    <span class="sure">
      <button class="danger" autofocus onClick={onDo}>
        {sure}
      </button>
      <button class="quiet" onClick={() => setAsked(false)}>
        Cancel
      </button>
    </span>
  );
}
