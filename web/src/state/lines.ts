// What stands in a transcript as a thin line: events that are neither said nor done, in words.
import { dollars, firstLine, microcents, plural, usdOf } from '../format';
import { lookOfState, type Tone } from '../status';
import type { EventType, SessionEvent, TurnStopReason } from '../types';
import { isPart, type Part, str, textOf } from './part';

export interface LineItem {
  kind: 'line';
  key: string;
  at: string;
  text: string;
  tone: Tone | null;
  event: SessionEvent;
}

type Telling = (event: SessionEvent) => { text: string; tone?: Tone };

function tellStatus(event: SessionEvent): { text: string; tone: Tone } {
  const look = lookOfState(str(event.metadata['to']));
  const reason = str(event.metadata['reason']);
  return { text: reason ? `${look.word} · ${reason}` : look.word, tone: look.tone };
}

const END_WORDS: Record<TurnStopReason, { text: string; tone?: Tone }> = {
  stop: { text: 'Turn finished' },
  length: { text: 'Turn ended at the model’s output limit', tone: 'amber' },
  tool_use: { text: 'Turn ended: a tool runs elsewhere' },
  content_filter: { text: 'The provider refused to answer', tone: 'red' },
  error: { text: 'Turn failed', tone: 'red' },
  aborted: { text: 'Turn interrupted', tone: 'amber' },
};

function part(event: SessionEvent, name: string): Part {
  const value = event.metadata[name];
  return isPart(value) ? value : {};
}

/** How a turn ended, why, and what it used. */
function tellTurnEnd(event: SessionEvent): { text: string; tone?: Tone } {
  const end = END_WORDS[str(event.metadata['stop_reason']) as TurnStopReason] ?? { text: 'Turn ended' };
  const usage = part(event, 'usage');
  const tokens = Number(usage['input_tokens'] ?? 0) + Number(usage['output_tokens'] ?? 0);
  const usd = usdOf(usage);
  const said = [
    end.text,
    str(part(event, 'error')['message']) || str(event.metadata['cause']).replaceAll('_', ' '),
    tokens > 0 ? plural(tokens, 'token') : '',
    usd === null ? '' : dollars(usd),
  ];
  return { ...end, text: said.filter(Boolean).join(' · ') };
}

const modelOf = (event: SessionEvent, name: string): string => str(part(event, name)['model']) || 'another model';

function tellSwitch(event: SessionEvent): { text: string; tone: Tone } {
  const why = str(event.metadata['message']) || str(event.metadata['reason']);
  return { text: `Model switched from ${modelOf(event, 'from')} to ${modelOf(event, 'to')}: ${why}`, tone: 'amber' };
}

function tellRetry(event: SessionEvent): { text: string; tone: Tone } {
  const why = str(event.metadata['message']) || str(event.metadata['reason']);
  const seconds = Math.ceil(Number(event.metadata['after_ms'] ?? 0) / 1000);
  return { text: `The model is asked again in ${plural(seconds, 'second')}: ${why}`, tone: 'amber' };
}

function tellBudget(event: SessionEvent): { text: string; tone: Tone } {
  const [spent, most] = ['cost_microcents', 'cost_microcents_max'].map((name) => Number(event.metadata[name]));
  return { text: `Budget passed: ${microcents(spent ?? 0)} of ${microcents(most ?? 0)}`, tone: 'amber' };
}

const names = (value: unknown): string => (Array.isArray(value) ? value.map(str).join(', ') : '');

function tellFiles(event: SessionEvent): { text: string } {
  const files = event.metadata['files'];
  const paths = (Array.isArray(files) ? files : []).map((one) => (isPart(one) ? str(one['path']) : str(one)));
  const shown = paths.slice(0, 3).join(', ') + (paths.length > 3 ? ', …' : '');
  return { text: paths.length ? `${plural(paths.length, 'file')} changed: ${shown}` : 'Files changed' };
}

const SNAPSHOT_WORDS: Record<string, string> = {
  kept: 'it begins again from its last snapshot',
  lost: 'its last snapshot is lost, too',
  none: 'there was no snapshot of it',
};

function tellLost(event: SessionEvent): { text: string; tone: Tone } {
  const what = SNAPSHOT_WORDS[str(event.metadata['snapshot'])] ?? '';
  return { text: ['The sandbox was lost with its server', what].filter(Boolean).join(': '), tone: 'violet' };
}

