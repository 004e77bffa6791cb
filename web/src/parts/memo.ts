import { Component, type ComponentChild, type FunctionComponent, h } from 'preact';

/** Draws again only when a property is another one. */
export function memo<P extends object>(draw: FunctionComponent<P>): FunctionComponent<P> {
  class Memo extends Component<P> {
    override shouldComponentUpdate(next: P): boolean {
      const now = this.props as Record<string, unknown>;
      const then = next as Record<string, unknown>;
      return Object.keys({ ...now, ...then }).some((name) => name !== 'children' && !Object.is(now[name], then[name]));
    }
    override render(): ComponentChild {
      return h(draw as FunctionComponent<object>, this.props as object);
    }
  }
  return Memo as unknown as FunctionComponent<P>;
}
