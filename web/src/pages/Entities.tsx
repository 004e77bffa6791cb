// Entities: what work is about. Tasks fill their fields, people correct them.
import { useEffect, useState } from 'preact/hooks';
import { api, newKey, type Query } from '../api';
import { firstLine } from '../format';
import { FirstOne } from '../parts/FirstOne';
import { useKeys } from '../parts/keys';
import { useLive } from '../parts/loaded';
import { useRows } from '../parts/rows';
import { Failed, Waiting } from '../parts/States';
import { Time } from '../parts/Time';
import { adjust, go, linkTo } from '../state/navigate';
import { entityPlace, type Place } from '../state/place';
import { dispatch } from '../state/store';
import type { Entity } from '../types';
import { EntityOne } from './Entity';

type EntitiesPlace = Place & { page: 'entities' };

const EXAMPLE = { id: 'ticket-1', type: 'ticket', fields: { title: 'The login test fails one run in ten' } };
const PAGE = 200;
const PAUSE_MS = 150;

const newEntity = (): void => dispatch({ type: 'dialog', dialog: { kind: 'entity' } });

function Nothing() {
  return (
    <FirstOne
      title="There is nothing to work on"
      text="An entity is a thing work is about: a ticket, a customer, a page. What tasks find out fills its fields."
      path="/api/entities"
      example={EXAMPLE}
      make={async (example) => go(entityPlace((await api.createEntity(example, newKey())).id))}
      failed="The entity can’t be made"
    />
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

interface Found {
  entities: Entity[];
  isMore: boolean;
}

/** Page after page, up to a bound. A page of a search may be short and still have more behind it. */
async function loadAll(query: Query, signal: AbortSignal): Promise<Found> {
  const entities: Entity[] = [];
  let after: string | undefined;
  do {
    const page = await api.entities({ ...query, limit: PAGE, after }, signal);
    entities.push(...page.entities);
    after = page.has_more ? (page.next_cursor ?? undefined) : undefined;
  } while (after && entities.length < 5 * PAGE);
  return { entities, isMore: after !== undefined };
}

/** What stands in the address, asked for when the typing pauses. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

function Groups({ shown }: { shown: Entity[] }) {
  const types = [...new Set(shown.map((one) => one.type))].sort();
  return (
    <>
      {types.map((type) => (
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
    </>
  );
}

/** What the server finds for a text and a type; without either it is what there is. */
function Results({ all, place }: { all: Found; place: EntitiesPlace }) {
  const q = useSettled(place.q.trim());
  const isAll = !q && !place.kind;
  const { value, problem, again } = useLive(`entities ${place.kind} ${q}`, (signal) =>
    isAll ? Promise.resolve(null) : loadAll({ q: q || undefined, type: place.kind || undefined }, signal),
  );
  const found = isAll ? all : value;
  if (problem && !found) return <Failed what="The search can’t be made" problem={problem} again={again} />;
  if (!found) return <Waiting />;
  return (
    <>
      <Groups shown={found.entities} />
      {found.entities.length === 0 && (
        <p class="muted nothing-found">Nothing found. The search looks at ids, types and fields.</p>
      )}
      {found.isMore && <p class="muted">There are more; these are the first {found.entities.length}.</p>}
    </>
  );
}

function List({ place }: { place: EntitiesPlace }) {
  const { value, problem, again } = useLive('entities', (signal) => loadAll({}, signal));
  useRows('.plain-row a');
  useKeys(true, { n: newEntity });
  if (problem && !value) return <Failed what="Couldn’t load entities" problem={problem} again={again} />;
  if (!value) return <Waiting />;
  if (value.entities.length === 0) return <Nothing />;
  const types = [...new Set(value.entities.map((one) => one.type))].sort();
  return (
    <div class="plain">
      <h1>
        Entities <span class="count">{`${value.entities.length}${value.isMore ? '+' : ''}`}</span>
      </h1>
      <Search place={place} types={types} />
      <Results all={value} place={place} />
    </div>
  );
}

export function Entities({ place }: { place: EntitiesPlace }) {
  return place.id ? <EntityOne key={place.id} id={place.id} /> : <List place={place} />;
}