const TELLINGS: Partial<Record<EventType, Telling>> = {
  'turn.ended': tellTurnEnd,
  'turn.interrupt_requested': (event) => ({
    text: event.metadata['reason'] === 'steer' ? 'Interrupted for another message' : 'Asked to end the turn',
    tone: 'amber',
  }),
  'turn.budget_warning': tellBudget,
  'model.retrying': tellRetry,
  'model.switched': tellSwitch,
  'context.compacted': (event) => ({
    text: `Earlier messages summarized: ${plural(Number(event.metadata['dropped_message_count'] ?? 0), 'message')}`,
  }),
  'context.trimmed': (event) => ({
    text: `Earlier messages were left out: ${plural(Number(event.metadata['dropped_message_count'] ?? 0), 'message')}`,
  }),
  'session.runtime_change': (event) => ({ text: `Sandbox ${str(event.metadata['to']) || 'changed'}` }),
  'prompt.interrupted': () => ({ text: 'Turn aborted; you can rerun the message', tone: 'violet' }),
  'prompt.edited': () => ({ text: 'A queued message was changed' }),
  'prompt.moved': () => ({ text: 'A queued message was moved' }),
  'prompt.withdrawn': () => ({ text: 'A queued message was withdrawn' }),
  'session.created': () => ({ text: 'Session created' }),
  'session.status_change': tellStatus,
  'session.claimed': (event) => ({ text: `Taken by ${str(event.metadata['worker']) || 'a worker'}` }),
  'session.released': () => ({ text: 'Given back' }),
  'session.lease_lost': () => ({ text: 'Its worker was lost', tone: 'violet' }),
  'session.completed': () => ({ text: 'Completed', tone: 'green' }),
  'session.error': (event) => ({ text: firstLine(str(event.metadata['message']) || 'Failed'), tone: 'red' }),
  'session.archived': () => ({ text: 'Archived' }),
  'session.unarchived': () => ({ text: 'Brought back from the archive' }),
  'session.reopened': () => ({ text: 'Reopened' }),
  'session.updated': (event) => {
    const title = str(event.metadata['title']);
    return { text: title ? `Renamed to “${title}”` : `Changed ${Object.keys(event.metadata).join(', ')}` };
  },
  'session.participant_added': () => ({ text: 'A participant joined' }),
  'session.participant_removed': () => ({ text: 'A participant left' }),
  'session.share_created': () => ({ text: 'Share link created' }),
  'session.share_deactivated': () => ({ text: 'Share link deactivated' }),
  'session.share_redeemed': () => ({ text: 'Share link used' }),
  'session.child_created': () => ({ text: 'Started a child session' }),
  'session.child_ended': (event) => ({ text: `A child session ended: ${str(event.metadata['status']) || 'done'}` }),
  'session.file_added': (event) => ({ text: `File added: ${str(event.metadata['name']) || 'without a name'}` }),
  'session.exported': () => ({ text: 'Exported as a workflow' }),
  'session.deleted': () => ({ text: 'Deleted', tone: 'red' }),
  'session.context_injected': () => ({ text: 'The agent’s memories were added' }),
  'session.tunnel_opened': (event) => ({ text: `Tunnel ${str(event.metadata['name'])} opened` }),
  'session.tunnel_closed': (event) => ({ text: `Tunnel ${str(event.metadata['name'])} closed` }),
  'external.files_changed': tellFiles,
  'agent.files_changed': tellFiles,
  'system.message': (event) => ({ text: firstLine(textOf(event)) || 'System message' }),
  'channel.bound': (event) => ({ text: `Bound to ${str(event.metadata['kind']) || 'a channel'}` }),
  'channel.unbound': (event) => ({ text: `No longer bound to ${str(event.metadata['kind']) || 'a channel'}` }),
  'channel.followup_due': () => ({ text: 'The channel still waits for an answer', tone: 'amber' }),
  'introspection.started': () => ({ text: 'The agent is reviewing the conversation' }),
  'introspection.tool_call': (event) => ({ text: `Introspection: ${str(event.metadata['tool']) || 'a tool'}` }),
  'introspection.tool_result': () => ({ text: 'Introspection: done' }),
  'introspection.ended': () => ({ text: 'The agent has reviewed the conversation' }),
  'introspection.failed': () => ({ text: 'Introspection failed', tone: 'amber' }),
  'introspection.interrupted': () => ({ text: 'Introspection interrupted by a message' }),
  'runner.connected': () => ({ text: 'Its runner connected', tone: 'green' }),
  'runner.disconnected': () => ({ text: 'Its runner disconnected', tone: 'amber' }),
  'runner.lost': () => ({ text: 'Its runner was lost', tone: 'violet' }),
  'runtime.disagreed': () => ({ text: 'The sandbox did not match the log', tone: 'violet' }),
  'watchdog.stuck_turn': () => ({ text: 'The turn was stuck and was ended', tone: 'violet' }),
  'watchdog.silent_stream': () => ({ text: 'The agent sent no output for too long', tone: 'violet' }),
  'watchdog.runner_lost': () => ({ text: 'The runner did not come back', tone: 'violet' }),
  'watchdog.queue_stuck': () => ({ text: 'Queued messages were stuck; they continue', tone: 'violet' }),
  'watchdog.error_safety_net': () => ({ text: 'A turn without an end was ended', tone: 'violet' }),
  'watchdog.orphaned_lease': () => ({ text: 'The lease holder was lost', tone: 'violet' }),
  'watchdog.waiting_without_ask': () => ({ text: 'It waited without a pending ask', tone: 'violet' }),
  'watchdog.stale': () => ({ text: 'Inactive for too long', tone: 'violet' }),
  'agent.silent': () => ({ text: 'The agent chose to say nothing' }),
  'runtime.lost': tellLost,
  'entity.updated': (event) => ({
    text: `Filled in ${names(event.metadata['fields'])} of ${str(event.metadata['entity_id'])}`,
    tone: 'green',
  }),
  'session.child_waiting': () => ({ text: 'A child session waits for a person', tone: 'orange' }),
  'session.child_decided': (event) => ({
    text: `A child session no longer waits for a person: ${str(event.metadata['state']) || 'over'}`,
  }),
  'session.waiting_approval': () => ({ text: 'Waits for approval', tone: 'orange' }),
};

export function lineOf(event: SessionEvent): LineItem {
  const telling = TELLINGS[event.type]?.(event) ?? { text: event.type };
  const said = TELLINGS[event.type] ? '' : firstLine(textOf(event));
  return {
    kind: 'line',
    key: `${event.sequence}`,
    at: event.created_at,
    text: said ? `${telling.text} · ${said}` : telling.text,
    tone: telling.tone ?? null,
    event,
  };
}
