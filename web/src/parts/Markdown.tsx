// A small part of Markdown, as elements and never as HTML: what a message holds stays text.
import type { ComponentChild } from 'preact';
import { readDiff } from '../state/diff';
import { Code } from './Code';
import { Diff } from './Diff';
import { Characters } from './Exact';

interface Span {
  pattern: RegExp;
  draw: (match: RegExpExecArray) => ComponentChild;
}

const LINK = /^https?:\/\//i;

function Link({ url, text }: { url: string; text: string }) {
  if (!LINK.test(url)) return <>{text}</>;
  return (
    <a href={url} target="_blank" rel="noopener noreferrer nofollow">
      {text}
    </a>
  );
}

/** The earliest match wins; of two at the same place, the upper one. */
const SPANS: readonly Span[] = [
  { pattern: /`([^`\n]+)`/, draw: (match) => <code>{<Characters text={match[1] as string} isOneLine />}</code> },
  {
    pattern: /\[([^\]\n]{1,300})\]\(([^)\s]{1,2000})\)/,
    draw: (match) => <Link url={match[2] as string} text={match[1] as string} />,
  },
  { pattern: /https?:\/\/[^\s<>()"'`]+[^\s<>()"'`.,;:!?]/i, draw: (match) => <Link url={match[0]} text={match[0]} /> },
  { pattern: /~~([^~\n]+)~~/, draw: (match) => <del>{inline(match[1] as string)}</del> },
  { pattern: /\*\*([^*\n]+)\*\*/, draw: (match) => <strong>{inline(match[1] as string)}</strong> },
  { pattern: /(?<![\w*])\*([^*\s][^*\n]*)\*(?![\w*])/, draw: (match) => <em>{inline(match[1] as string)}</em> },
  { pattern: /(?<![\w_])_([^_\s][^_\n]*)_(?![\w_])/, draw: (match) => <em>{inline(match[1] as string)}</em> },
];

function inline(text: string): ComponentChild[] {
  const out: ComponentChild[] = [];
  let rest = text;
  while (rest) {
    const found = SPANS.map((span) => ({ span, match: span.pattern.exec(rest) }))
      .filter((one): one is { span: Span; match: RegExpExecArray } => one.match !== null)
      .reduce<{ span: Span; match: RegExpExecArray } | null>(
        (best, one) => (!best || one.match.index < best.match.index ? one : best),
        null,
      );
    if (!found) break;
    out.push(rest.slice(0, found.match.index), found.span.draw(found.match));
    rest = rest.slice(found.match.index + found.match[0].length);
  }
  out.push(rest);
  return out;
}

const HEADING = /^(#{1,6})\s+(.*)$/;
const ITEM = /^(\s*)(?:[-*+]|(\d+)[.)])\s+(.*)$/;
const QUOTE = /^>\s?(.*)$/;
const FENCE = /^\s*(```+|~~~+)\s*([\w+.#-]*)/;
const RULE = /^\s*([-*_])(\s*\1){2,}\s*$/;
const TABLE_LINE = /^\|?:?-+:?(\|:?-+:?)*\|?$/; // without its spaces
const DEPTH_MAX = 12; // of lists in lists; below, lines are text

/** Takes lines from the front as long as they fit. */
function takeWhile(lines: string[], fits: (line: string) => boolean): string[] {
  const end = lines.findIndex((line) => !fits(line));
  return lines.splice(0, end < 0 ? lines.length : end);
}

function takeFence(lines: string[]): ComponentChild {
  const [, mark = '```', name = ''] = FENCE.exec(lines.shift() as string) ?? [];
  const body = takeWhile(lines, (line) => !line.trimStart().startsWith(mark)).join('\n');
  lines.shift();
  const diff = name === 'diff' || name === 'patch' ? readDiff(body) : null;
  return diff ? <Diff lines={diff} name={name} /> : <Code text={body} name={name} />;
}

// --- lists ---

const indentOf = (line: string): number => line.length - line.trimStart().length;
const BOXES: Record<string, string> = { '[ ] ': '☐ ', '[x] ': '☑ ', '[X] ': '☑ ' };

