// Who takes part, and links that let others join.
import { useCallback, useEffect, useState } from 'preact/hooks';
import { api, type Problem } from '../api';
import { plural } from '../format';
import { tellProblem } from '../state/notices';
import type { ListedParticipant, Session, ShareLink } from '../types';
import { Copy } from './Copy';
import { Failed, Waiting } from './States';
import { Time } from './Time';

interface Loaded {
  participants: ListedParticipant[];
  links: ShareLink[] | null; // null: only those who may share see them
}

async function load(id: string): Promise<Loaded> {
  const [{ participants }, links] = await Promise.all([
    api.participants(id),
    api.shareLinks(id).then(
      (answer) => answer.share_links,
      (problem: Problem) => {
        if (problem.status === 403) return null;
        throw problem;
      },
    ),
  ]);
  return { participants, links };
}

function useLoaded(id: string, sequence: number) {
  const [loaded, setLoaded] = useState<Loaded | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const again = useCallback(() => void load(id).then((all) => (setLoaded(all), setProblem(null)), setProblem), [id]);
  useEffect(again, [again, sequence]);
  /** Does something and looks again. */
  const act = (what: string, work: Promise<unknown>): void =>
    void work.then(again, (error: Problem) => tellProblem(what, error));
  return { loaded, problem, again, act };
}

function Invite({ onInvite }: { onInvite: (email: string, role: string) => void }) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState('collaborator');
  return (
    <form
      class="inline"
      onSubmit={(event) => {
        event.preventDefault();
        onInvite(email, role);
        setEmail('');
      }}
    >
      <input
        type="email"
        required
        placeholder="email of a colleague"
        aria-label="Email"
        value={email}
        onInput={(event) => setEmail(event.currentTarget.value)}
      />
      <select class="choice" aria-label="Role" value={role} onChange={(event) => setRole(event.currentTarget.value)}>
        <option value="collaborator">collaborator</option>
        <option value="viewer">viewer</option>
      </select>
      <button>Add</button>
    </form>
  );
}

function Links({
  links,
  fresh,
  onMake,
  onEnd,
}: {
  links: ShareLink[];
  fresh: ShareLink | null;
  onMake: (role: string) => void;
  onEnd: (id: string) => void;
}) {
  const active = links.filter((link) => link.active);
  return (
    <>
      <h2>Share links</h2>
      {fresh?.token && (
        <div class="fresh-link">
          <code>{`${location.origin}/sessions/join#${fresh.token}`}</code>
          <Copy text={`${location.origin}/sessions/join#${fresh.token}`} />
          <p class="muted">Shown once: copy it now.</p>
        </div>
      )}
      <ul class="people">
        {active.map((link) => (
          <li key={link.id}>
            <span>{link.role}</span>
            <span class="muted">
              used {link.max_uses ? `${link.use_count} of ${link.max_uses} times` : plural(link.use_count, 'time')} ·
              made <Time at={link.created_at} suffix=" ago" />
            </span>
            <button class="quiet" onClick={() => onEnd(link.id)}>
              End
            </button>
          </li>
        ))}
      </ul>
      {active.length === 0 && !fresh && (
        <p class="muted">No link. Whoever opens one and signs in joins this session.</p>
      )}
      <div class="inline">
        <button onClick={() => onMake('viewer')}>Link for viewers</button>
        <button onClick={() => onMake('collaborator')}>Link for collaborators</button>
      </div>
    </>
  );
}

export function People({ session }: { session: Session }) {
  const { id } = session;
  const [fresh, setFresh] = useState<ShareLink | null>(null);
  const { loaded, problem, again, act } = useLoaded(id, session.last_sequence);
  if (problem) return <Failed what="Couldn’t load people" problem={problem} again={again} />;
  if (!loaded) return <Waiting />;
  return (
    <div class="side-pad">
      <h2>Takes part</h2>
      <ul class="people">
        {loaded.participants.map((person) => (
          <li key={person.user_id}>
            <span>{person.name || person.email || person.user_id}</span>
            <span class="muted">
              {person.role} ·{' '}
              {person.role === 'owner' ? (
                session.visibility
              ) : (
                <>
                  since <Time at={person.added_at} />
                </>
              )}
            </span>
            {person.role !== 'owner' && (
              <button class="quiet" onClick={() => act('Can’t be removed', api.removeParticipant(id, person.user_id))}>
                Remove
              </button>
            )}
          </li>
        ))}
      </ul>
      <Invite onInvite={(email, role) => act('Can’t be added', api.addParticipant(id, email, role))} />
      {loaded.links && (
        <Links
          links={loaded.links}
          fresh={fresh}
          onMake={(role) => act('No link could be made', api.createShareLink(id, role).then(setFresh))}
          onEnd={(link) =>
            act(
              'The link is still active',
              api.endShareLink(id, link).then(() => setFresh(null)),
            )
          }
        />
      )}
    </div>
  );
}
