// Commands, paths and arguments as they are: nothing is cleaned, what can't be seen gets a visible name, and what is
// left out is counted.

export interface Piece {
  kind: 'plain' | 'hidden' | 'break';
  text: string; // as it is shown
}

/** Characters that show nothing, look like a space, or move their neighbours. */
const IGNORED = String.raw`[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]`;
const SPACES = String.raw`(?! )\p{Zs}`;
/** Marks that stand on nothing, and piles of them. */
const MARKS = String.raw`(?<=^|\s)\p{Mn}|\p{Mn}{4,}`;
const HIDDEN = new RegExp(`${IGNORED}|${SPACES}|${MARKS}`, 'gu');
const LINE_BREAK = '↵';

const nameOf = (character: string): string =>
  `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;

/** In one line a line break is a mark; in a block it breaks the line, and tabs are tabs. */
export function piecesOf(text: string, isOneLine: boolean): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(HIDDEN)) {
    const found = match[0];
    if (!isOneLine && (found === '\n' || found === '\t')) continue;
    if (match.index > from) pieces.push({ kind: 'plain', text: text.slice(from, match.index) });
    if (found === '\n') pieces.push({ kind: 'break', text: LINE_BREAK });
    else pieces.push({ kind: 'hidden', text: [...found].map(nameOf).join('') });
    from = match.index + found.length;
  }
  if (from < text.length) pieces.push({ kind: 'plain', text: text.slice(from) });
  return pieces;
}

export const escaped = (text: string, isOneLine: boolean): string =>
  piecesOf(text, isOneLine)
    .map((piece) => piece.text)
    .join('');

export const isPlain = (text: string): boolean => piecesOf(text, true).every((piece) => piece.kind === 'plain');

export interface Cut {
  head: string;
  left: number; // characters left out in the middle
  tail: string;
}

/** The end says as much as the beginning: what is left out is in the middle. */
export function cutAt(text: string, most: number): Cut {
  if (text.length <= most) return { head: text, left: 0, tail: '' };
  const all = [...text];
  if (all.length <= most) return { head: text, left: 0, tail: '' };
  const tail = Math.floor(most / 3);
  return {
    head: all.slice(0, most - tail).join(''),
    left: all.length - most,
    tail: all.slice(all.length - tail).join(''),
  };
}
