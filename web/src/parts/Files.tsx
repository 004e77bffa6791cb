// What the work changed, with the changes as far as the log tells them, and the files of the session.
import { useState } from 'preact/hooks';
import { api } from '../api';
import { bytes } from '../format';
import { type DiffLine, editOf } from '../state/diff';
import { escaped } from '../state/exact';
import { isPicture, transcript } from '../state/transcript';
import type { ChangedFile, File, Session, SessionEvent } from '../types';
import { Copy, Id } from './Copy';
import { Diff } from './Diff';
import { Exact } from './Exact';
import { useLive } from './loaded';
import { Failed, Waiting } from './States';
import { Time } from './Time';

const LETTERS = {
  added: { letter: 'A', tone: 'green' },
  modified: { letter: 'M', tone: 'amber' },
  deleted: { letter: 'D', tone: 'red' },
  renamed: { letter: 'R', tone: 'blue' },
};

const isSame = (one: string, other: string): boolean => one === other || one.endsWith(`/${other}`);

/** Every change of the file that a tool was called with. */
function editsOf(events: SessionEvent[], path: string): DiffLine[][] {
  return transcript(events).flatMap((item) => {
    const edit = item.kind === 'tool' && item.tool.state !== 'failed' ? editOf(item.tool.input) : null;
    return edit && isSame(edit.path, path) ? [edit.lines] : [];
  });
}

function Changes({ file, events }: { file: ChangedFile; events: SessionEvent[] }) {
  const edits = editsOf(events, file.path);
  return (
    <div class="file-diff">
      {edits.map((lines, index) => (
        <Diff key={index} lines={lines} name={file.path} />
      ))}
      {edits.length === 0 && (
        <p class="muted">
          The part of the log that is loaded does not tell how{' '}
          <code>
            <Exact text={file.path} isOneLine />
          </code>{' '}
          changed. <Copy text={file.path} label="Copy path" />
        </p>
      )}
    </div>
  );
}

function ChangedRow({ file, isChosen, onPick }: { file: ChangedFile; isChosen: boolean; onPick: () => void }) {
  const { letter, tone } = LETTERS[file.status];
  return (
    <li class={isChosen ? 'file-row is-cursor' : 'file-row'}>
      <button
        aria-expanded={isChosen}
        onClick={onPick}
        title={escaped(file.previous_path ? `was ${file.previous_path}` : file.path, true)}
      >
        <span class={`file-letter tone-${tone}`} title={file.status}>
          {letter}
        </span>
        <span class="file-path">
          <Exact text={file.path} isOneLine canOpen={false} />
        </span>
        {file.additions > 0 && <span class="tone-green">+{file.additions}</span>}
        {file.deletions > 0 && <span class="tone-red">−{file.deletions}</span>}
      </button>
    </li>
  );
}

function Changed({ files, events }: { files: ChangedFile[]; events: SessionEvent[] }) {
  const [chosen, setChosen] = useState('');
  const file = files.find((one) => one.path === chosen);
  return (
    <>
      <ul class="changed">
        {files.map((one) => (
          <ChangedRow
            key={one.path}
            file={one}
            isChosen={one.path === chosen}
            onPick={() => setChosen(one.path === chosen ? '' : one.path)}
          />
        ))}
      </ul>
      {file && <Changes file={file} events={events} />}
    </>
  );
}

function Attached({ file }: { file: File }) {
  const name = file.name ?? file.handle;
  return (
    <li class="file">
      <a class="file-preview" href={file.url} download={file.name ?? 'file'} title={`Download ${name}`}>
        {isPicture(file.media_type) ? (
          <img src={file.url} alt={name} loading="lazy" />
        ) : (
          <span class="muted">{file.media_type.split('/').at(-1)?.slice(0, 8)}</span>
        )}
      </a>
      <div class="file-about">
        <div class="file-name">
          <Exact text={file.name ?? 'without a name'} isOneLine />
        </div>
        <div class="muted">
          {bytes(file.bytes)} · {file.media_type} · <Time at={file.created_at} suffix=" ago" />
        </div>
        <Id value={file.handle} />
      </div>
      <a class="button" href={file.url} download={file.name ?? 'file'}>
        Download
      </a>
    </li>
  );
}

export function Files({
  session,
  events,
  children,
}: {
  session: Session;
  events: SessionEvent[];
  children?: preact.ComponentChildren;
}) {
  const { id } = session;
  const changed = useLive(`changed ${id}`, (signal) => api.changedFiles(id, signal));
  const files = useLive(`files ${id}`, (signal) => api.files(id, signal));
  const problem = changed.problem ?? files.problem;
  const again = (): void => (changed.again(), files.again());
  if (problem && !(changed.value && files.value)) {
    return <Failed what="Couldn’t load files" problem={problem} again={again} />;
  }
  if (!changed.value || !files.value) return <Waiting />;
  return (
    <div class="side-pad files">
      <h2>
        Changed <span class="count">{changed.value.files.length || ''}</span>
      </h2>
      {changed.value.files.length === 0 ? (
        <p class="muted">No file was changed yet.</p>
      ) : (
        <Changed files={changed.value.files} events={events} />
      )}
      {changed.value.has_more && <p class="muted">There are more; these are the first.</p>}
      <h2>
        Attached <span class="count">{files.value.files.length || ''}</span>
      </h2>
      {files.value.files.length === 0 && (
        <p class="muted">No file is attached. Drop one on the message, paste it, or use Attach.</p>
      )}
      <ul>
        {files.value.files.map((file) => (
          <Attached key={file.handle} file={file} />
        ))}
      </ul>
      {children}
    </div>
  );
}
