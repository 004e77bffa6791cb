// Moves through the log: the page shows the session as it was after the chosen event.
import { exact } from '../format';
import { adjust } from '../state/navigate';
import type { Place } from '../state/place';
import type { SessionEvent } from '../types';

interface Props {
  place: Place & { page: 'session' };
  last: number;
  events: SessionEvent[];
}

export function Slider({ place, last, events }: Props) {
  const at = place.at ?? last;
  const event = place.at === null ? undefined : events.find((one) => one.sequence === at);
  const set = (value: number): void => adjust({ ...place, at: value >= last ? null : Math.max(1, value) });
  return (
    <div class={place.at === null ? 'slider' : 'slider is-past'}>
      {place.at !== null && (
        <span class="slider-when">
          as it was{event ? `, ${exact(event.created_at)}` : ''}
          <button class="quiet" onClick={() => adjust({ ...place, at: null })}>
            Back to now
          </button>
        </span>
      )}
      <input
        type="range"
        min={1}
        max={Math.max(last, 1)}
        value={at}
        aria-label="Event"
        aria-valuetext={`event ${at} of ${last}`}
        onInput={(input) => set(Number(input.currentTarget.value))}
      />
      <output class="slider-at">
        {at.toLocaleString()}
        <span class="slider-of"> / {last.toLocaleString()}</span>
      </output>
    </div>
  );
}
