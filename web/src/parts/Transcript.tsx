// What was said and done, in order. The end is followed as long as the reader is there.
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { bytes, clock, duration, exact, pretty } from '../format';
import type { Partial, Sending } from '../state/open';
import { type Attached, gist, type Item, outputText, pathOf, type ToolCall, transcript } from '../state/transcript';
import type { Ask, SessionEvent } from '../types';
import { readDiff } from '../state/diff';
import { languageOf } from '../state/highlight';
import { Arguments } from './Arguments';
import { AskAgain } from './AskAgain';
import { outcomeOf } from './outcome';
import { Diff } from './Diff';
import { Code } from './Code';
import { Characters, Exact } from './Exact';
import { Markdown } from './Markdown';
import { memo } from './memo';
import { useName } from './name';

const LONG = 4000; // characters of output shown before "more"
const GIST = 160; // characters of a call in its row; opened, it shows everything

function Long({ text, name, language }: { text: string; name: string; language: string }) {
  const [isWhole, setWhole] = useState(false);
  const isCut = text.length > LONG && !isWhole;
  return (
    <>
      <Code text={isCut ? text.slice(0, LONG) : text} name={name} language={language} />
      {isCut && (
        <button class="quiet more" onClick={() => setWhole(true)}>
          show all {bytes(text.length)}
        </button>
      )}
    </>
  );
}

function Output({ text, language }: { text: string; language: string }) {
  const lines = readDiff(text);
  return lines ? <Diff lines={lines} name="output" /> : <Long text={text} name="output" language={language} />;
}

const TOOL_WORDS = {
  running: { mark: '…', word: 'running' },
  asked: { mark: '?', word: 'waits for a person' },
  done: { mark: '✓', word: 'done' },
  failed: { mark: '✗', word: 'failed' },
};

function Tool({ tool }: { tool: ToolCall }) {
  const output = outputText(tool.output);
  const { mark, word } = TOOL_WORDS[tool.state];
  return (
    <details class={`fold tool is-${tool.state}`}>
      <summary>
        <span class="tool-name">
          <Exact text={tool.name} isOneLine canOpen={false} />
        </span>
        <span class="tool-gist">
          <Exact text={gist(tool.input)} isOneLine most={GIST} canOpen={false} />
        </span>
        <span class="tool-figures">
          {output && <span>{bytes(output.length)}</span>}
          {tool.tookMs !== null && <span>{duration(tool.tookMs)}</span>}
          <span class="tool-state" title={word}>
            {mark}
          </span>
        </span>
      </summary>
      {tool.input !== undefined && <Arguments value={tool.input} />}
      {output ? (
        <Output text={output} language={typeof tool.output === 'string' ? languageOf(pathOf(tool.input)) : 'json'} />
      ) : (
        tool.state !== 'running' && tool.state !== 'asked' && <p class="muted">No output.</p>
      )}
    </details>
  );
}

function Reasoning({ text, tookMs = 0, isLive = false }: { text: string; tookMs?: number; isLive?: boolean }) {
  const word = tookMs >= 500 ? `thought for ${duration(tookMs)}` : 'thought';
  return (
    <details class="fold reasoning">
      <summary title={bytes(text.length)}>{isLive ? 'thinking…' : word}</summary>
      <Markdown text={text} />
    </details>
  );
}

const ASK_TONES = { pending: 'orange', answered: 'green', expired: 'grey', cancelled: 'grey' };

function AskLine({ item }: { item: Item & { kind: 'ask' } }) {
  const name = useName()(item.by);
  const tone = item.ask.decision === 'deny' ? 'red' : ASK_TONES[item.ask.state];
  return (
    <details class="line ask-line">
      <summary>
        <span>
          <Exact text={item.ask.text} isProse isOneLine most={GIST} canOpen={false} /> ·{' '}
          <span class={`tone-${tone}`}>{outcomeOf(item.ask)}</span>
          {name && ` by ${name}`}
        </span>
        <AskAgain ask={item.ask} />
        <time title={exact(item.at)}>{clock(item.at)}</time>
      </summary>
      <Code text={pretty(item.ask)} name={`ask ${item.ask.id}`} language="json" />
    </details>
  );
}

