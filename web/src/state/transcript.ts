// From the log to what people read: messages, folded reasoning and tool calls, thin lines for everything else.
import { fileUrl } from '../api';
import { plural, pretty } from '../format';
import type { Ask, EventType, SessionEvent, Status } from '../types';
import { lineOf, type LineItem } from './lines';
import { isPart, type Part, parts, str, text, textOf } from './part';

/** What came beside the words of a message. */
export interface Attached {
  name: string;
  isPicture: boolean;
  url: string | null; // null: nothing that may be loaded
}

export type Item =
  | {
      kind: 'message';
      key: string;
      who: 'you' | 'agent';
      actor: string;
      at: string;
      text: string;
      attached: Attached[];
      isCut: boolean; // its turn ended in the middle of it
    }
  | { kind: 'reasoning'; key: string; at: string; text: string; tookMs: number }
  | { kind: 'tool'; key: string; at: string; tool: ToolCall }
  | { kind: 'ask'; key: string; at: string; ask: Ask; by: string }
  | LineItem;

export interface ToolCall {
  id: string;
  name: string;
  input: unknown;
  output: unknown;
  state: 'running' | 'asked' | 'done' | 'failed';
  tookMs: number | null;
}

/** What a message says, in words. */
export function saidIn(content: unknown[]): string {
  return content
    .filter(isPart)
    .map((part) => text(part['text']))
    .filter(Boolean)
    .join(' ');
}

/** Only pictures that came with the message: nothing is loaded from elsewhere. */
const INLINE_PICTURE = /^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$/;

const HANDLE = /^blob:[0-9a-f]{64}$/;
const SHOWN_TYPE = /^image\/(png|jpeg|gif|webp|avif)$/;

export const isPicture = (mediaType: string): boolean => SHOWN_TYPE.test(mediaType);

function attachedOf(event: SessionEvent): Attached[] {
  const beside = event.metadata['attachments'];
  const all = [...parts(event), ...(Array.isArray(beside) ? beside.filter(isPart) : [])];
  return all.flatMap((part) => {
    if (part['type'] !== 'file' && part['type'] !== 'image') return [];
    const type = text(part['mediaType']) || text(part['media_type']);
    const name = text(part['filename']) || text(part['name']) || type || String(part['type']);
    const handle = text(part['handle']);
    if (HANDLE.test(handle)) {
      const shown = isPicture(type) || (part['type'] === 'image' && !type);
      return [{ name, isPicture: shown, url: fileUrl(event.session_id, handle) }];
    }
    const url = text(part['url']) || text(part['image']) || text(part['data']);
    const isInline = INLINE_PICTURE.test(url);
    return [{ name, isPicture: isInline, url: isInline ? url : null }];
  });
}

function pick(sources: Part[], names: string[]): unknown {
  for (const source of sources) {
    for (const name of names) {
      if (source[name] !== undefined && source[name] !== null) return source[name];
    }
  }
  return undefined;
}

const ID_NAMES = ['tool_call_id', 'toolCallId', 'tool_use_id', 'call_id', 'id', 'invocation_id', 'invocationId'];
const NAME_NAMES = ['tool_name', 'toolName', 'tool', 'name'];
const INPUT_NAMES = ['input', 'args', 'arguments'];
const OUTPUT_NAMES = ['output', 'result', 'content', 'text', 'error'];

function sources(event: SessionEvent): Part[] {
  return [...parts(event), event.metadata];
}

function isFailed(event: SessionEvent): boolean {
  const flag = pick(sources(event), ['is_error', 'isError']);
  return flag === true || event.type === 'tool.invocation_failed';
}

// --- items ---

const CALLS = new Set<EventType>(['agent.tool_call', 'tool.invocation_started']);
const RESULTS = new Set<EventType>([
  'agent.tool_result',
  'user.tool_result',
  'tool.invocation_completed',
  'tool.invocation_failed',
]);
/** Said already by what stands beside it. */
const SILENT = new Set<EventType>([
  'session.claimed',
  'session.completed',
  'prompt.queued',
  'ask.resumed',
  'ask.voted',
  'user.output_approval',
]);

