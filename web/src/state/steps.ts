// Where the steps of a task stand in a picture: a column for everything that can begin at the same time.
import type { Session, Step } from '../types';

export interface Box {
  step: Step;
  x: number;
  y: number;
}

export interface Edge {
  from: Box;
  to: Box;
}

export interface Drawing {
  boxes: Box[];
  edges: Edge[];
  width: number;
  height: number;
}

export const BOX = { width: 168, height: 44, gapX: 44, gapY: 12 };

/** How many steps must end before it, one after the other. The server has refused circles. */
function levels(steps: Step[]): Map<string, number> {
  const found = new Map<string, number>();
  const levelOf = (step: Step): number => {
    const known = found.get(step.id);
    if (known !== undefined) return known;
    found.set(step.id, 0);
    const before = steps.filter((one) => step.depends_on?.includes(one.id));
    const level = before.length ? 1 + Math.max(...before.map(levelOf)) : 0;
    found.set(step.id, level);
    return level;
  };
  steps.forEach(levelOf);
  return found;
}

export function drawSteps(steps: Step[]): Drawing {
  const level = levels(steps);
  const taken = new Map<number, number>();
  const boxes = steps.map((step): Box => {
    const column = level.get(step.id) ?? 0;
    const row = taken.get(column) ?? 0;
    taken.set(column, row + 1);
    return { step, x: column * (BOX.width + BOX.gapX), y: row * (BOX.height + BOX.gapY) };
  });
  const edges = boxes.flatMap((to) =>
    boxes.filter((from) => to.step.depends_on?.includes(from.step.id)).map((from) => ({ from, to })),
  );
  return {
    boxes,
    edges,
    width: Math.max(0, ...boxes.map((box) => box.x)) + BOX.width,
    height: Math.max(0, ...boxes.map((box) => box.y)) + BOX.height,
  };
}

export const stepOf = (session: Pick<Session, 'metadata'>): string => String(session.metadata?.['step'] ?? '');

/** Sessions of steps as the task orders them; what is no step comes behind, oldest first. */
export function inOrder(sessions: Session[], steps: Step[]): Session[] {
  const rank = (session: Session): number => {
    const at = steps.findIndex((step) => step.id === stepOf(session));
    return at < 0 ? steps.length : at;
  };
  return [...sessions].sort((a, b) => rank(a) - rank(b) || (a.created_at < b.created_at ? -1 : 1));
}

/** A session per run, newest first, with the sessions of its steps. */
export interface Run {
  session: Session;
  steps: Session[];
}

export function runsOf(sessions: Session[]): Run[] {
  const ids = new Set(sessions.map((one) => one.id));
  const heads = sessions.filter((one) => !one.parent_id || !ids.has(one.parent_id));
  return heads
    .filter((one) => !one.parent_id || !stepOf(one))
    .sort((a, b) => (a.created_at < b.created_at ? 1 : -1))
    .map((session) => ({ session, steps: sessions.filter((one) => one.parent_id === session.id) }));
}
