// Forms from a JSON Schema: the part of it that people can fill in. What is not understood is asked for as JSON.

export type FieldKind = 'text' | 'long' | 'number' | 'yes' | 'choice' | 'choices' | 'json';

export interface Field {
  name: string;
  label: string;
  help: string;
  kind: FieldKind;
  inputType: string;
  isNeeded: boolean;
  isWhole: boolean;
  choices: { value: unknown; word: string }[];
  start: unknown;
  schema: Record<string, unknown>;
}

type Schema = Record<string, unknown>;

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const INPUT_TYPES: Record<string, string> = { email: 'email', uri: 'url', date: 'date', time: 'time' };
const LONG_TEXT = 200;

function choicesOf(schema: Schema): Field['choices'] {
  if (Array.isArray(schema['enum'])) {
    const words = Array.isArray(schema['enumNames']) ? schema['enumNames'] : [];
    return schema['enum'].map((value, index) => ({ value, word: text(words[index]) || String(value) }));
  }
  const listed = schema['oneOf'] ?? schema['anyOf'];
  if (!Array.isArray(listed) || !listed.every((one) => isSchema(one) && 'const' in one)) return [];
  return listed.map((one: Schema) => ({ value: one['const'], word: text(one['title']) || String(one['const']) }));
}

function kindOf(schema: Schema, choices: Field['choices']): FieldKind {
  if (choices.length > 0) return 'choice';
  switch (schema['type']) {
    case 'string':
      return Number(schema['maxLength'] ?? 0) > LONG_TEXT || schema['format'] === 'textarea' ? 'long' : 'text';
    case 'number':
    case 'integer':
      return 'number';
    case 'boolean':
      return 'yes';
    case 'array':
      return isSchema(schema['items']) && choicesOf(schema['items']).length > 0 ? 'choices' : 'json';
    default:
      return 'json';
  }
}

export function fieldsOf(schema: Schema | undefined): Field[] {
  const properties = isSchema(schema?.['properties']) ? schema['properties'] : {};
  const needed = Array.isArray(schema?.['required']) ? schema['required'] : [];
  return Object.entries(properties).map(([name, value]) => {
    const one = isSchema(value) ? value : {};
    const items = isSchema(one['items']) ? one['items'] : {};
    const kind = kindOf(one, choicesOf(one));
    return {
      name,
      label: text(one['title']) || name,
      help: text(one['description']),
      kind,
      inputType: INPUT_TYPES[text(one['format'])] ?? 'text',
      isNeeded: needed.includes(name),
      isWhole: one['type'] === 'integer',
      choices: kind === 'choices' ? choicesOf(items) : choicesOf(one),
      start: one['default'],
      schema: one,
    };
  });
}

/** What stands in a field at first: text for everything that is typed. */
export function startOf(field: Field): unknown {
  if (field.kind === 'yes') return field.start === true;
  if (field.kind === 'choices') return Array.isArray(field.start) ? field.start : [];
  if (field.kind === 'choice') return field.start;
  if (field.start === undefined) return '';
  return field.kind === 'json' ? JSON.stringify(field.start, null, 2) : String(field.start);
}

export type Filled = { value: unknown } | { problem: string };

function readNumber(field: Field, typed: string): Filled {
  const value = Number(typed);
  if (!Number.isFinite(value) || (field.isWhole && !Number.isInteger(value))) {
    return { problem: field.isWhole ? 'A whole number, please.' : 'A number, please.' };
  }
  return { value };
}

/** The value of a field, undefined when it is left out, or what is wrong with it. */
export function readField(field: Field, held: unknown): Filled {
  const isLeft = held === '' || held === undefined || (field.kind === 'choices' && (held as unknown[]).length === 0);
  if (isLeft)
    return field.isNeeded && field.kind !== 'choices'
      ? { problem: 'Needed.' }
      : { value: field.kind === 'choices' && field.isNeeded ? [] : undefined };
  if (field.kind === 'number') return readNumber(field, String(held));
  if (field.kind !== 'json') return { value: held };
  try {
    return { value: JSON.parse(String(held)) };
  } catch {
    return { problem: 'This is not JSON.' };
  }
}
