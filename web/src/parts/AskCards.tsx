// What is asked in a session and below it: cards that stay in their place until the pointer leaves, also when decided.
import { askKey } from '../state/asklist';
import { linkTo } from '../state/navigate';
import { sessionPlace } from '../state/place';
import type { Ask } from '../types';
import { AskCard } from './Ask';
import { useHeld } from './held';

/** The first one that is open has the keys. */
export function AskCards({ id, asks }: { id: string; asks: Ask[] }) {
  const { rows, waiting, release, holding } = useHeld(asks, askKey);
  const first = rows.find((row) => !row.isGone);
  return (
    <div {...holding}>
      {rows.map((row) => (
        <div key={askKey(row.item)} class="ask-here">
          {row.item.session_id !== id && (
            <p class="muted">
              Asked in{' '}
              <a {...linkTo(sessionPlace(row.item.session_id))}>{row.item.session_title ?? row.item.session_id}</a>, a
              child of this session
            </p>
          )}
          <AskCard ask={row.item} hasKeys={row === first} isGone={row.isGone} />
        </div>
      ))}
      {waiting > 0 && (
        <button class="quiet ask-here" onClick={release}>
          {waiting} more
        </button>
      )}
    </div>
  );
}
