// Agents: what runs sessions, what each may do, and every version of it.
import type { ComponentChildren } from 'preact';
import { api } from '../api';
import { microcents, plural, pretty } from '../format';
import { Id } from '../parts/Copy';
import { useLoaded } from '../parts/loaded';
import { useName } from '../parts/name';
import { Code } from '../parts/Code';
import { Markdown } from '../parts/Markdown';
import { Empty, Failed, Waiting } from '../parts/States';
import { Time } from '../parts/Time';
import { go, linkTo } from '../state/navigate';
import { type Place, sessionsPlace } from '../state/place';
import { dispatch } from '../state/store';
import type { Agent, AgentSource, Driver } from '../types';

type AgentsPlace = Place & { page: 'agents' };

const agentPlace = (id: string, version: number | null = null): Place => ({ page: 'agents', id, version });

const DRIVER_WORDS: Record<Driver, string> = {
  demo: 'a script inside the server',
  model: 'the built-in loop around a model',
  acp: 'a program that speaks the Agent Client Protocol',
  runner: 'a program that connects over WebSocket',
  worker: 'workers that claim its sessions',
};

const SOURCE_WORDS: Partial<Record<AgentSource, string>> = {
  file: 'in a file of the server',
  built_in: 'built into the server',
};

function Row({ agent }: { agent: Agent }) {
  return (
    <li class="plain-row">
      <a {...linkTo(agentPlace(agent.id))}>
        <span class="row-title">{agent.name ?? agent.id}</span>
        <span class="muted">{[agent.driver, agent.model].filter(Boolean).join(' · ')}</span>
        <span class="muted">version {agent.version}</span>
        <Time at={agent.created_at} />
        <span class="row-second">{agent.description ?? DRIVER_WORDS[agent.driver]}</span>
      </a>
    </li>
  );
}

function List() {
  const { value, problem, again } = useLoaded('agents', (signal) => api.agents(signal));
  if (problem && !value) return <Failed what="Couldn’t load agents" problem={problem} again={again} />;
  if (!value) return <Waiting />;
  if (value.agents.length === 0) {
    return (
      <Empty title="No agent is defined" text="Put a NAME.agent.yaml into the folder of agents, or send one:">
        <div class="command">
          <code>sojourn agents push NAME.agent.yaml</code>
        </div>
      </Empty>
    );
  }
  return (
    <div class="plain">
      <h1>
        Agents <span class="count">{value.agents.length}</span>
      </h1>
      <ul class="agents">
        {value.agents.map((agent) => (
          <Row key={agent.id} agent={agent} />
        ))}
      </ul>
      {value.has_more && <p class="muted">There are more; these are the first {value.agents.length}.</p>}
    </div>
  );
}

// --- one of them ---

type Definition = Record<string, unknown>;

const isObject = (value: unknown): value is Definition => typeof value === 'object' && value !== null;
const listed = (value: unknown): string => (Array.isArray(value) ? value.map(String).join(', ') : '');

/** What it may cost and how far it may go, in words. */
function limitsOf(definition: Definition): string {
  const caps = isObject(definition['caps']) ? definition['caps'] : {};
  const cost = Number(caps['cost_microcents_max'] ?? 0);
  const said = [
    caps['turns_max'] ? `${plural(Number(caps['turns_max']), 'turn')} a session` : '',
    caps['tool_rounds_max'] ? `${plural(Number(caps['tool_rounds_max']), 'tool round')} a turn` : '',
    cost > 0 ? `${microcents(cost)} a session, then ${String(caps['on_exceed'] ?? 'fail')}` : '',
  ];
  return said.filter(Boolean).join(', ');
}

function sandboxOf(definition: Definition): string {
  const sandbox = isObject(definition['sandbox']) ? definition['sandbox'] : {};
  const kind = String(sandbox['kind'] ?? '');
  if (!kind || kind === 'none') return 'none';
  return `${kind}, ${sandbox['network'] === true ? 'with' : 'without'} network`;
}

function Fact({ word, children }: { word: string; children: ComponentChildren }) {
  if (!children) return null;
  return (
    <>
      <dt>{word}</dt>
      <dd>{children}</dd>
    </>
  );
}

