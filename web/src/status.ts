// The one table of what a session's state looks like: mark, colour and word always agree.
import { type DisplayStatus, type Session, STATES, type Status } from './types';

export type Tone = 'orange' | 'blue' | 'grey' | 'amber' | 'red' | 'violet' | 'green';
export type Mark = 'dot' | 'pulse' | 'hollow' | 'bars' | 'lock' | 'ring' | 'check' | 'cross' | 'dash';

export interface Look {
  word: string;
  mark: Mark;
  tone: Tone;
}

/** The server's words, and those that its state says more precisely. */
export type Display = DisplayStatus | 'needs_you' | 'queued' | 'stopped' | 'expired' | 'abandoned';

const LOOKS: Record<Display, Look> = {
  needs_you: { word: 'Needs you', mark: 'dot', tone: 'orange' },
  active: { word: 'Active', mark: 'pulse', tone: 'blue' },
  queued: { word: 'Queued', mark: 'hollow', tone: 'blue' },
  idle: { word: 'Idle', mark: 'hollow', tone: 'grey' },
  paused: { word: 'Paused', mark: 'bars', tone: 'amber' },
  blocked: { word: 'Blocked', mark: 'lock', tone: 'red' },
  recovering: { word: 'Recovering', mark: 'ring', tone: 'violet' },
  completed: { word: 'Completed', mark: 'check', tone: 'green' },
  stopped: { word: 'Stopped', mark: 'dash', tone: 'grey' },
  failed: { word: 'Failed', mark: 'cross', tone: 'red' },
  expired: { word: 'Expired', mark: 'dash', tone: 'grey' },
  abandoned: { word: 'Abandoned', mark: 'dash', tone: 'grey' },
};

/** Where the server's display status leaves open what its state says more precisely. */
const REFINED: Partial<Record<`${DisplayStatus}/${Status}`, Display>> = {
  'blocked/waiting_human': 'needs_you',
  'blocked/awaiting_tool': 'needs_you',
  'active/pending': 'queued',
  'completed/abandoned': 'stopped',
  'failed/expired': 'expired',
  'failed/abandoned': 'abandoned',
};

export function displayOf(session: Pick<Session, 'display_status' | 'status'>): Display {
  return REFINED[`${session.display_status}/${session.status}`] ?? session.display_status;
}

export function lookOf(session: Pick<Session, 'display_status' | 'status'>): Look {
  return LOOKS[displayOf(session)];
}

/** The reason, where it says more than the word beside it. */
export function reasonBeside(session: Pick<Session, 'display_status' | 'status' | 'display_reason'>): string {
  return session.display_reason === lookOf(session).word.toLowerCase() ? '' : session.display_reason;
}

const isStatus = (text: string): text is Status => text in STATES;

/** Of a status alone, as it stands in the log. */
export function lookOfState(status: string): Look {
  return isStatus(status) ? lookOf({ ...STATES[status], status }) : LOOKS.idle;
}

export function isEnded(status: Status): boolean {
  return STATES[status].ended;
}

// --- tabs of lists ---

export interface Tab {
  name: string;
  word: string;
  display: DisplayStatus | null;
  isCounted: boolean; // how many there are says what to do
}

export const TABS: readonly Tab[] = [
  { name: 'all', word: 'All', display: null, isCounted: false },
  { name: 'needs-you', word: 'Needs you', display: 'blocked', isCounted: true },
  { name: 'active', word: 'Active', display: 'active', isCounted: true },
  { name: 'idle', word: 'Idle', display: 'idle', isCounted: true },
  { name: 'done', word: 'Done', display: 'completed', isCounted: false },
  { name: 'failed', word: 'Failed', display: 'failed', isCounted: true },
];

export function tabOf(name: string): Tab {
  return TABS.find((tab) => tab.name === name) ?? (TABS[0] as Tab);
}
