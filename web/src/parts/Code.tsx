// Code and output: in colours where the language is known, with copy, and reachable by keyboard where it scrolls.
import { useMemo } from 'preact/hooks';
import { highlight } from '../state/highlight';
import { Copy } from './Copy';

interface Props {
  text: string;
  name?: string;
  language?: string;
}

export function Code({ text, name = '', language = name }: Props) {
  const tokens = useMemo(() => highlight(text, language), [text, language]);
  return (
    <div class="code">
      <div class="code-head">
        <span>{name}</span>
        <Copy text={text} />
      </div>
      <pre tabIndex={0} role="group" aria-label={name || 'code'}>
        <code>
          {tokens.map(({ kind, text: part }, index) =>
            kind === 'plain' ? (
              part
            ) : (
              <span key={index} class={`code-${kind}`}>
                {part}
              </span>
            ),
          )}
        </code>
      </pre>
    </div>
  );
}
