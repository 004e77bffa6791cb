// Written by `tools/docs` from `/api/openapi.json`; change the tables of the server, not this file.

export type AccessRole = 'none' | 'viewer' | 'collaborator' | 'owner';

export type AgentSource = 'built_in' | 'file' | 'api';

export type AskDecision = 'once' | 'session' | 'always' | 'deny';

export type AskKind = 'approval' | 'question' | 'elicitation';

export type AskState = 'pending' | 'answered' | 'expired' | 'cancelled';

export type DeltaKind = 'text' | 'reasoning' | 'tool_input' | 'tool_output';

export type DisplayStatus = 'active' | 'idle' | 'paused' | 'blocked' | 'recovering' | 'completed' | 'failed';

export type Driver = 'worker' | 'demo' | 'acp' | 'model' | 'runner';

export type EventRole = 'user' | 'agent' | 'system';

export type FileStatus = 'added' | 'modified' | 'deleted' | 'renamed';

export type MemberRole = 'none' | 'member' | 'admin' | 'owner';

export type PauseReason =
  | 'manual'
  | 'inactivity'
  | 'credit_limit'
  | 'payment_failed'
  | 'overage_cap'
  | 'suspended'
  | 'orphaned';

export type PrincipalKind =
  | 'anonymous'
  | 'user'
  | 'worker'
  | 'runner'
  | 'sandbox'
  | 'channel'
  | 'share_link'
  | 'system';

export type ProviderState = 'not_configured' | 'ok' | 'unavailable';

export type Purpose = 'interactive' | 'orchestrator' | 'workflow' | 'approval';

export type QueueMode = 'followup' | 'steer' | 'collect' | 'reject';

export type RunStatus = 'queued' | 'running' | 'succeeded' | 'failed' | 'needs_human' | 'timed_out';

export type Runtime =
  | 'none'
  | 'starting'
  | 'running'
  | 'hibernating'
  | 'hibernated'
  | 'restoring'
  | 'stopped'
  | 'error';

export type Scope = 'read' | 'write' | 'claim' | 'admin';

export type SessionType = 'agent' | 'response' | 'tool' | 'mixed';

export type Status =
  | 'draft'
  | 'pending'
  | 'running'
  | 'waiting_human'
  | 'awaiting_tool'
  | 'idle'
  | 'completed'
  | 'failed'
  | 'expired'
  | 'abandoned';

export type StopReason =
  | 'completed'
  | 'failed'
  | 'user'
  | 'parent'
  | 'superseded'
  | 'expired'
  | 'abandoned'
  | 'attempts_exhausted'
  | 'snapshot_failed'
  | 'sandbox_gone'
  | 'turn_limit'
  | 'budget_exceeded'
  | 'deleted';

export type TurnError =
  | 'validation'
  | 'content_filter'
  | 'provider_auth'
  | 'provider_rate_limit'
  | 'provider_unavailable'
  | 'tool_denied'
  | 'tool_failed'
  | 'tool_unavailable'
  | 'budget_exceeded'
  | 'run_timeout'
  | 'turn_limit'
  | 'cancelled'
  | 'sandbox_error'
  | 'internal';

export type TurnStopReason = 'stop' | 'length' | 'tool_use' | 'content_filter' | 'error' | 'aborted';

export type Visibility = 'private' | 'org_visible' | 'org_joinable';

export type WaitKind = 'nothing' | 'message' | 'claim' | 'agent' | 'person' | 'tool' | 'sandbox' | 'timer';