/** The first line of an item, and what is indented below it. */
function takeItem(lines: string[], indent: number, depth: number): ComponentChild {
  const said = ITEM.exec(lines.shift() as string)?.[3] ?? '';
  const box = BOXES[said.slice(0, 4)];
  const below = takeWhile(lines, (line) => Boolean(line.trim()) && indentOf(line) > indent);
  const inner = Math.min(...below.map(indentOf));
  return (
    <li dir="auto">
      {inline(box ? box + said.slice(4) : said)}
      {below.length > 0 &&
        blocksOf(
          below.map((line) => line.slice(inner)),
          depth + 1,
        )}
    </li>
  );
}

function takeList(lines: string[], depth: number): ComponentChild {
  const [, space = '', number] = ITEM.exec(lines[0] as string) ?? [];
  const items: ComponentChild[] = [];
  for (;;) {
    const [, here, count] = ITEM.exec(lines[0] ?? '') ?? [];
    if (here === undefined || here.length < space.length || Boolean(count) !== Boolean(number)) break;
    items.push(takeItem(lines, here.length, depth));
    // Items may stand apart.
    const next = lines.findIndex((line) => line.trim());
    if (next > 0 && ITEM.test(lines[next] as string)) lines.splice(0, next);
  }
  return number ? <ol start={Number(number)}>{items}</ol> : <ul>{items}</ul>;
}

// --- tables ---

const isTable = (lines: string[], at = 0): boolean =>
  Boolean(lines[at]?.includes('|') && lines[at + 1]?.includes('|')) &&
  TABLE_LINE.test((lines[at + 1] as string).replaceAll(' ', ''));

function cellsOf(line: string): string[] {
  const bare = line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '');
  return bare.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
}

function alignOf(mark: string): string {
  if (!mark.endsWith(':')) return 'start';
  return mark.startsWith(':') ? 'center' : 'end';
}

function takeTable(lines: string[]): ComponentChild {
  const [head, marks] = lines.splice(0, 2).map(cellsOf) as [string[], string[]];
  const rows = takeWhile(lines, (line) => line.includes('|') && Boolean(line.trim())).map(cellsOf);
  const style = head.map((_, column) => ({ textAlign: alignOf(marks[column] ?? '') }));
  return (
    <div class="table" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>
            {head.map((cell, column) => (
              <th key={column} scope="col" dir="auto" style={style[column]}>
                {inline(cell)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {head.map((_, column) => (
                <td key={column} dir="auto" style={style[column]}>
                  {inline(row[column] ?? '')}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

// --- blocks ---

function isText(line: string): boolean {
  return Boolean(line.trim()) && ![HEADING, ITEM, QUOTE, FENCE].some((start) => start.test(line));
}

function Heading({ level, text }: { level: number; text: string }) {
  const Tag = level === 1 ? 'h2' : level === 2 ? 'h3' : 'h4';
  return <Tag dir="auto">{inline(text)}</Tag>;
}

function takeText(lines: string[]): ComponentChild {
  const end = lines.findIndex((line, at) => at > 0 && (!isText(line) || isTable(lines, at)));
  const text = lines.splice(0, end < 0 ? lines.length : end).join('\n');
  return <p dir="auto">{inline(text)}</p>;
}

function takeBlock(lines: string[], depth: number): ComponentChild {
  const line = lines[0] as string;
  if (FENCE.test(line)) return takeFence(lines);
  const heading = HEADING.exec(line);
  if (heading || RULE.test(line)) {
    lines.shift();
    return heading ? <Heading level={heading[1]?.length ?? 1} text={heading[2] as string} /> : <hr />;
  }
  if (isTable(lines)) return takeTable(lines);
  if (ITEM.test(line) && depth < DEPTH_MAX) return takeList(lines, depth);
  if (QUOTE.test(line)) {
    const quoted = takeWhile(lines, (one) => QUOTE.test(one)).map((one) => QUOTE.exec(one)?.[1] ?? '');
    return <blockquote dir="auto">{inline(quoted.join('\n'))}</blockquote>;
  }
  return takeText(lines);
}

function blocksOf(lines: string[], depth = 0): ComponentChild[] {
  const blocks: ComponentChild[] = [];
  for (;;) {
    takeWhile(lines, (line) => !line.trim());
    if (lines.length === 0) break;
    blocks.push(takeBlock(lines, depth));
  }
  return blocks;
}

export function Markdown({ text }: { text: string }) {
  return <div class="markdown">{blocksOf(text.replace(/\r\n?/g, '\n').split('\n'))}</div>;
}
