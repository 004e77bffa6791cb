// The shapes of the API that the dashboard uses; /api/openapi.json has the whole truth.

export interface Me {
  kind: string;
  actor: string;
  tenant_id: string;
  user_id: string | null;
  role: string | null;
  scopes: string[];
  csrf_token?: string;
}

export interface User {
  id: string;
  email: string;
  name: string | null;
  role: string;
  sign_in_secret?: string; // of a new one, once
}

export interface Token {
  id: string;
  name: string;
  kind: string;
  token?: string; // of a new one, once
  scopes: string[];
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
}

export interface Session {
  id: string;
  type: string;
  status: string;
  status_reason: string | null;
  stop_reason: string | null;
  pause_reason: string | null;
  display_status: string;
  display_reason: string;
  retryable: boolean;
  reopenable: boolean;
  runtime: string;
  words: { sandbox: string; kind: 'run' | 'chat' };
  agent: string | null;
  agent_version: number;
  driver: string;
  queue_mode: QueueMode;
  title: string | null;
  workspace: string | null;
  source: { kind: string | null; platform: string | null; interactive: boolean };
  visibility: string;
  parent_id: string | null;
  task_id: string | null;
  entity_id: string | null;
  metadata: Record<string, unknown>;
  retry_of: string | null;
  attempt: number;
  owner_id: string | null;
  usage: Record<string, unknown> | null;
  error: { code: string | null; message: string | null } | null;
  claim_attempts: number;
  last_sequence: number;
  message_count: number;
  tool_call_count: number;
  turn_count: number;
  preview: string | null;
  prompt_snippet: string | null;
  created_at: string;
  started_at: string | null;
  completed_at: string | null;
  last_active_at: string;
  queued_at: string | null;
  archived_at: string | null;
  expires_at: string | null;
  details?: Record<string, unknown>;
  agent_config?: Record<string, unknown> | null;
}

export interface SessionEvent {
  session_id: string;
  sequence: number;
  type: string;
  role: string;
  actor?: string;
  content: unknown[];
  metadata: Record<string, unknown>;
  thread_id?: string;
  external_event_id?: string;
  created_at: string;
}

export interface Delta {
  kind: 'text' | 'reasoning' | 'tool_input' | 'tool_output';
  text?: string;
  [member: string]: unknown;
}

export interface SessionPage {
  sessions: Session[];
  has_more: boolean;
  next_cursor: string | null;
}

export interface EventPage {
  events: SessionEvent[];
  has_more: boolean;
}

export interface Participant {
  user_id: string;
  name: string | null;
  email: string;
  role: string;
  added_at: string;
}

export interface ShareLink {
  id: string;
  token?: string;
  role: string;
  expires_at: string | null;
  max_uses: number | null;
  use_count: number;
  active: boolean;
  created_at: string;
}

export type QueueMode = 'followup' | 'steer' | 'collect' | 'reject';

/** A message that waits until the running turn is over. */
export interface Prompt {
  prompt_id: string;
  mode: QueueMode;
  position: number;
  actor: string;
  content: unknown[];
  created_at: string;
  revision: number;
  priority: number;
}

export interface Receipt {
  prompt_id: string;
  status: 'dispatched' | 'queued';
  sequence: number;
}

export type Decision = 'once' | 'session' | 'always' | 'deny';

/** What may be allowed with one answer: the words name all of it. */
export interface Grant {
  id: string;
  scope: 'once' | 'session' | 'always';
  subject: { tool?: string; command?: string; path?: string; host?: string };
  these_arguments?: true; // of the ask, exactly
  text: string;
}