export type EventType =
  | 'agent.files_changed'
  | 'agent.message'
  | 'agent.notice'
  | 'agent.plan'
  | 'agent.silent'
  | 'agent.thinking'
  | 'agent.tool_call'
  | 'agent.tool_result'
  | 'ask.answered'
  | 'ask.cancelled'
  | 'ask.expired'
  | 'ask.requested'
  | 'ask.resumed'
  | 'ask.voted'
  | 'channel.bound'
  | 'channel.followup_due'
  | 'channel.unbound'
  | 'context.compacted'
  | 'context.trimmed'
  | 'entity.updated'
  | 'external.event'
  | 'external.files_changed'
  | 'external.git_state'
  | 'external.pr_created'
  | 'human.entity_view'
  | 'human.marker'
  | 'human.navigate'
  | 'human.task_switch'
  | 'introspection.ended'
  | 'introspection.failed'
  | 'introspection.interrupted'
  | 'introspection.started'
  | 'introspection.tool_call'
  | 'introspection.tool_result'
  | 'model.retrying'
  | 'model.switched'
  | 'prompt.edited'
  | 'prompt.interrupted'
  | 'prompt.moved'
  | 'prompt.queued'
  | 'prompt.withdrawn'
  | 'runner.connected'
  | 'runner.disconnected'
  | 'runner.lost'
  | 'runtime.disagreed'
  | 'runtime.lost'
  | 'session.archived'
  | 'session.child_created'
  | 'session.child_decided'
  | 'session.child_ended'
  | 'session.child_waiting'
  | 'session.claimed'
  | 'session.completed'
  | 'session.context_injected'
  | 'session.created'
  | 'session.deleted'
  | 'session.error'
  | 'session.exported'
  | 'session.file_added'
  | 'session.lease_lost'
  | 'session.participant_added'
  | 'session.participant_removed'
  | 'session.released'
  | 'session.reopened'
  | 'session.runtime_change'
  | 'session.share_created'
  | 'session.share_deactivated'
  | 'session.share_redeemed'
  | 'session.status_change'
  | 'session.tunnel_closed'
  | 'session.tunnel_opened'
  | 'session.unarchived'
  | 'session.updated'
  | 'session.waiting_approval'
  | 'state.patch'
  | 'system.message'
  | 'tool.composition_step.completed'
  | 'tool.composition_step.started'
  | 'tool.field_changed'
  | 'tool.invocation_completed'
  | 'tool.invocation_failed'
  | 'tool.invocation_started'
  | 'tool.session_started'
  | 'turn.budget_warning'
  | 'turn.ended'
  | 'turn.interrupt_requested'
  | 'user.form_draft'
  | 'user.form_submit'
  | 'user.message'
  | 'user.output_approval'
  | 'user.tool_confirmation'
  | 'user.tool_result'
  | 'watchdog.error_safety_net'
  | 'watchdog.orphaned_lease'
  | 'watchdog.queue_stuck'
  | 'watchdog.runner_lost'
  | 'watchdog.silent_stream'
  | 'watchdog.stale'
  | 'watchdog.stuck_turn'
  | 'watchdog.waiting_without_ask';

export const STATES = {
  draft: { display_status: 'idle', ended: false, failing: false, in_turn: false },
  pending: { display_status: 'active', ended: false, failing: false, in_turn: false },
  running: { display_status: 'active', ended: false, failing: false, in_turn: true },
  waiting_human: { display_status: 'blocked', ended: false, failing: false, in_turn: true },
  awaiting_tool: { display_status: 'blocked', ended: false, failing: false, in_turn: true },
  idle: { display_status: 'idle', ended: false, failing: false, in_turn: false },
  completed: { display_status: 'completed', ended: true, failing: false, in_turn: false },
  failed: { display_status: 'failed', ended: true, failing: true, in_turn: false },
  expired: { display_status: 'failed', ended: true, failing: true, in_turn: false },
  abandoned: { display_status: 'failed', ended: true, failing: true, in_turn: false },
} satisfies Record<Status, { display_status: DisplayStatus; ended: boolean; failing: boolean; in_turn: boolean }>;

export interface Persona {
  id: string;
  name: string;
  prompt: string;
  visibility: string;
  owner_id: string | null;
  created_at: string;
  updated_at: string;
}

export interface PersonaList {
  personas: Persona[];
  has_more: boolean;
  next_cursor: string | null;
}

export interface Preferences {
  idle_timeout_ms: number;
  queue_mode: QueueMode;
  set: string[];
}

export interface Channel {
  id: string;
  kind: string;
  address: string | null;
  followup_ms: number;
  waiting: boolean;
  created_at: string;
}

export interface ChannelList {
  channels: Channel[];
}

export interface Tunnel {
  name: string;
  url: string | null;
  port: number | null;
  proxy: string;
}

export interface TunnelList {
  tunnels: Tunnel[];
}

export interface SystemMessage {
  session_id: string;
  sequence: number;
  prompt_id?: string;
}

export interface Problem {
  type: string;
  title: string;
  status: number;
  code: string;
  detail: string;
}

export interface Health {
  status: string;
}

