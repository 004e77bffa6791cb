// Filters of the list; what is chosen stands in the URL.
import { useEffect, useState } from 'preact/hooks';
import { go } from '../state/navigate';
import { type Filters as Values, sessionsPlace } from '../state/place';
import { useStore } from '../state/store';

interface ChoiceProps {
  name: string;
  value: string;
  choices: [value: string, word: string][];
  onChoose: (value: string) => void;
}

function Choice({ name, value, choices, onChoose }: ChoiceProps) {
  const all =
    value && !choices.some(([one]) => one === value) ? [...choices, [value, value] as [string, string]] : choices;
  return (
    <select
      class={value ? 'choice is-set' : 'choice'}
      aria-label={name}
      value={value}
      onChange={(event) => onChoose(event.currentTarget.value)}
    >
      <option value="">{value ? `any ${name}` : name}</option>
      {all.map(([one, word]) => (
        <option key={one} value={one}>
          {word}
        </option>
      ))}
    </select>
  );
}

function distinct(values: (string | null)[]): [string, string][] {
  return [...new Set(values)]
    .filter((value): value is string => Boolean(value))
    .sort()
    .map((value) => [value, value]);
}

const KINDS: [string, string][] = [
  ['run', 'work handed over'],
  ['chat', 'conversations'],
];

export function Filters({ filters, isOpen, onOpen }: { filters: Values; isOpen: boolean; onOpen: () => void }) {
  const sessions = Object.values(useStore((state) => state.sessions));
  const users = useStore((state) => state.users);
  const [text, setText] = useState(filters.q);
  const set = (change: Partial<Values>): void => go(sessionsPlace({ ...filters, ...change }));
  useEffect(() => setText(filters.q), [filters.q]);
  useEffect(() => {
    if (text === filters.q) return;
    const timer = setTimeout(() => set({ q: text }), 200);
    return () => clearTimeout(timer);
  }, [text]);
  const people = Object.values(users).map((user): [string, string] => [user.id, user.name || user.email]);
  const isShown = isOpen || filters.q || filters.agent || filters.source || filters.owner || filters.kind;
  return (
    <div class={isShown ? 'filters is-shown' : 'filters'}>
      <Choice
        name="agent"
        value={filters.agent}
        choices={distinct(sessions.map((one) => one.agent))}
        onChoose={(agent) => set({ agent })}
      />
      <Choice
        name="source"
        value={filters.source}
        choices={distinct(sessions.map((one) => one.source.kind))}
        onChoose={(source) => set({ source })}
      />
      <Choice name="kind" value={filters.kind} choices={KINDS} onChoose={(kind) => set({ kind })} />
      {people.length > 1 && (
        <Choice name="owner" value={filters.owner} choices={people} onChoose={(owner) => set({ owner })} />
      )}
      <input
        class="filter-text"
        type="search"
        value={text}
        placeholder="/ filter"
        aria-label="Filter by title or text"
        onFocus={onOpen}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
      />
    </div>
  );
}