/** Moves that the message, the ask or the end of the turn beside them says better. */
function isSilent(event: SessionEvent, before: EventType | ''): boolean {
  if (event.type === 'session.waiting_approval') return before === 'session.child_waiting';
  if (event.type !== 'session.status_change') return SILENT.has(event.type);
  const { to, reason } = event.metadata;
  const isPrompted = to === ('pending' satisfies Status) && reason === 'prompt';
  const isOfAsk = before.startsWith('ask.') || before === 'user.output_approval';
  return isPrompted || isOfAsk || (to === ('idle' satisfies Status) && before === 'turn.ended');
}

const ASK_ENDS: Partial<Record<EventType, Ask['state']>> = {
  'ask.answered': 'answered',
  'ask.expired': 'expired',
  'ask.cancelled': 'cancelled',
};

class Builder {
  readonly items: Item[] = [];
  private beforeMs = 0; // when the event before came
  private before: EventType | '' = ''; // its type
  private prompt: (Item & { kind: 'message' }) | null = null; // what the session was created with
  private readonly asks = new Map<string, Item & { kind: 'ask' }>();
  private readonly calls = new Map<string, Item & { kind: 'tool' }>();

  add(event: SessionEvent): void {
    this.addKind(event);
    this.beforeMs = Date.parse(event.created_at);
    this.before = event.type;
  }

  private addKind(event: SessionEvent): void {
    if (event.type === 'user.message' || event.type === 'agent.message') this.addMessage(event);
    else if (event.type === 'agent.thinking') this.addReasoning(event);
    else if (CALLS.has(event.type)) this.addCall(event);
    else if (RESULTS.has(event.type)) this.addResult(event);
    else if (event.type === 'session.created') this.addCreated(event);
    else if (event.type === 'ask.requested') this.addAsk(event);
    else if (ASK_ENDS[event.type]) this.endAsk(event);
    else if (!isSilent(event, this.before)) this.items.push(lineOf(event));
  }

  private addMessage(event: SessionEvent): void {
    const who = event.type === 'user.message' ? 'you' : 'agent';
    const reasoning = parts(event)
      .filter((part) => part['type'] === 'reasoning')
      .map((part) => text(part['text']));
    const said = parts(event)
      .filter((part) => part['type'] === 'text')
      .map((part) => text(part['text']));
    const head = { at: event.created_at, key: `${event.sequence}` };
    if (reasoning.length) this.pushReasoning(event, `${head.key}r`, reasoning.join('\n\n'));
    if (this.prompt && who === 'you') this.dropPrompt(said.join('\n\n'));
    const isCut = event.metadata['partial'] === true;
    const message = {
      who,
      actor: event.actor ?? '',
      text: said.join('\n\n'),
      attached: attachedOf(event),
      isCut,
    } as const;
    this.items.push({ kind: 'message', ...head, ...message });
    for (const part of parts(event)) {
      if (part['type'] === 'tool-call' || part['type'] === 'tool_use') this.addCall({ ...event, content: [part] });
    }
  }

  /** The message that a session begins with stands in the log on its own as well. */
  private dropPrompt(said: string): void {
    const at = this.prompt?.text === said ? this.items.indexOf(this.prompt) : -1;
    if (at >= 0) this.items.splice(at, 1);
    this.prompt = null;
  }

  private addReasoning(event: SessionEvent): void {
    this.pushReasoning(event, `${event.sequence}`, textOf(event) || str(event.metadata['text']));
  }

  private pushReasoning(event: SessionEvent, key: string, said: string): void {
    const tookMs = this.beforeMs ? Date.parse(event.created_at) - this.beforeMs : 0;
    this.items.push({ kind: 'reasoning', key, at: event.created_at, text: said, tookMs });
  }

  private addCall(event: SessionEvent): void {
    const from = sources(event);
    const id = str(pick(from, ID_NAMES)) || `#${event.sequence}`;
    const tool: ToolCall = {
      id,
      name: str(pick(from, NAME_NAMES)) || 'tool',
      input: pick(from, INPUT_NAMES),
      output: undefined,
      state: 'running',
      tookMs: null,
    };
    const item = { kind: 'tool', key: `${event.sequence}:${id}`, at: event.created_at, tool } as const;
    this.calls.set(id, item);
    this.items.push(item);
  }

