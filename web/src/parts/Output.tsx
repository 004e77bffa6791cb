// An output that waits for approval: its fields, and the same fields to correct them.
import { useState } from 'preact/hooks';
import { pretty } from '../format';
import type { Decision } from './decision';
import { Exact } from './Exact';
import { useLayer } from './layers';

/** How it was scored, and what speaks against it. */
export function Safety({ details }: { details: Record<string, unknown> | undefined }) {
  const score = details?.['criteria_score'];
  const flags = details?.['safety_flags'];
  return (
    <>
      {typeof score === 'number' && score !== 0 && <span class="chip">score {score}</span>}
      {Array.isArray(flags) &&
        flags.map((flag) => (
          <span key={String(flag)} class="chip tone-red">
            {String(flag)}
          </span>
        ))}
    </>
  );
}

export function Staged({ fields }: { fields: Record<string, unknown> }) {
  return (
    <dl class="fields staged">
      {Object.entries(fields).map(([name, value]) => (
        <div key={name} class="field">
          <dt>{name}</dt>
          <dd>
            <Exact text={pretty(value) || '""'} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

interface EditProps {
  fields: Record<string, unknown>;
  decision: Decision;
  onSend: (fields: Record<string, unknown>, by: Event) => void;
  onClose: () => void;
}

/** A field keeps its type: texts are typed as they are, everything else as JSON. */
export function EditOutput({ fields, decision, onSend, onClose }: EditProps) {
  const [texts, setTexts] = useState(() =>
    Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, pretty(value)])),
  );
  const [problem, setProblem] = useState('');
  useLayer(true, onClose);
  const send = (by: Event): void => {
    const read: Record<string, unknown> = {};
    for (const [name, before] of Object.entries(fields)) {
      try {
        read[name] = typeof before === 'string' ? texts[name] : JSON.parse(texts[name] ?? '');
      } catch {
        return setProblem(`${name} was ${Array.isArray(before) ? 'a list' : `a ${typeof before}`}; write it as JSON.`);
      }
    }
    onSend(read, by);
  };
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        send(event);
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) send(event);
      }}
    >
      {Object.keys(fields).map((name, index) => (
        <div key={name} class="form-field is-long">
          <span class="form-label">{name}</span>
          <textarea
            rows={Math.min(8, (texts[name] ?? '').split('\n').length)}
            value={texts[name] ?? ''}
            aria-label={name}
            ref={(node) => index === 0 && node && document.activeElement === document.body && node.focus()}
            onInput={(event) => setTexts({ ...texts, [name]: event.currentTarget.value })}
          />
        </div>
      ))}
      {problem && (
        <p class="problem-line" role="alert">
          {problem}
        </p>
      )}
      <div class="ask-buttons">
        <button class="primary" data-decides={decision.about} disabled={decision.isBusy}>
          Keep it with these changes
        </button>
        <button type="button" class="quiet" onClick={onClose}>
          Back
        </button>
      </div>
    </form>
  );
}