export interface Session {
  id: string;
  type: SessionType;
  status: Status;
  runtime: Runtime;
  pause_reason: PauseReason | null;
  stop_reason: StopReason | null;
  status_reason: string | null;
  display_status: DisplayStatus;
  display_reason: string;
  active: boolean;
  live: boolean;
  failing: boolean;
  retryable: boolean;
  reopenable: boolean;
  words: SessionWords;
  purpose: Purpose;
  agent: string | null;
  agent_version: number;
  driver: Driver;
  title: string | null;
  workspace: string | null;
  source: SessionSource;
  metadata: Record<string, unknown>;
  visibility: Visibility;
  queue_mode: QueueMode;
  parent_id: string | null;
  task_id: string | null;
  entity_id: string | null;
  retry_of: string | null;
  attempt: number;
  owner_id: string | null;
  anonymous: boolean;
  priority: number;
  result: unknown;
  usage: Record<string, unknown> | null;
  error: SessionError | null;
  fence: number;
  claim_attempts: number;
  last_sequence: number;
  message_count: number;
  tool_call_count: number;
  turn_count: number;
  active_seconds: number;
  preview: string | null;
  prompt_snippet: string | null;
  created_at: string;
  started_at: string | null;
  completed_at: string | null;
  duration_ms: number | null;
  updated_at: string;
  last_active_at: string;
  queued_at: string | null;
  paused_at: string | null;
  archived_at: string | null;
  expires_at: string | null;
  waiting_for?: WaitingFor[];
  initial_prompt?: string | null;
  agent_config?: Record<string, unknown> | null;
  claims?: Claim[];
  details?: Record<string, unknown>;
  ws_url?: string;
  runner_token?: string;
}

export interface WaitingFor {
  ask_id: string;
  kind: AskKind;
  text: string;
  tool: string | null;
  since: string;
  expires_at: string | null;
}

export interface Part {
  type: string;
  text?: string;
  [member: string]: unknown;
}

export interface SessionWords {
  response: string;
  tool: string;
  block: string;
  conversation: string;
  sandbox: string;
  agent: string;
  joint: string;
  chat: string;
  lifecycle: string;
  live_status: string;
  kind: string;
}

export interface SessionSource {
  kind: string;
  platform: string | null;
  interactive: boolean;
  trigger_id: string | null;
  type: string | null;
}

export interface SessionError {
  code: string | null;
  message: string | null;
}

export interface SessionList {
  sessions: Session[];
  has_more: boolean;
  next_cursor: string | null;
}

export interface SessionEvent {
  session_id: string;
  sequence: number;
  type: EventType;
  role: EventRole;
  actor: string;
  content: Part[];
  metadata: Record<string, unknown>;
  thread_id?: string;
  external_event_id?: string;
  created_at: string;
  duplicate?: boolean;
}

export interface EventList {
  events: SessionEvent[];
  has_more: boolean;
}

export interface Message {
  session_id: string;
  id: string;
  sequence: number;
  role: string;
  content: string;
  parts: Part[];
  format: string;
  agent_session_id: string | null;
  thread_id: string | null;
  metadata: Record<string, unknown>;
  author: MessageAuthor;
  channel: MessageChannel;
  created_at: string;
}

export interface MessageAuthor {
  id: string | null;
  name: string | null;
  email: string | null;
}

export interface MessageChannel {
  type: string | null;
  id: string | null;
}

export interface MessageList {
  messages: Message[];
  has_more: boolean;
}

export interface GitState {
  source_type: string | null;
  source_repo_url: string | null;
  source_repo_branch: string | null;
  source_pr_number: number | null;
  source_issue_number: number | null;
  branch: string | null;
  base_branch: string | null;
  pr_number: number | null;
  pr_state: string | null;
  pr_url: string | null;
  commit_count: number;
}

export interface ChangedFile {
  path: string;
  previous_path: string | null;
  status: FileStatus;
  additions: number;
  deletions: number;
  sequence: number;
  changed_at: string;
}

export interface File {
  handle: string;
  name: string | null;
  media_type: string;
  bytes: number;
  url: string;
  added_by: string | null;
  created_at: string;
}

export interface FileList {
  files: File[];
}

export interface FilesChanged {
  files: ChangedFile[];
  has_more: boolean;
  next_cursor: string | null;
}

export interface Appended {
  events: SessionEvent[];
  last_sequence: number;
}

export interface BulkDeleted {
  results: BulkResult[];
  deleted: number;
}

export interface BulkResult {
  id: string;
  deleted: boolean;
  code?: string;
}

export interface Joined {
  session_id: string;
  role: string;
}

export interface Counts {
  by_status: Record<string, unknown>;
  by_type: Record<string, unknown>;
  total: number;
}

export interface Lease {
  fence: number;
  expires_at: string;
  status: Status;
}

export interface GrantedLease {
  token: string;
  fence: number;
  expires_at: string;
}

export interface Claim {
  session: Session;
  lease: GrantedLease;
}