function Permissions({ rules }: { rules: unknown }) {
  if (!Array.isArray(rules) || rules.length === 0) return null;
  return (
    <ul>
      {rules.filter(isObject).map((rule, index) => (
        <li key={index}>
          {String(rule['then'])}{' '}
          {['tool', 'argument', 'path'].map(
            (name) =>
              rule[name] !== undefined && (
                <code key={name}>
                  {name}: {String(rule[name])}{' '}
                </code>
              ),
          )}
        </li>
      ))}
    </ul>
  );
}

function Facts({ agent, definition }: { agent: Agent; definition: Definition }) {
  const by = useName()(agent.created_by ?? '') || agent.created_by;
  const fallbacks = Array.isArray(definition['fallback_chain']) ? definition['fallback_chain'].filter(isObject) : [];
  return (
    <dl class="agent-facts">
      <Fact word="Run by">{DRIVER_WORDS[agent.driver]}</Fact>
      <Fact word="Model">{agent.model && `${agent.model} (${agent.provider})`}</Fact>
      <Fact word="Then">{fallbacks.map((one) => String(one['model'])).join(', ')}</Fact>
      <Fact word="Tools">{listed(definition['tools'])}</Fact>
      <Fact word="Permissions">
        {Array.isArray(definition['permissions']) && definition['permissions'].length > 0 && (
          <Permissions rules={definition['permissions']} />
        )}
      </Fact>
      <Fact word="Limits">{limitsOf(definition)}</Fact>
      <Fact word="Sandbox">{sandboxOf(definition)}</Fact>
      <Fact word="Defined">
        {SOURCE_WORDS[agent.source] ?? `over the API${by ? ` by ${by}` : ''}`},{' '}
        <Time at={agent.created_at} suffix=" ago" />
      </Fact>
    </dl>
  );
}

function Versions({ id, shown }: { id: string; shown: number }) {
  const { value, problem, again } = useLoaded(`versions ${id}`, (signal) => api.agentVersions(id, signal));
  if (problem) return <Failed what="Couldn’t load versions" problem={problem} again={again} />;
  return (
    <ul class="versions" aria-label="Versions">
      {value?.agents.map((one, index) => (
        <li key={one.version} class={one.version === shown ? 'is-cursor' : ''}>
          <a {...linkTo(agentPlace(id, index === 0 ? null : one.version))}>
            version {one.version}
            {index === 0 && <span class="muted"> newest</span>}
          </a>
          <Time at={one.created_at} />
        </li>
      ))}
    </ul>
  );
}

function One({ id, version }: { id: string; version: number | null }) {
  const { value: agent, problem, again } = useLoaded(`${id} ${version}`, (signal) => api.agent(id, version, signal));
  if (problem?.status === 404) {
    return (
      <Empty title="There is no such agent" text="It was removed, or the name has a typing error.">
        <button onClick={() => go(agentPlace(''))}>All agents</button>
      </Empty>
    );
  }
  if (problem && !agent) return <Failed what="Couldn’t load the agent" problem={problem} again={again} />;
  if (!agent) return <Waiting />;
  const definition = agent.definition ?? {};
  const prompt = definition['system_prompt'];
  return (
    <div class="plain agent">
      <header>
        <a class="muted" {...linkTo(agentPlace(''))}>
          ‹ Agents
        </a>
        <h1>
          {agent.name ?? agent.id} <Id value={agent.id} /> <span class="chip">version {agent.version}</span>
        </h1>
        <div class="actions">
          <button onClick={() => go(sessionsPlace({ agent: agent.id }))}>Its sessions</button>
          <button
            class="primary"
            onClick={() => dispatch({ type: 'dialog', dialog: { kind: 'new', agent: agent.id } })}
          >
            New session
          </button>
        </div>
      </header>
      {agent.description && <p>{agent.description}</p>}
      <div class="agent-parts">
        <div>
          <Facts agent={agent} definition={definition} />
          {typeof prompt === 'string' && (
            <>
              <h2>Instructions</h2>
              <Markdown text={prompt} />
            </>
          )}
          <h2>Definition</h2>
          <div class="agent-definition">
            <Code text={pretty(definition)} name={`${agent.id}, version ${agent.version}`} language="json" />
          </div>
        </div>
        <Versions id={id} shown={agent.version} />
      </div>
    </div>
  );
}

export function Agents({ place }: { place: AgentsPlace }) {
  return place.id ? <One key={place.id} id={place.id} version={place.version} /> : <List />;
}
