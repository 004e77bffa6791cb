// Code in colours: comments, texts, numbers and words of the language. No parser; what it does not know stays plain.

export type TokenKind = 'plain' | 'comment' | 'text' | 'number' | 'word';

export interface Token {
  kind: TokenKind;
  text: string;
}

const CHARACTERS_MAX = 30_000; // above, colours cost more than they help

interface Language {
  comment: string; // parts of regular expressions
  words: Set<string>;
}

const C_COMMENT = String.raw`\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)`;
const HASH_COMMENT = String.raw`(?<![^\s;(])#[^\n]*`;
const DASH_COMMENT = String.raw`--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)`;
const TAG_COMMENT = String.raw`<!--[\s\S]*?(?:-->|$)`;
const NO_COMMENT = '(?!)';

const split = (all: string): Set<string> => new Set(all.split(' '));

const C_WORDS = split(
  'abstract as async auto await bool boolean break byte case catch char class const constexpr continue def ' +
    'default defer delete do double else enum export extends extern false final finally float fn for from ' +
    'func function go if impl implements import in inline instanceof int interface let long loop map match ' +
    'module mut namespace new nil null nullptr number override package private protected pub public range ' +
    'readonly return select self short signed sizeof static string struct super switch template this throw ' +
    'trait true try type typedef typename typeof union unsafe unsigned use using val var virtual void ' +
    'volatile where while yield',
);
const SCRIPT_WORDS = split(
  'and as assert async await begin break case class continue def defined del do done elif else end esac ' +
    'except export False fi finally for from function global if import in is lambda local module None ' +
    'nonlocal not null or pass raise require return self set then true True try unless until while with yield ' +
    'false',
);
const SQL_WORDS = split(
  'add all alter and as asc begin between by case cascade check column commit constraint create cross ' +
    'default delete desc distinct drop else end exists false foreign from full group having if in index inner ' +
    'insert into is join key left like limit not null offset on or order outer primary references returning ' +
    'right rollback select set table then true union unique update using values view when where with',
);

const FAMILIES: readonly [string, Language][] = [
  [
    'c h cc cpp cxx hpp cs css dart go java javascript js json5 jsonc jsx kotlin kt less mjs objc php proto rs rust ' +
      'scala scss swift ts tsx typescript zig',
    { comment: C_COMMENT, words: C_WORDS },
  ],
  ['json ndjson', { comment: NO_COMMENT, words: split('true false null') }],
  [
    'bash conf dockerfile elixir ex ini make makefile perl pl py python r rb ruby sh shell toml yaml yml zsh',
    { comment: HASH_COMMENT, words: SCRIPT_WORDS },
  ],
  ['haskell hs lua sql', { comment: DASH_COMMENT, words: SQL_WORDS }],
  ['html svg vue xml', { comment: TAG_COMMENT, words: new Set() }],
];

const LANGUAGES = new Map(FAMILIES.flatMap(([names, language]) => names.split(' ').map((name) => [name, language])));

const TEXT = String.raw`"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\x60(?:\\.|[^\x60\\])*\x60`;
const NUMBER = String.raw`\b(?:0x[\da-fA-F_]+|\d[\d_]*(?:\.\d+)?(?:[eE][-+]?\d+)?)\b`;
const WORD = String.raw`[A-Za-z_]\w*`;

const kindOf = (language: Language, groups: Record<string, string | undefined>): TokenKind => {
  if (groups['comment'] !== undefined) return 'comment';
  if (groups['text'] !== undefined) return 'text';
  if (groups['number'] !== undefined) return 'number';
  const word = groups['word'] ?? '';
  return language.words.has(word) || (language.words === SQL_WORDS && language.words.has(word.toLowerCase()))
    ? 'word'
    : 'plain';
};

/** `name` is what stands behind the fence, or the end of a file's name. */
export function highlight(text: string, name: string): Token[] {
  const language = LANGUAGES.get(name.toLowerCase());
  if (!language || text.length > CHARACTERS_MAX) return [{ kind: 'plain', text }];
  const pattern = new RegExp(
    `(?<comment>${language.comment})|(?<text>${TEXT})|(?<number>${NUMBER})|(?<word>${WORD})`,
    'g',
  );
  const tokens: Token[] = [];
  const push = (kind: TokenKind, part: string): void => {
    const last = tokens.at(-1);
    if (last?.kind === kind) last.text += part;
    else if (part) tokens.push({ kind, text: part });
  };
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    push('plain', text.slice(end, match.index));
    push(kindOf(language, match.groups ?? {}), match[0]);
    end = match.index + match[0].length;
  }
  push('plain', text.slice(end));
  return tokens;
}

/** The language of a file, by its name: "src/a.c" is "c". */
export function languageOf(path: string): string {
  const name = path.split('/').at(-1) ?? '';
  return name.includes('.') ? (name.split('.').at(-1) ?? '') : name;
}