function Line({ item }: { item: Item & { kind: 'line' } }) {
  return (
    <details class="line">
      <summary>
        <span class={item.tone ? `tone-${item.tone}` : ''}>
          <Characters text={item.text} isOneLine />
        </span>
        <time title={exact(item.at)}>{clock(item.at)}</time>
      </summary>
      <Code text={pretty(item.event)} name={`event ${item.event.sequence}`} language="json" />
    </details>
  );
}

function Who({ who, at, actor }: { who: 'you' | 'agent'; at: string; actor?: string }) {
  const nameOf = useName();
  const name = who === 'agent' ? 'agent' : nameOf(actor ?? '') || 'someone';
  return (
    <div class={`who who-${who}`}>
      {name} <time title={exact(at)}>{clock(at)}</time>
    </div>
  );
}

function AttachedList({ all }: { all: Attached[] }) {
  return (
    <div class="attached">
      {all.map((one, index) => {
        if (!one.url)
          return (
            <span key={index} class="chip">
              {one.name}
            </span>
          );
        return (
          <a key={index} href={one.url} download={one.name} title={`Download ${one.name}`}>
            {one.isPicture ? (
              <img class="picture" src={one.url} alt={one.name} loading="lazy" />
            ) : (
              <span class="chip">{one.name}</span>
            )}
          </a>
        );
      })}
    </div>
  );
}

const ItemOf = memo(({ item, isFirst }: { item: Item; isFirst: boolean }) => {
  switch (item.kind) {
    case 'line':
      return <Line item={item} />;
    case 'ask':
      return <AskLine item={item} />;
    case 'message':
      return (
        <article class={`message from-${item.who}`}>
          {isFirst && <Who who={item.who} at={item.at} actor={item.actor} />}
          <Markdown text={item.text} />
          {item.isCut && <p class="cut-here tone-amber">incomplete: the turn ended here</p>}
          {item.attached.length > 0 && <AttachedList all={item.attached} />}
        </article>
      );
    case 'reasoning':
    case 'tool':
      return (
        <div class="step">
          {isFirst && <Who who="agent" at={item.at} />}
          {item.kind === 'tool' ? <Tool tool={item.tool} /> : <Reasoning text={item.text} tookMs={item.tookMs} />}
        </div>
      );
  }
});

const speaker = (item: Item | undefined): string => {
  if (!item || item.kind === 'line' || item.kind === 'ask') return '';
  return item.kind === 'message' ? `${item.who}${item.who === 'you' ? item.actor : ''}` : 'agent';
};

const LIVE_WORDS = { tool_input: 'preparing a tool call', tool_output: 'tool output' } as const;

function Live({ partial }: { partial: Partial }) {
  if (partial.kind === 'text') return <Markdown text={partial.text} />;
  if (partial.kind === 'reasoning') return <Reasoning text={partial.text} isLive />;
  return <Code text={partial.text.slice(-LONG)} name={LIVE_WORDS[partial.kind]} />;
}

const NO_PARTIALS: Partial[] = [];
const NOTHING_SENT: Sending[] = [];
const NOTHING_ASKED: Ask[] = [];

interface Props {
  events: SessionEvent[];
  partials?: Partial[];
  sending?: Sending[];
  hasOlder?: boolean;
  onOlder?: () => void;
  onAgain?: (message: Sending) => void;
  onDrop?: (message: Sending) => void;
  /** Shown by the children, and so not once more as a line. */
  asked?: Ask[];
  /** Stands behind what was said last. */
  children?: ComponentChildren;
}

