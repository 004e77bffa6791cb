// The day, hour by hour: everything that moved, newest first.
import { useDay } from '../parts/day';
import { useRows } from '../parts/rows';
import { Empty, Failed, Waiting } from '../parts/States';
import { hoursOf } from '../state/day';
import { dispatch } from '../state/store';
import { Figures, SessionLine } from './Home';

export function Today() {
  const { day, isMore, problem, again } = useDay();
  useRows('.home-row a');
  if (problem && !day) return <Failed what="Couldn’t load the day" problem={problem} again={again} />;
  if (!day) return <Waiting />;
  if (day.sessions.length === 0) {
    return (
      <Empty title="Nothing happened today" text="What you or an agent does is listed here, hour by hour.">
        <div class="command">
          <code>sojourn chat demo</code>
        </div>
        <button onClick={() => dispatch({ type: 'dialog', dialog: { kind: 'new' } })}>New session</button>
      </Empty>
    );
  }
  return (
    <div class="plain today">
      <header class="home-head">
        <h1>Today</h1>
        <Figures day={day} isMore={isMore} />
      </header>
      {hoursOf(day.sessions).map((hour) => (
        <section key={hour.word} aria-label={hour.word}>
          <h2 class="group">
            {hour.word} <span class="count">{hour.sessions.length}</span>
          </h2>
          <ul>
            {hour.sessions.map((session) => (
              <SessionLine key={session.id} session={session} />
            ))}
          </ul>
        </section>
      ))}
      {isMore && <p class="muted">There is more; these are the newest.</p>}
    </div>
  );
}
