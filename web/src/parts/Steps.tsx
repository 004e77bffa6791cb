// The steps of a task as a small picture: what waits for what, and where a run of it stands.
import { go } from '../state/navigate';
import { sessionPlace } from '../state/place';
import { BOX, type Box, drawSteps, type Edge, stepOf } from '../state/steps';
import { lookOf } from '../status';
import type { Session, Step } from '../types';
import { MarkOf } from './Status';

function Line({ edge: { from, to } }: { edge: Edge }) {
  const [x1, y1] = [from.x + BOX.width, from.y + BOX.height / 2];
  const [x2, y2] = [to.x, to.y + BOX.height / 2];
  const bend = (x2 - x1) / 2;
  return <path class="step-line" d={`M${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2 - 5} ${y2}`} />;
}

const fit = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** Who does it, and what is special about it. */
function whoOf(step: Step): string {
  return `${step.human ? 'a person' : (step.agent ?? '')}${step.requires_approval ? ' · approval' : ''}`;
}

function BoxOf({ box, session }: { box: Box; session: Session | undefined }) {
  const { step, x, y } = box;
  const look = session && lookOf(session);
  const open = (): void => void (session && go(sessionPlace(session.id)));
  return (
    <g
      class={session ? 'step-box is-link' : 'step-box'}
      transform={`translate(${x} ${y})`}
      {...(session && { role: 'link', tabIndex: 0 })}
      data-step={step.id}
      aria-label={[step.name ?? step.id, whoOf(step), look?.word].filter(Boolean).join(', ')}
      onClick={open}
      onKeyDown={(event) => event.key === 'Enter' && open()}
    >
      <title>{[step.name ?? step.id, whoOf(step), look?.word, step.prompt].filter(Boolean).join('\n')}</title>
      <rect width={BOX.width} height={BOX.height} rx="6" />
      <text x="10" y="18" class="step-name">
        {fit(step.name ?? step.id, look ? 20 : 23)}
      </text>
      <text x="10" y="34" class="step-who">
        {fit(whoOf(step), 25)}
      </text>
      {look && (
        <svg x={BOX.width - 22} y="8" width="12" height="12">
          <MarkOf look={look} />
        </svg>
      )}
    </g>
  );
}

export function Steps({ steps, sessions = [] }: { steps: Step[]; sessions?: Session[] }) {
  const { boxes, edges, width, height } = drawSteps(steps);
  return (
    <div class="steps-box" tabIndex={0} role="group" aria-label="Steps">
      <svg class="steps" width={width + 2} height={height + 2} viewBox={`-1 -1 ${width + 2} ${height + 2}`}>
        <defs>
          <marker id="step-tip" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="6" markerHeight="6" orient="auto">
            <path d="M0 0 6 3 0 6z" class="step-tip" />
          </marker>
        </defs>
        {edges.map((edge) => (
          <Line key={`${edge.from.step.id} ${edge.to.step.id}`} edge={edge} />
        ))}
        {boxes.map((box) => (
          <BoxOf key={box.step.id} box={box} session={sessions.find((one) => stepOf(one) === box.step.id)} />
        ))}
      </svg>
    </div>
  );
}
