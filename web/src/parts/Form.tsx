// A form that an agent asks to be filled in.
import { useState } from 'preact/hooks';
import { type Field, fieldsOf, readField, startOf } from '../state/form';
import type { Decision } from './decision';

interface Props {
  schema: Record<string, unknown> | undefined;
  decision: Decision;
  onSend: (answer: Record<string, unknown>, by: Event) => void;
  onDecline: (by: Event) => void;
}

interface InputProps {
  field: Field;
  value: unknown;
  onChange: (value: unknown) => void;
}

function Choice({ field, value, onChange }: InputProps) {
  return (
    <select
      value={String(field.choices.findIndex((choice) => choice.value === value))}
      aria-label={field.label}
      onChange={(event) => onChange(field.choices[Number(event.currentTarget.value)]?.value)}
    >
      <option value="-1">{field.isNeeded ? 'Choose…' : '—'}</option>
      {field.choices.map((choice, index) => (
        <option key={index} value={String(index)}>
          {choice.word}
        </option>
      ))}
    </select>
  );
}

function Choices({ field, value, onChange }: InputProps) {
  const held = value as unknown[];
  return (
    <span class="form-choices">
      {field.choices.map((choice, index) => (
        <label key={index}>
          <input
            type="checkbox"
            checked={held.includes(choice.value)}
            onChange={(event) =>
              onChange(
                event.currentTarget.checked ? [...held, choice.value] : held.filter((one) => one !== choice.value),
              )
            }
          />
          {choice.word}
        </label>
      ))}
    </span>
  );
}

function Input(props: InputProps) {
  const { field, value, onChange } = props;
  switch (field.kind) {
    case 'choice':
      return <Choice {...props} />;
    case 'choices':
      return <Choices {...props} />;
    case 'yes':
      return (
        <input
          type="checkbox"
          aria-label={field.label}
          checked={value === true}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
      );
    case 'long':
    case 'json':
      return (
        <textarea
          rows={3}
          aria-label={field.label}
          value={String(value)}
          placeholder={field.kind === 'json' ? 'JSON' : ''}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      );
    case 'text':
    case 'number':
      return (
        <input
          type={field.kind === 'number' ? 'text' : field.inputType}
          inputMode={field.kind === 'number' ? 'decimal' : undefined}
          aria-label={field.label}
          value={String(value)}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      );
  }
}

export function Form({ schema, decision, onSend, onDecline }: Props) {
  const fields = fieldsOf(schema);
  const [values, setValues] = useState(() => Object.fromEntries(fields.map((field) => [field.name, startOf(field)])));
  const [problems, setProblems] = useState<Record<string, string>>({});
  const send = (by: Event): void => {
    const read = fields.map((field) => [field.name, readField(field, values[field.name])] as const);
    const wrong = read.flatMap(([name, filled]) => ('problem' in filled ? [[name, filled.problem]] : []));
    setProblems(Object.fromEntries(wrong));
    const right = read.flatMap(([name, filled]) =>
      'value' in filled && filled.value !== undefined ? [[name, filled.value]] : [],
    );
    if (wrong.length === 0) onSend(Object.fromEntries(right), by);
  };
  return (
    <form
      class="form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        send(event);
      }}
    >
      {fields.map((field) => (
        <div key={field.name} class={`form-field is-${field.kind}`}>
          <span class="form-label">
            {field.label}
            {!field.isNeeded && field.kind !== 'yes' && <span class="muted"> (may be left out)</span>}
          </span>
          <Input
            field={field}
            value={values[field.name]}
            onChange={(value) => setValues({ ...values, [field.name]: value })}
          />
          {field.help && <span class="muted form-help">{field.help}</span>}
          {problems[field.name] && (
            <span class="problem-line" role="alert">
              {problems[field.name]}
            </span>
          )}
        </div>
      ))}
      <div class="ask-buttons">
        <button class="primary" data-decides={decision.about} disabled={decision.isBusy}>
          Send
        </button>
        <button type="button" data-decides={decision.about} disabled={decision.isBusy} onClick={onDecline}>
          Decline
        </button>
      </div>
    </form>
  );
}
