// A command, a path or an argument, exactly: never cleaned, never interpreted; what is cut says how much is left out.
import { useState } from 'preact/hooks';
import { cutAt, piecesOf } from '../state/exact';

/** The characters alone, for places that bring their own frame. */
export function Characters({ text, isOneLine = false }: { text: string; isOneLine?: boolean }) {
  return (
    <>
      {piecesOf(text, isOneLine).map((piece, index) =>
        piece.kind === 'plain' ? (
          piece.text
        ) : (
          <span key={index} class={piece.kind === 'hidden' ? 'hidden-char' : 'line-break'}>
            {piece.text}
          </span>
        ),
      )}
    </>
  );
}

const word = (left: number): string => `… ${left.toLocaleString('en-US')} more …`;

interface Props {
  text: string;
  /** Line breaks are shown as marks. */
  isOneLine?: boolean;
  /** Characters shown before the middle is left out; the rest is shown on demand unless the place itself opens it. */
  most?: number;
  canOpen?: boolean;
  /** A sentence in any language: it may run from right to left. */
  isProse?: boolean;
}

export function Exact({ text, isOneLine = false, most = 4000, canOpen = true, isProse = false }: Props) {
  const [isWhole, setWhole] = useState(false);
  const { head, left, tail } = cutAt(text, isWhole ? Infinity : most);
  return (
    <bdi class={isProse ? 'exact is-prose' : 'exact'} dir={isProse ? 'auto' : 'ltr'}>
      <Characters text={head} isOneLine={isOneLine} />
      {left > 0 && canOpen && (
        <button type="button" class="cut" title="Show all of it" onClick={() => setWhole(true)}>
          {word(left)}
        </button>
      )}
      {left > 0 && !canOpen && <span class="cut">{word(left)}</span>}
      {tail && <Characters text={tail} isOneLine={isOneLine} />}
    </bdi>
  );
}
