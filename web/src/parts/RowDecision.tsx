// A decision in a row: only where the row shows all of what would be allowed; everything else is decided on its card.
import { askKey } from '../state/asklist';
import { wholeCallOf } from '../state/call';
import { go } from '../state/navigate';
import type { Place } from '../state/place';
import { useStore } from '../state/store';
import type { Ask } from '../types';
import { outcomeOf } from './outcome';
import { Exact } from './Exact';
import { useDecision } from './decision';

/** What the buttons of the row are about. */
export function RowCall({ ask }: { ask: Ask }) {
  const call = wholeCallOf(ask);
  return call === null ? null : (
    <code class="row-call" data-decided={askKey(ask)}>
      <Exact text={call} isOneLine canOpen={false} />
    </code>
  );
}

/** The last word on an ask that is decided; what was decided elsewhere is not known here. */
export function Outcome({ ask }: { ask: Ask }) {
  const done = useStore((state) => state.asks.done.find((one) => askKey(one) === askKey(ask)));
  const text = done ? outcomeOf(done) : 'decided elsewhere';
  const tone = done?.decision === 'deny' ? 'red' : done?.state === 'answered' ? 'green' : 'grey';
  return <span class={`outcome tone-${tone}`}>{text}</span>;
}

function Buttons({ ask, card }: { ask: Ask; card: Place }) {
  const { about, isBusy, problem, send } = useDecision(ask);
  const isWhole = wholeCallOf(ask) !== null;
  return (
    <>
      {problem && (
        <span class="tone-red" role="alert">
          {problem.message}
        </span>
      )}
      {isWhole && (
        <button
          data-decides={about}
          data-needs-call
          disabled={isBusy}
          onClick={(event) => send({ decision: 'once' }, event)}
        >
          Allow once
        </button>
      )}
      {!isWhole && <button onClick={() => go(card)}>Review</button>}
      <button
        class="danger"
        data-decides={about}
        disabled={isBusy}
        onClick={(event) => send({ decision: 'deny' }, event)}
      >
        Deny
      </button>
    </>
  );
}

interface Props {
  ask: Ask;
  isGone: boolean;
  /** Where the whole of it is shown. */
  card: Place;
}

export function RowDecision({ ask, isGone, card }: Props) {
  return <span class="row-acts">{isGone ? <Outcome ask={ask} /> : <Buttons ask={ask} card={card} />}</span>;
}