export interface Claims {
  claims: Claim[];
}

export interface Queue {
  queues: QueueDepth[];
  workers: QueueWorker[];
}

export interface QueueDepth {
  agent: string | null;
  pending: number;
  leased: number;
  oldest_queued_at: string | null;
}

export interface QueueWorker {
  worker: string;
  leases: number;
  last_heartbeat_at: string;
}

export interface Ask {
  session_id: string;
  session_title?: string | null;
  agent?: string | null;
  parent_id?: string | null;
  id: string;
  kind: AskKind;
  state: AskState;
  turn: number;
  text: string;
  tool?: string;
  call_id?: string;
  arguments?: Record<string, unknown>;
  editable?: boolean;
  options?: string[];
  schema?: Record<string, unknown>;
  details?: Record<string, unknown>;
  role: AccessRole;
  quorum: number;
  created_at: string;
  expires_at: string | null;
  votes?: Vote[];
  decision?: AskDecision;
  answer?: unknown;
  reason?: string;
  answered_by?: string;
  answered_at?: string;
  grants?: Grant[];
}

export interface AskShown {
  id: string;
  kind: AskKind;
  state: AskState;
  turn: number;
  text: string;
  tool?: string;
  call_id?: string;
  arguments?: Record<string, unknown>;
  editable?: boolean;
  options?: string[];
  schema?: Record<string, unknown>;
  details?: Record<string, unknown>;
  role: AccessRole;
  quorum: number;
  created_at: string;
  expires_at: string | null;
  votes?: Vote[];
  decision?: AskDecision;
  answer?: unknown;
  reason?: string;
  answered_by?: string;
  answered_at?: string;
  grants?: Grant[];
}

export interface Vote {
  by: string;
  decision: AskDecision;
  at: string;
}

export interface Grant {
  id: string;
  scope: AskDecision;
  subject: Subject;
  these_arguments?: boolean;
  text: string;
}

export interface Subject {
  tool?: string;
  command?: string;
  path?: string;
  host?: string;
  arguments?: Record<string, unknown>;
  [member: string]: unknown;
}

export interface AskList {
  asks: Ask[];
  next_cursor: string | null;
}

export interface AskLink {
  url: string;
  expires_at: string;
}

export interface Rule {
  id: string;
  tool: string;
  agent: string | null;
  user_id: string | null;
  arguments: Record<string, unknown> | null;
  subject: Subject;
  text: string;
  scope: AskDecision;
  session_id: string;
  ask_id: string;
  created_by: string;
  created_at: string;
}

export interface RuleList {
  rules: Rule[];
}

export interface Stopped {
  changed: boolean;
  session: Session;
}

export interface Explanation {
  session_id: string;
  status: Status;
  waits_for: WaitKind;
  since: string;
  detail: string;
  reason: string | null;
  unblocked_by: Unblocker[];
  asks: AskShown[];
  queue: WaitingPrompts;
  lease: HeldLease | null;
  turn: RunningTurn | null;
  children: string[];
  child_asks: Ask[];
  next_timer: NextTimer | null;
  last_watchdog: LastWatchdog | null;
}

export interface Unblocker {
  kind: string;
  name?: string;
  how: string | null;
}

export interface WaitingPrompts {
  length: number;
  first_prompt_id: string | null;
  first_created_at: string | null;
}

export interface HeldLease {
  worker: string;
  fence: number;
  claimed_at: string;
  expires_at: string | null;
}

export interface RunningTurn {
  number: number;
  since: string;
  last_activity_at: string | null;
}

export interface NextTimer {
  kind: string;
  due_at: string;
}

export interface LastWatchdog {
  type: string;
  at: string;
  metadata: Record<string, unknown> | null;
}

export interface Export {
  session_id: string;
  workflow_id: string;
  workflow_path: string;
  through: number;
  sequence: number;
  document: string;
}

export interface Receipt {
  prompt_id: string;
  status: string;
  triggered: boolean;
  position: number;
  sequence: number;
  withdrawn?: Prompt[];
}

export interface Interrupted {
  turn: number;
  requested: boolean;
}

export interface RuntimeOutcome {
  session_id: string;
  changed: boolean;
  status: Status;
  runtime: Runtime;
  pause_reason: string | null;
}

export interface Prompt {
  prompt_id: string;
  mode: QueueMode;
  position: number;
  actor: string;
  content: Part[];
  metadata: Record<string, unknown>;
  thread_id: string | null;
  created_at: string;
  revision: number;
  priority: number;
}

export interface PromptList {
  prompts: Prompt[];
}

