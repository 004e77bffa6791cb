// Messages that wait until the running turn is over.
import { api, newKey } from '../api';
import type { Prompt, SessionEvent } from '../types';
import { tell, tellProblem } from './notices';
import { dispatch, getState } from './store';

export async function loadQueue(id: string): Promise<void> {
  try {
    dispatch({ type: 'open queue', id, queue: (await api.queue(id)).prompts });
  } catch {
    // the connection's state tells
  }
}

export function noticeQueue(id: string, event: SessionEvent): void {
  const isOfQueue =
    event.type.startsWith('prompt.') || (event.type === 'user.message' && getState().open?.queue.length);
  if (isOfQueue) void loadQueue(id);
}

/** Every change names the revision it is a change of: what somebody else changed meanwhile is not lost. */
async function change(id: string, what: string, call: () => Promise<unknown>): Promise<boolean> {
  try {
    await call();
    return true;
  } catch (problem) {
    tellProblem(what, problem);
    return false;
  } finally {
    await loadQueue(id);
  }
}

async function sendAgain(id: string, prompts: Prompt[]): Promise<void> {
  await change(id, 'The message can’t be brought back', async () => {
    for (const prompt of prompts) await api.send(id, prompt.content, prompt.mode, newKey());
  });
}

export async function withdraw(id: string, prompt: Prompt): Promise<void> {
  const isDone = await change(id, 'The message can’t be withdrawn', () => api.withdraw(id, prompt));
  if (isDone) tell('The message was withdrawn', { undo: () => void sendAgain(id, [prompt]) });
}

export async function clearQueue(id: string): Promise<void> {
  let prompts: Prompt[] = [];
  const isDone = await change(id, 'The messages can’t be withdrawn', async () => {
    prompts = (await api.clearQueue(id, newKey())).prompts;
  });
  if (isDone) tell('All messages that waited were withdrawn', { undo: () => void sendAgain(id, prompts) });
}

export function editPrompt(id: string, prompt: Prompt, text: string): Promise<boolean> {
  return change(id, 'The message stays as it was', () => api.editPrompt(id, prompt, text));
}

export async function movePrompt(id: string, prompt: Prompt, position: number): Promise<void> {
  if (position < 1 || position === prompt.position) return;
  await change(id, 'The message stays where it was', () => api.movePrompt(id, prompt, position));
}

/** It becomes the next; `isNow` also interrupts the running turn. */
export async function promote(id: string, prompt: Prompt, isNow: boolean): Promise<void> {
  await change(id, 'The message stays where it was', () => api.promote(id, prompt, isNow));
}
