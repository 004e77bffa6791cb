// What a tool is called with, as a person wants to read it: a change as a diff, long text as text, the rest by name.
import { pretty } from '../format';
import { editOf } from '../state/diff';
import { Diff } from './Diff';
import { Code } from './Code';

const COMMAND_NAMES = ['command', 'cmd', 'script'];

function Value({ name, value }: { name: string; value: unknown }) {
  const text = pretty(value);
  if (text.includes('\n') || text.length > 100 || COMMAND_NAMES.includes(name)) {
    return (
      <div class="argument is-long">
        <Code text={text} name={name} language={COMMAND_NAMES.includes(name) ? 'sh' : ''} />
      </div>
    );
  }
  return (
    <div class="argument">
      <span class="argument-name">{name}</span>
      <code>{text || '""'}</code>
    </div>
  );
}

export function Arguments({ value }: { value: unknown }) {
  const edit = editOf(value);
  if (edit) return <Diff lines={edit.lines} name={edit.path || 'change'} />;
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return <Code text={pretty(value)} name="input" language="json" />;
  const all = Object.entries(value);
  if (all.length === 0) return <p class="muted">Without arguments.</p>;
  return (
    <div class="arguments">
      {all.map(([name, one]) => (
        <Value key={name} name={name} value={one} />
      ))}
    </div>
  );
}
