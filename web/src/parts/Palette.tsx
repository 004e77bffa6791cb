// Search sessions and go anywhere from the keyboard.
import { useEffect, useState } from 'preact/hooks';
import { api, type Problem } from '../api';
import { titleOf } from '../format';
import { go } from '../state/navigate';
import { entityPlace, HOME, sessionPlace, sessionsPlace, taskPlace } from '../state/place';
import { dispatch, getState } from '../state/store';
import { lookOf, TABS } from '../status';
import type { Session } from '../types';
import { MarkOf } from './Status';
import { Time } from './Time';

interface Choice {
  key: string;
  text: string;
  session: Session | null;
  run: () => void;
}

const PLACES: readonly Choice[] = [
  { key: 'home', text: 'Go home', session: null, run: () => go(HOME) },
  { key: 'inbox', text: 'Go to inbox', session: null, run: () => go({ page: 'inbox', cursor: '' }) },
  ...TABS.map((tab) => ({
    key: tab.name,
    text: tab.name === 'all' ? 'Go to sessions' : `Sessions: ${tab.word.toLowerCase()}`,
    session: null,
    run: () => go(sessionsPlace({ tab: tab.name })),
  })),
  { key: 'archive', text: 'Sessions: archived', session: null, run: () => go(sessionsPlace({ archived: true })) },
  { key: 'today', text: 'Go to today', session: null, run: () => go({ page: 'today' }) },
  { key: 'tasks', text: 'Go to tasks', session: null, run: () => go(taskPlace()) },
  { key: 'entities', text: 'Go to entities', session: null, run: () => go(entityPlace()) },
  { key: 'settings', text: 'Go to settings', session: null, run: () => go({ page: 'settings' }) },
  { key: 'agents', text: 'Go to agents', session: null, run: () => go({ page: 'agents', id: '', version: null }) },
  { key: 'rules', text: 'Go to rules', session: null, run: () => go({ page: 'rules' }) },
  { key: 'new', text: 'New session', session: null, run: () => dispatch({ type: 'dialog', dialog: { kind: 'new' } }) },
];

function choiceOf(session: Session): Choice {
  return { key: session.id, text: titleOf(session), session, run: () => go(sessionPlace(session.id)) };
}

function recent(query = ''): Choice[] {
  const is = (session: Session): boolean =>
    !session.archived_at && titleOf(session).toLowerCase().includes(query.toLowerCase());
  const all = Object.values(getState().sessions).filter(is);
  return all
    .sort((a, b) => (a.last_active_at < b.last_active_at ? 1 : -1))
    .slice(0, 6)
    .map(choiceOf);
}

/** What is known already, at once; what the server finds, as soon as it answers. */
function useFound(query: string): { found: Choice[]; problem: Problem | null } {
  const [found, setFound] = useState<Choice[]>(() => recent());
  const [problem, setProblem] = useState<Problem | null>(null);
  useEffect(() => {
    setFound(recent(query));
    if (!query) return;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      api.sessions({ q: query, archived: 'all', limit: 12 }, stop.signal).then(
        (page) => {
          setProblem(null);
          setFound(page.sessions.map(choiceOf));
        },
        (error: Problem) => error.name === 'AbortError' || setProblem(error),
      );
    }, 120);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [query]);
  return { found, problem };
}

export function Palette() {
  const [query, setQuery] = useState('');
  const [cursor, setCursor] = useState(0);
  const { found, problem } = useFound(query.trim());
  const places = PLACES.filter((place) => place.text.toLowerCase().includes(query.trim().toLowerCase()));
  const choices = query.trim() ? [...found, ...places] : [...places.slice(0, 3), ...found];
  const at = Math.min(cursor, choices.length - 1);
  const run = (choice: Choice | undefined): void => {
    if (!choice) return;
    dispatch({ type: 'dialog', dialog: null });
    choice.run();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) setCursor(Math.max(0, Math.min(choices.length - 1, at + step)));
    else if (event.key === 'Enter') run(choices[at]);
    else return;
    event.preventDefault();
  };
  return (
    <div class="palette" onKeyDown={onKeyDown}>
      <input
        autofocus
        value={query}
        placeholder="Search sessions by title or text, or go to a page"
        aria-label="Search"
        onInput={(event) => {
          setQuery(event.currentTarget.value);
          setCursor(0);
        }}
      />
      <ul role="listbox" aria-label="Found">
        {choices.map((choice, index) => (
          <li
            key={choice.key}
            role="option"
            aria-selected={index === at}
            class={index === at ? 'is-cursor' : ''}
            onMouseMove={() => setCursor(index)}
            onClick={() => run(choice)}
          >
            {choice.session ? <MarkOf look={lookOf(choice.session)} /> : <span class="mark arrow">→</span>}
            <span class="palette-text">{choice.text}</span>
            {choice.session && <Time at={choice.session.last_active_at} />}
          </li>
        ))}
        {choices.length === 0 && <li class="muted">{problem ? problem.message : 'Nothing found.'}</li>}
      </ul>
    </div>
  );
}
