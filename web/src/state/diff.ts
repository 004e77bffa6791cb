// What changed between two texts, line by line.

export interface DiffLine {
  kind: 'same' | 'out' | 'in' | 'head';
  text: string;
}

const LINES_MAX = 600; // above, everything old stands before everything new

function lengths(old: string[], fresh: string[]): Uint16Array[] {
  const table = Array.from({ length: old.length + 1 }, () => new Uint16Array(fresh.length + 1));
  for (let i = old.length - 1; i >= 0; i--) {
    const [row, below] = [table[i] as Uint16Array, table[i + 1] as Uint16Array];
    for (let j = fresh.length - 1; j >= 0; j--) {
      row[j] = old[i] === fresh[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0);
    }
  }
  return table;
}

export function diffOf(before: string, after: string): DiffLine[] {
  const old = before === '' ? [] : before.split('\n');
  const fresh = after === '' ? [] : after.split('\n');
  const isLong = old.length > LINES_MAX || fresh.length > LINES_MAX;
  const table = isLong ? null : lengths(old, fresh);
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < fresh.length) {
    if (!isLong && i < old.length && j < fresh.length && old[i] === fresh[j]) {
      lines.push({ kind: 'same', text: old[i] as string });
      i += 1;
      j += 1;
    } else if (
      i < old.length &&
      (isLong || j >= fresh.length || (table?.[i + 1]?.[j] ?? 0) >= (table?.[i]?.[j + 1] ?? 0))
    ) {
      lines.push({ kind: 'out', text: old[i] as string });
      i += 1;
    } else {
      lines.push({ kind: 'in', text: fresh[j] as string });
      j += 1;
    }
  }
  return lines;
}

/** A text that is a diff already. */
export function readDiff(text: string): DiffLine[] | null {
  const lines = text.replace(/\n$/, '').split('\n');
  const isUnified =
    lines.some((line) => line.startsWith('@@ ')) || lines.some((line) => line.startsWith('diff --git '));
  const isMarked = lines.length > 1 && lines.every((line) => /^[-+]/.test(line));
  if (!isUnified && !isMarked) return null;
  return lines.map((line) => {
    if (/^(@@|diff |index |---|\+\+\+)/.test(line)) return { kind: 'head', text: line };
    if (line.startsWith('+')) return { kind: 'in', text: line.slice(1) };
    if (line.startsWith('-')) return { kind: 'out', text: line.slice(1) };
    return { kind: 'same', text: line.replace(/^ /, '') };
  });
}

export interface Edit {
  path: string;
  lines: DiffLine[];
  rest: Record<string, unknown>; // what the change does not show
}

const OLD_NAMES = ['old', 'old_string', 'old_text', 'oldText', 'old_str'];
const NEW_NAMES = ['new', 'new_string', 'new_text', 'newText', 'new_str'];
const PATH_NAMES = ['path', 'file_path', 'file'];

/** The arguments of a tool that changes a file, as what they change. */
export function editOf(input: unknown): Edit | null {
  if (typeof input !== 'object' || input === null) return null;
  const all = input as Record<string, unknown>;
  const nameOf = (names: string[]): string => names.find((name) => typeof all[name] === 'string') ?? '';
  const edit = (lines: DiffLine[], shown: string[]): Edit => {
    const rest = Object.entries(all).filter(([name]) => name !== path && !shown.includes(name));
    return { path: path ? (all[path] as string) : '', lines, rest: Object.fromEntries(rest) };
  };
  const [old, fresh, path] = [nameOf(OLD_NAMES), nameOf(NEW_NAMES), nameOf(PATH_NAMES)];
  if (old && fresh) return edit(diffOf(all[old] as string, all[fresh] as string), [old, fresh]);
  const patch = nameOf(['patch', 'diff']);
  const lines = patch ? readDiff(all[patch] as string) : null;
  return lines && edit(lines, [patch]);
}

export function countLines(lines: DiffLine[]): { added: number; removed: number } {
  const count = (kind: DiffLine['kind']): number => lines.filter((line) => line.kind === kind).length;
  return { added: count('in'), removed: count('out') };
}