/** What a turn wants to know from a person. */
export interface Ask {
  session_id: string;
  session_title: string | null;
  agent: string | null;
  parent_id: string | null;
  id: string;
  kind: 'approval' | 'question' | 'elicitation';
  state: 'pending' | 'answered' | 'expired' | 'cancelled';
  turn: number;
  text: string;
  tool?: string;
  call_id?: string;
  arguments?: Record<string, unknown>;
  editable?: boolean;
  options?: string[];
  schema?: Record<string, unknown>;
  details?: Record<string, unknown>;
  role: string;
  quorum: number;
  grants?: Grant[]; // narrowest first
  created_at: string;
  expires_at: string | null;
  votes?: { by: string; decision: Decision; at: string }[];
  decision?: Decision;
  answer?: unknown;
  reason?: string;
  answered_by?: string;
  answered_at?: string;
}

export interface AskPage {
  asks: Ask[];
  next_cursor: string | null;
}

/** What a person says to an ask. */
export interface Reply {
  decision?: Decision;
  answer?: unknown;
  reason?: string;
  these_arguments?: boolean;
  grant?: string;
}

/** A decision that stands: approvals of a tool that need nobody any more. */
export interface Rule {
  id: string;
  tool: string;
  agent: string | null;
  user_id: string | null;
  arguments: Record<string, unknown> | null;
  scope: 'session' | 'always';
  session_id: string | null;
  created_by: string | null;
  created_at: string;
}

export interface Agent {
  id: string;
  version: number;
  name: string | null;
  description: string | null;
  driver: string;
  provider: string | null;
  model: string | null;
  source: string;
  shared: boolean;
  created_at: string;
  created_by: string | null;
  definition?: Record<string, unknown>;
}

/** What a session waits for. */
export interface Explanation {
  waits_for: string;
  since: string | null;
  detail: string;
  unblocked_by?: { kind: string; name?: string | null; how: string | null }[];
  queue?: { length: number } | null;
  lease?: { worker: string; expires_at: string | null } | null;
  turn?: { number: number; since: string; last_activity_at: string | null } | null;
  children?: string[] | null;
  child_asks?: { session_id: string; id: string; text: string | null }[] | null;
  next_timer?: { kind: string; due_at: string } | null;
  last_watchdog?: { type: string; at: string } | null;
}

// --- work ---

export interface Step {
  id: string;
  name?: string;
  agent?: string;
  human?: boolean;
  prompt?: string;
  depends_on?: string[];
  output?: { fields?: Record<string, string>; required?: string[] };
  requires_approval?: boolean;
}

/** Work that is configured: each run of it makes a session per step. */
export interface Task {
  id: string;
  name: string;
  description: string | null;
  version: number;
  steps: Step[];
  created_at: string;
  updated_at: string;
  updated_by: string;
}

export interface TaskPage {
  tasks: Task[];
  has_more: boolean;
}

/** What work is about; outputs of tasks fill its fields. */
export interface Entity {
  id: string;
  type: string;
  fields: Record<string, unknown>;
  version: number;
  created_at: string;
  updated_at: string;
  updated_by: string;
}

export interface EntityPage {
  entities: Entity[];
  has_more: boolean;
  next_cursor: string | null;
}

export interface EntitySession {
  id: string;
  title: string | null;
  task_id: string | null;
  task_name: string | null;
  status: string;
  started_at: string | null;
  completed_at: string | null;
  duration_ms: number;
  error_message: string | null;
  child_count: number;
}

// --- files ---

export interface File {
  handle: string;
  name: string | null;
  media_type: string;
  bytes: number;
  url: string;
  added_by: string | null;
  created_at: string;
}

export interface ChangedFile {
  path: string;
  previous_path: string | null;
  status: 'added' | 'modified' | 'deleted' | 'renamed';
  additions: number;
  deletions: number;
  sequence: number;
  changed_at: string;
}

export interface Export {
  workflow_id: string;
  workflow_path: string;
  document: string;
}

// --- what a person wants ---

export interface Preferences {
  idle_timeout_ms: number;
  queue_mode: QueueMode;
  set: string[];
}

export interface Persona {
  id: string;
  name: string;
  prompt: string;
  visibility: 'private' | 'shared';
  owner_id: string | null;
  created_at: string;
  updated_at: string;
}
