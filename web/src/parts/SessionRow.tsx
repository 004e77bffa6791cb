// One session in a list: what it is, what it does, what it needs.
import { memo } from './memo';
import { cost, firstLine, firstLineOfProse, titleOf } from '../format';
import { linkTo } from '../state/navigate';
import { type Place, sessionPlace } from '../state/place';
import { displayOf, lookOf } from '../status';
import type { Ask, Session } from '../types';
import { Exact } from './Exact';
import { RowCall, RowDecision } from './RowDecision';
import { MarkOf } from './Status';
import { Time } from './Time';

const SECOND = 200; // characters of the second line

/** The reason first, then what was said last: what happened, what is happening, what it needs. */
export function SecondLine({ session, ask }: { session: Session; ask?: Ask | undefined }) {
  const display = displayOf(session);
  const said = session.preview ?? (session.title ? session.prompt_snippet : null);
  const error = display === 'failed' ? session.error?.message : null;
  const needsYou = display === 'needs_you' || display === 'blocked';
  return (
    <span class="row-second">
      <span class={ask || needsYou || error ? `tone-${lookOf(session).tone}` : ''}>
        {ask ? 'asks: ' : ''}
        <Exact
          text={
            ask?.text ?? ((error && firstLine(error)) || (needsYou && session.status_reason) || session.display_reason)
          }
          isProse
          isOneLine
          most={SECOND}
          canOpen={false}
        />
      </span>
      {said && (
        <span>
          {' '}
          · <bdi>{firstLineOfProse(said)}</bdi>
        </span>
      )}
    </span>
  );
}

interface Props {
  session: Session;
  ask: Ask | undefined; // that the person at the page may decide
  isDecided: boolean; // and has decided
  peek: Place; // the same page with the session beside it
  isCursor: boolean;
  isSelected: boolean;
  isLeaving: boolean;
  onPoint: (id: string) => void;
  onSelect: (id: string) => void;
}

export const SessionRow = memo(
  ({ session, ask, isDecided, peek, isCursor, isSelected, isLeaving, onPoint, onSelect }: Props) => {
    const where = [session.workspace, session.source.platform ?? session.source.kind].filter(Boolean).join(' · ');
    const names = ['row', isCursor && 'is-cursor', isSelected && 'is-selected', isLeaving && 'is-leaving'];
    return (
      <li class={names.filter(Boolean).join(' ')} data-id={session.id} onMouseDown={() => onPoint(session.id)}>
        <label class="row-pick" title="Select (x)">
          <input
            type="checkbox"
            checked={isSelected}
            aria-label={`Select ${titleOf(session)}`}
            onChange={() => onSelect(session.id)}
          />
          <MarkOf look={lookOf(session)} />
        </label>
        <a class="row-link" {...linkTo(sessionPlace(session.id))}>
          <span class="row-title" dir="auto">
            {titleOf(session)}
          </span>
          <span class="row-agent">{session.agent ?? (session.type === 'agent' ? '' : session.type)}</span>
          <span class="row-where">{where}</span>
          <span class="row-time">
            <Time at={session.last_active_at} />
          </span>
          <span class="row-cost">{cost(session)}</span>
          <SecondLine session={session} ask={ask} />
          {ask && <RowCall ask={ask} />}
        </a>
        {ask?.kind === 'approval' && ask.tool && <RowDecision ask={ask} isGone={isDecided} card={peek} />}
      </li>
    );
  },
);
