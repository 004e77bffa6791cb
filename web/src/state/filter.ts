// Which sessions a list shows: as a query for the server, and as a test for what arrives live.
import { tabOf } from '../status';
import type { Session } from '../types';
import type { Filters } from './place';

export const PAGE = 50;

export function filterQuery(filters: Filters): Record<string, string | number | undefined> {
  return {
    display_status: tabOf(filters.tab).display ?? undefined,
    q: filters.q,
    agent: filters.agent,
    source_kind: filters.source,
    owner: filters.owner,
    kind: filters.kind,
    archived: filters.archived ? 'true' : undefined,
    limit: PAGE,
  };
}

export function matches(session: Session, filters: Filters): boolean {
  const { display } = tabOf(filters.tab);
  const text = `${session.title ?? ''}\n${session.preview ?? ''}`.toLowerCase();
  return (
    (display === null || session.display_status === display) &&
    (session.archived_at !== null) === filters.archived &&
    (!filters.agent || session.agent === filters.agent) &&
    (!filters.source || session.source.kind === filters.source) &&
    (!filters.kind || session.words.kind === filters.kind) &&
    (!filters.owner || session.owner_id === filters.owner) &&
    (!filters.q || text.includes(filters.q.toLowerCase()))
  );
}

export function filterKey(filters: Filters): string {
  return JSON.stringify(filters);
}