function Unsent({ message, onAgain, onDrop }: { message: Sending } & Pick<Props, 'onAgain' | 'onDrop'>) {
  return (
    <article class="message from-you is-sending">
      <div class="who">{message.problem ? 'not sent' : 'sending…'}</div>
      <Markdown text={message.text} />
      {message.files.map((file) => (
        <span key={file.handle} class="chip">
          {file.name ?? file.media_type}
        </span>
      ))}
      {message.problem && (
        <p class="problem-line">
          {message.problem.message} The text is kept here.
          <button class="quiet" onClick={() => onAgain?.(message)}>
            Send again
          </button>
          <button class="quiet" onClick={() => onDrop?.(message)}>
            Discard
          </button>
        </p>
      )}
    </article>
  );
}

/** Follows the end, and goes there when something is sent; keeps the place when older events come in above. */
function useScroll(events: SessionEvent[], partials: Partial[], sending: Sending[], behind: unknown) {
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const height = useRef(0);
  const first = useRef(0);
  const sent = useRef(0);
  const top = useRef(0);
  useLayoutEffect(() => {
    const node = box.current as HTMLDivElement;
    const isPrepended = first.current > 0 && (events[0]?.sequence ?? 0) < first.current;
    if (sending.length > sent.current) isAtEnd.current = true;
    if (isAtEnd.current) node.scrollTop = node.scrollHeight;
    else if (isPrepended) node.scrollTop += node.scrollHeight - height.current;
    first.current = events[0]?.sequence ?? 0;
    sent.current = sending.length;
    height.current = node.scrollHeight;
  }, [events, partials, sending, behind]);
  useEffect(() => {
    const node = box.current as HTMLDivElement;
    const observer = new ResizeObserver(() => {
      if (isAtEnd.current) node.scrollTop = node.scrollHeight;
    });
    observer.observe(node);
    return () => observer.disconnect();
  }, []);
  const onScroll = (): void => {
    const node = box.current as HTMLDivElement;
    const isNear = node.scrollHeight - node.scrollTop - node.clientHeight < 40;
    // Growing text moves the end away; only the reader moves up.
    if (isNear || node.scrollTop < top.current) isAtEnd.current = isNear;
    top.current = node.scrollTop;
  };
  return { box, onScroll };
}

export function Transcript({
  events,
  partials = NO_PARTIALS,
  sending = NOTHING_SENT,
  hasOlder = false,
  onOlder,
  onAgain,
  onDrop,
  asked = NOTHING_ASKED,
  children,
}: Props) {
  const items = useMemo(() => transcript(events, (ask) => !asked.some((one) => one.id === ask.id)), [events, asked]);
  const { box, onScroll } = useScroll(events, partials, sending, children);
  const top = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!hasOlder || !top.current) return;
    const observer = new IntersectionObserver(
      (entries) => entries.some((entry) => entry.isIntersecting) && onOlder?.(),
      { root: box.current, rootMargin: '600px' },
    );
    observer.observe(top.current);
    return () => observer.disconnect();
  }, [hasOlder, onOlder, events]);
  return (
    <div class="transcript" ref={box} onScroll={onScroll} tabIndex={0} aria-label="Transcript">
      <div class="transcript-in">
        {hasOlder && (
          <div class="older" ref={top}>
            loading earlier messages…
          </div>
        )}
        {items.map((item, index) => (
          <ItemOf key={item.key} item={item} isFirst={speaker(items[index - 1]) !== speaker(item)} />
        ))}
        {partials.length > 0 && (
          <article class="message from-agent is-live" aria-live="off">
            {speaker(items.at(-1)) !== 'agent' && <div class="who who-agent">agent</div>}
            {partials.map((partial) => (
              <Live key={partial.kind + partial.group} partial={partial} />
            ))}
          </article>
        )}
        {children}
        {sending.map((message) => (
          <Unsent key={message.key} message={message} {...(onAgain && { onAgain })} {...(onDrop && { onDrop })} />
        ))}
      </div>
    </div>
  );
}
