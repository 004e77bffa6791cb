// Entities: what work is about. Tasks fill their fields, people correct them.
import { useEffect, useState } from 'preact/hooks';
import { api, newKey } from '../api';
import { firstLine, postCommand } from '../format';
import { Copy } from '../parts/Copy';
import { useKeys } from '../parts/keys';
import { useLive } from '../parts/loaded';
import { useRows } from '../parts/rows';
import { Empty, Failed, Waiting } from '../parts/States';
import { Time } from '../parts/Time';
import { adjust, go, linkTo } from '../state/navigate';
import { tellProblem } from '../state/notices';
import { entityPlace, type Place } from '../state/place';
import { dispatch } from '../state/store';
import type { Entity } from '../types';
import { EntityOne } from './Entity';

type EntitiesPlace = Place & { page: 'entities' };

const EXAMPLE = { id: 'ticket-1', type: 'ticket', fields: { title: 'The login test fails one run in ten' } };
const PAGE = 200;

const newEntity = (): void => dispatch({ type: 'dialog', dialog: { kind: 'entity' } });

async function makeExample(): Promise<void> {
  try {
    const entity = await api.createEntity(EXAMPLE, newKey());
    go(entityPlace(entity.id));
  } catch (problem) {
    tellProblem('The entity can’t be made', problem);
  }
}

function Nothing() {
  const command = postCommand('/api/entities', EXAMPLE);
  return (
    <Empty
      title="There is nothing to work on"
      text="An entity is a thing work is about: a ticket, a customer, a page. What tasks find out fills its fields."
    >
      <div class="command">
        <code>{command}</code>
        <Copy text={command} />
      </div>
      <button class="primary" onClick={() => void makeExample()}>
        Make this one
      </button>
    </Empty>
  );
}

/** What is known of it, in one line. */
function gistOf(entity: Entity): string {
  const all = Object.entries(entity.fields).map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? firstLine(value) : JSON.stringify(value)}`,
  );
  return all.join(' · ') || 'nothing is known of it yet';
}

/** The field that a person would call its name. */
function titleOf(entity: Entity): string {
  const named = ['title', 'name', 'subject'].map((name) => entity.fields[name]).find((one) => typeof one === 'string');
  return (named as string | undefined) || entity.id;
}

function Row({ entity }: { entity: Entity }) {
  return (
    <li class="plain-row">
      <a {...linkTo(entityPlace(entity.id))}>
        <span class="row-title">{titleOf(entity)}</span>
        <span class="muted id-word">{entity.id}</span>
        <span class="muted">version {entity.version}</span>
        <Time at={entity.updated_at} />
        <span class="row-second">{gistOf(entity)}</span>
      </a>
    </li>
  );
}

function Search({ place, types }: { place: EntitiesPlace; types: string[] }) {
  const [text, setText] = useState(place.q);
  useEffect(() => setText(place.q), [place.q]);
  useKeys(true, { '/': () => document.querySelector<HTMLElement>('.entity-search')?.focus() });
  return (
    <div class="plain-tools">
      <div class="tabs" role="tablist" aria-label="Type">
        {['', ...types].map((type) => (
          <button
            key={type}
            role="tab"
            aria-selected={place.kind === type}
            onClick={() => adjust({ ...place, kind: type })}
          >
            {type || 'All'}
          </button>
        ))}
      </div>
      <input
        class="entity-search"
        type="search"
        value={text}
        placeholder="/ search"
        aria-label="Search entities"
        onInput={(event) => {
          setText(event.currentTarget.value);
          adjust({ ...place, q: event.currentTarget.value });
        }}
        onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
      />
      <button onClick={newEntity}>
        New… <kbd>n</kbd>
      </button>
    </div>
  );
}

function isFound(entity: Entity, q: string): boolean {
  return `${entity.id} ${JSON.stringify(entity.fields)}`.toLowerCase().includes(q.toLowerCase());
}

/** Page after page, up to a bound: what is searched is what is shown. */
async function loadAll(signal: AbortSignal): Promise<{ entities: Entity[]; isMore: boolean }> {
  const entities: Entity[] = [];
  let after: string | undefined;
  do {
    const page = await api.entities({ limit: PAGE, after }, signal);
    entities.push(...page.entities);
    after = page.has_more ? (page.next_cursor ?? undefined) : undefined;
  } while (after && entities.length < 5 * PAGE);
  return { entities, isMore: after !== undefined };
}

function List({ place }: { place: EntitiesPlace }) {
  const { value, problem, again } = useLive('entities', loadAll);
  useRows('.plain-row a');
  useKeys(true, { n: newEntity });
  if (problem && !value) return <Failed what="The entities can’t be shown" problem={problem} again={again} />;
  if (!value) return <Waiting />;
  if (value.entities.length === 0) return <Nothing />;
  const types = [...new Set(value.entities.map((one) => one.type))].sort();
  const shown = value.entities.filter((one) => (!place.kind || one.type === place.kind) && isFound(one, place.q));
  const groups = types.filter((type) => shown.some((one) => one.type === type));
  return (
    <div class="plain">
      <h1>
        Entities <span class="count">{value.entities.length}</span>
      </h1>
      <Search place={place} types={types} />
      {groups.map((type) => (
        <section key={type} aria-label={type}>
          <h2 class="group">
            {type} <span class="count">{shown.filter((one) => one.type === type).length}</span>
          </h2>
          <ul>
            {shown
              .filter((one) => one.type === type)
              .map((entity) => (
                <Row key={entity.id} entity={entity} />
              ))}
          </ul>
        </section>
      ))}
      {shown.length === 0 && <p class="muted nothing-found">Nothing found. The search looks at ids and fields.</p>}
      {value.isMore && <p class="muted">There are more; these are the first {value.entities.length}.</p>}
    </div>
  );
}

export function Entities({ place }: { place: EntitiesPlace }) {
  return place.id ? <EntityOne key={place.id} id={place.id} /> : <List place={place} />;
}
