// A change of a file, line by line.
import { useState } from 'preact/hooks';
import { countLines, type DiffLine } from '../state/diff';
import { Copy } from './Copy';
import { Characters } from './Exact';

const SHOWN = 60;
const SIGNS = { same: ' ', in: '+', out: '−', head: ' ' };

export function Diff({ lines, name, isWhole: isCard = false }: { lines: DiffLine[]; name: string; isWhole?: boolean }) {
  const [isWhole, setWhole] = useState(isCard);
  const { added, removed } = countLines(lines);
  const shown = isWhole ? lines : lines.slice(0, SHOWN);
  const text = (): string =>
    lines.map((line) => `${line.kind === 'out' ? '-' : SIGNS[line.kind]}${line.text}`).join('\n');
  return (
    <div class={isCard ? 'code diff is-whole' : 'code diff'}>
      <div class="code-head">
        <span>
          <Characters text={name} isOneLine /> <span class="tone-green">+{added}</span>{' '}
          <span class="tone-red">−{removed}</span>
        </span>
        <Copy text={text} />
      </div>
      <pre tabIndex={0} role="group" aria-label={`Change of ${name}`}>
        {shown.map((line, index) => (
          <code key={index} class={`diff-${line.kind}`}>
            <span class="diff-sign">{SIGNS[line.kind]}</span>
            <Characters text={line.text} />
            {'\n'}
          </code>
        ))}
      </pre>
      {shown.length < lines.length && (
        <button class="quiet more" onClick={() => setWhole(true)}>
          {lines.length - shown.length} more lines: show all {lines.length}
        </button>
      )}
    </div>
  );
}