export interface Participant {
  user_id: string;
  role: string;
}

export interface ParticipantList {
  participants: ListedParticipant[];
}

export interface ListedParticipant {
  user_id: string;
  name: string | null;
  email: string | null;
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
  created_by: string;
  created_at: string;
}

export interface ShareLinkList {
  share_links: ShareLink[];
}

export interface SignIn {
  user_id: string;
  csrf_token: string;
  expires_at: string;
}

export interface Me {
  kind: PrincipalKind;
  actor: string;
  tenant_id: string;
  user_id: string | null;
  role: MemberRole | null;
  scopes: Scope[];
  id_prefix: string | null;
  session_id: string | null;
  csrf_token?: string;
}

export interface Ticket {
  ticket: string;
  expires_at: string;
}

export interface User {
  id: string;
  email: string;
  name: string;
  role: MemberRole;
  sessions_max: number;
  created_at: string;
  sign_in_secret?: string;
}

export interface UserList {
  users: User[];
}

export interface Token {
  id: string;
  name: string;
  kind: PrincipalKind;
  token?: string;
  scopes: Scope[];
  user_id: string | null;
  id_prefix: string | null;
  session_id: string | null;
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
}

export interface TokenList {
  tokens: Token[];
}

export interface ToolCall {
  tool: string;
  call_id: string;
  success: boolean;
  result: unknown;
}

export interface Tenant {
  id: string;
  name: string;
  role: string;
  created_at: string;
}

export interface TenantList {
  tenants: Tenant[];
}

export interface TenantCreated {
  tenant: Tenant;
  token: string;
}

export interface Agent {
  id: string;
  version: number;
  name: string | null;
  description: string | null;
  driver: Driver;
  provider: string | null;
  model: string | null;
  source: AgentSource;
  shared: boolean;
  created_at: string;
  created_by: string | null;
  removed_at: string | null;
  definition?: Record<string, unknown>;
}

export interface AgentList {
  agents: Agent[];
  has_more: boolean;
  next_cursor: string | null;
}

export interface AgentVersions {
  agents: Agent[];
  has_more: boolean;
  next_before: number | null;
}

export interface Memory {
  id: string;
  text: string;
  owner_id: string | null;
  session_id: string;
  created_at: string;
  updated_at: string;
}

export interface MemoryList {
  memories: Memory[];
  has_more: boolean;
  next_cursor: string | null;
}

export interface Model {
  provider: string;
  id: string;
  name: string | null;
  listed: boolean;
  agents: string[];
}

export interface ModelProvider {
  name: string;
  state: ProviderState;
  detail: string | null;
  asked_at: string | null;
}

export interface ModelList {
  models: Model[];
  providers: ModelProvider[];
}

export interface Entity {
  id: string;
  type: string;
  fields: Record<string, unknown>;
  version: number;
  created_at: string;
  updated_at: string;
  updated_by: string;
}

export interface EntityList {
  entities: Entity[];
  has_more: boolean;
  next_cursor: string | null;
}

export interface EntitySession {
  id: string;
  type: SessionType;
  title: string | null;
  task_id: string | null;
  task_name: string | null;
  task_definition: Record<string, unknown> | null;
  status: Status;
  block_status: string;
  started_at: string | null;
  completed_at: string | null;
  duration_ms: number;
  parent_id: string | null;
  error_message: string | null;
  child_count: number;
}

export interface EntitySessions {
  sessions: EntitySession[];
  has_more: boolean;
}

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

export interface Step {
  id: string;
  name: string | null;
  agent?: string;
  human?: boolean;
  prompt?: string;
  depends_on?: string[];
  output?: Record<string, unknown>;
  requires_approval: boolean;
  criteria?: unknown;
}

export interface TaskList {
  tasks: Task[];
  has_more: boolean;
  next_cursor: string | null;
}

export interface TaskRun {
  session: Session;
  steps: StartedStep[];
}

export interface StartedStep {
  step: string;
  session_id: string;
  status: Status;
}

export interface Run {
  id: string;
  session_id: string;
  status: RunStatus;
  outcome: string | null;
  summary: string | null;
  completion_id: string | null;
  created_at: string;
  started_at: string | null;
  ended_at: string | null;
}

export interface RunList {
  runs: Run[];
  has_more: boolean;
  next_before: string | null;
}

export interface Reply {
  decision?: AskDecision;
  answer?: unknown;
  arguments?: Record<string, unknown>;
  reason?: string;
  grant?: string;
  these_arguments?: boolean;
}
