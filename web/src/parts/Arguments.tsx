// What a tool is called with, as a person wants to read it: a change as a diff, long text as text, the rest by name.
import { pretty } from '../format';
import { isCommand } from '../state/call';
import { editOf } from '../state/diff';
import { Code } from './Code';
import { Diff } from './Diff';
import { Exact } from './Exact';

interface ValueProps {
  name: string;
  value: unknown;
  isWhole: boolean;
}

function Value({ name, value, isWhole }: ValueProps) {
  const text = pretty(value);
  if (text.includes('\n') || text.length > 100 || isCommand(name)) {
    return (
      <div class="argument is-long">
        <Code text={text} name={name} language={isCommand(name) ? 'sh' : ''} isWhole={isWhole} />
      </div>
    );
  }
  return (
    <div class="argument">
      <span class="argument-name">
        <Exact text={name} isOneLine />
      </span>
      <code>
        <Exact text={text || '""'} />
      </code>
    </div>
  );
}

function Values({ value, isWhole }: { value: Record<string, unknown>; isWhole: boolean }) {
  return (
    <div class="arguments">
      {Object.entries(value).map(([name, one]) => (
        <Value key={name} name={name} value={one} isWhole={isWhole} />
      ))}
    </div>
  );
}

export function Arguments({ value, isWhole = false }: { value: unknown; isWhole?: boolean }) {
  const edit = editOf(value);
  if (edit) {
    return (
      <>
        <Diff lines={edit.lines} name={edit.path || 'change'} isWhole={isWhole} />
        <Values value={edit.rest} isWhole={isWhole} />
      </>
    );
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return <Code text={pretty(value)} name="input" language="json" isWhole={isWhole} />;
  if (Object.keys(value).length === 0) return <p class="muted">Without arguments.</p>;
  return <Values value={value as Record<string, unknown>} isWhole={isWhole} />;
}
