import { useStore } from '../state/store';

/** Who an actor is, in the words of the person at the page; empty when nobody knows. */
export function useName(): (actor: string) => string {
  const me = useStore((state) => state.me);
  const users = useStore((state) => state.users);
  return (actor) => {
    const id = actor.startsWith('user:') ? actor.slice(5) : '';
    if (me && me !== 'unknown' && id && id === me.user_id) return 'you';
    if (actor.startsWith('rule:')) return 'a standing rule';
    return users[id]?.name || users[id]?.email || '';
  };
}
