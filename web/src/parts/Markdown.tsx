// A small part of Markdown, as elements and never as HTML: what a message holds stays text.
import type { ComponentChild } from 'preact';
import { Copy } from './Copy';

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
  { pattern: /`([^`\n]+)`/, draw: (match) => <code>{match[1]}</code> },
  {
    pattern: /\[([^\]\n]{1,300})\]\(([^)\s]{1,2000})\)/,
    draw: (match) => <Link url={match[2] as string} text={match[1] as string} />,
  },
  { pattern: /https?:\/\/[^\s<>()"'`]+[^\s<>()"'`.,;:!?]/i, draw: (match) => <Link url={match[0]} text={match[0]} /> },
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

export function Code({ text, name = '' }: { text: string; name?: string }) {
  return (
    <div class="code">
      <div class="code-head">
        <span>{name}</span>
        <Copy text={text} />
      </div>
      <pre>
        <code>{text}</code>
      </pre>
    </div>
  );
}

const HEADING = /^(#{1,6})\s+(.*)$/;
const ITEM = /^\s*(?:[-*+]|(\d+)[.)])\s+(.*)$/;
const QUOTE = /^>\s?(.*)$/;
const FENCE = /^\s*(```+|~~~+)\s*([\w+.#-]*)/;
const RULE = /^\s*([-*_])(\s*\1){2,}\s*$/;

/** Takes lines from the front as long as they fit. */
function takeWhile(lines: string[], fits: (line: string) => boolean): string[] {
  const end = lines.findIndex((line) => !fits(line));
  return lines.splice(0, end < 0 ? lines.length : end);
}

function takeFence(lines: string[]): ComponentChild {
  const [, mark = '```', name = ''] = FENCE.exec(lines.shift() as string) ?? [];
  const body = takeWhile(lines, (line) => !line.trimStart().startsWith(mark));
  lines.shift();
  return <Code text={body.join('\n')} name={name} />;
}

function takeList(lines: string[]): ComponentChild {
  const isNumbered = Boolean(ITEM.exec(lines[0] as string)?.[1]);
  const items = takeWhile(lines, (line) => ITEM.test(line)).map((line) => (
    <li>{inline(ITEM.exec(line)?.[2] ?? '')}</li>
  ));
  return isNumbered ? <ol>{items}</ol> : <ul>{items}</ul>;
}

function isText(line: string): boolean {
  return Boolean(line.trim()) && ![HEADING, ITEM, QUOTE, FENCE].some((start) => start.test(line));
}

function takeBlock(lines: string[]): ComponentChild {
  const line = lines[0] as string;
  if (FENCE.test(line)) return takeFence(lines);
  const heading = HEADING.exec(line);
  if (heading || RULE.test(line)) {
    lines.shift();
    return heading ? <h4>{inline(heading[2] as string)}</h4> : <hr />;
  }
  if (ITEM.test(line)) return takeList(lines);
  if (QUOTE.test(line)) {
    const quoted = takeWhile(lines, (one) => QUOTE.test(one)).map((one) => QUOTE.exec(one)?.[1] ?? '');
    return <blockquote>{inline(quoted.join('\n'))}</blockquote>;
  }
  const text = [lines.shift() as string, ...takeWhile(lines, isText)].join('\n');
  return <p>{inline(text)}</p>;
}

export function Markdown({ text }: { text: string }) {
  const lines = text.replace(/\r\n?/g, '\n').split('\n');
  const blocks: ComponentChild[] = [];
  for (;;) {
    takeWhile(lines, (line) => !line.trim());
    if (lines.length === 0) break;
    blocks.push(takeBlock(lines));
  }
  return <div class="markdown">{blocks}</div>;
}