  private addResult(event: SessionEvent): void {
    const from = sources(event);
    const call = this.calls.get(str(pick(from, ID_NAMES))) ?? this.lastRunning();
    const output = pick(from, OUTPUT_NAMES);
    if (!call) {
      this.items.push(lineOf(event));
      return;
    }
    call.tool.output = output;
    call.tool.state = isFailed(event) ? 'failed' : 'done';
    call.tool.tookMs = Date.parse(event.created_at) - Date.parse(call.at);
  }

  private lastRunning(): (Item & { kind: 'tool' }) | undefined {
    return [...this.calls.values()]
      .reverse()
      .find((call) => call.tool.state === 'running' || call.tool.state === 'asked');
  }

  private addAsk(event: SessionEvent): void {
    const ask = { ...(event.metadata['ask'] as Ask), session_id: event.session_id };
    const item = { kind: 'ask', key: `${event.sequence}`, at: event.created_at, ask, by: '' } as const;
    this.asks.set(ask.id, item);
    this.mark(ask, 'asked');
    this.items.push(item);
  }

  /** A call that waits for a person does not run. */
  private mark(ask: Ask, state: 'asked' | 'running'): void {
    const call = ask.call_id ? this.calls.get(ask.call_id) : undefined;
    if (call && (call.tool.state === 'running' || call.tool.state === 'asked')) call.tool.state = state;
  }

  private endAsk(event: SessionEvent): void {
    const item = this.asks.get(str(event.metadata['id']));
    if (!item) {
      this.items.push(lineOf(event));
      return;
    }
    const { decision, answer, reason, by } = event.metadata as Partial<Ask> & { by?: string };
    item.by = by ?? '';
    this.mark(item.ask, 'running');
    item.ask = { ...item.ask, state: ASK_ENDS[event.type] ?? 'answered' };
    Object.assign(item.ask, decision && { decision }, answer !== undefined && { answer }, reason && { reason });
  }

  /** What the session began with is a message like any other. */
  private addCreated(event: SessionEvent): void {
    this.items.push(lineOf(event));
    const prompt = str(event.metadata['prompt']);
    if (!prompt) return;
    const head = { key: `${event.sequence}p`, at: event.created_at, actor: event.actor ?? '' };
    this.prompt = { kind: 'message', ...head, who: 'you', text: prompt, attached: [], isCut: false };
    this.items.push(this.prompt);
  }
}

/** Of what is asked at this moment only `isShown` decides whether it stands among the rest. */
export function transcript(events: SessionEvent[], isShown: (ask: Ask) => boolean = () => true): Item[] {
  const builder = new Builder();
  for (const event of events) builder.add(event);
  return builder.items.filter((item) => item.kind !== 'ask' || item.ask.state !== 'pending' || isShown(item.ask));
}

// --- for the row of a tool call ---

/** The argument that says most, as it is. */
export function gist(input: unknown): string {
  if (typeof input === 'string') return input;
  if (!isPart(input)) return '';
  const telling = pick([input], ['command', 'cmd', 'path', 'file_path', 'file', 'url', 'query', 'pattern', 'q']);
  if (telling !== undefined) return pretty(telling);
  const all = Object.entries(input).map(([name, value]) => `${name}: ${pretty(value)}`);
  return all.join(', ');
}

/** The file a tool is called with. */
export function pathOf(input: unknown): string {
  return isPart(input) ? str(pick([input], ['path', 'file_path', 'file'])) : '';
}

/** A tool's output as text: parts of text are joined, everything else is JSON. */
export function outputText(output: unknown): string {
  if (Array.isArray(output) && output.every((part) => isPart(part) && typeof part['text'] === 'string')) {
    return output.map((part) => (part as Part)['text'] as string).join('\n');
  }
  if (isPart(output) && typeof output['value'] === 'string' && output['type'] === 'text') return output['value'];
  return output === undefined ? '' : pretty(output);
}

export function linesWord(content: string): string {
  return plural(content.split('\n').length, 'line');
}
