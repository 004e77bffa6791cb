// Code and output: in colours where the language is known, with copy, and reachable by keyboard where it scrolls.
import { useMemo } from 'preact/hooks';
import { highlight } from '../state/highlight';
import { Copy } from './Copy';
import { Characters } from './Exact';

interface Props {
  text: string;
  name?: string;
  language?: string;
  /** Not to be scrolled: for what is decided about. */
  isWhole?: boolean;
}

export function Code({ text, name = '', language = name, isWhole = false }: Props) {
  const tokens = useMemo(() => highlight(text, language), [text, language]);
  return (
    <div class={isWhole ? 'code is-whole' : 'code'}>
      <div class="code-head">
        <span>
          <Characters text={name} isOneLine />
        </span>
        <Copy text={text} />
      </div>
      <pre tabIndex={0} role="group" aria-label={name || 'code'}>
        <code>
          {tokens.map(({ kind, text: part }, index) =>
            kind === 'plain' ? (
              <Characters key={index} text={part} />
            ) : (
              <span key={index} class={`code-${kind}`}>
                <Characters text={part} />
              </span>
            ),
          )}
        </code>
      </pre>
    </div>
  );
}
