// Files on their way to a message: dropped, pasted or chosen; each shows how far it is, or why it was refused.
import { useEffect, useRef, useState } from 'preact/hooks';
import { newKey, type Problem, upload } from '../api';
import { bytes } from '../format';
import { isPicture } from '../state/transcript';
import type { File as SessionFile } from '../types';

export interface Upload {
  key: string;
  file: File;
  name: string;
  part: number; // 0 to 1
  done: SessionFile | null;
  problem: Problem | null;
  stop: () => void;
}

export interface Attachments {
  uploads: Upload[];
  isBusy: boolean;
  files: SessionFile[];
  add: (files: Iterable<File>) => void;
  again: (one: Upload) => void;
  drop: (key: string) => void;
  clear: () => void;
}

/** A picture from the clipboard has no name of its own. */
function nameOf(file: File): string {
  return file.name || `pasted.${file.type.split('/').at(-1) ?? 'bin'}`;
}

export function useAttachments(id: string): Attachments {
  const [uploads, setUploads] = useState<Upload[]>([]);
  const latest = useRef(uploads);
  latest.current = uploads;
  useEffect(() => () => latest.current.forEach((one) => one.stop()), []);
  const change = (key: string, by: Partial<Upload>): void =>
    setUploads((all) => all.map((one) => (one.key === key ? { ...one, ...by } : one)));
  const begin = (key: string, file: File): Upload => {
    const stop = new AbortController();
    upload(id, file, nameOf(file), (part) => change(key, { part }), stop.signal).then(
      (done) => change(key, { done, part: 1 }),
      (problem: Problem) => change(key, { problem }),
    );
    return { key, file, name: nameOf(file), part: 0, done: null, problem: null, stop: () => stop.abort() };
  };
  return {
    uploads,
    isBusy: uploads.some((one) => !one.done && !one.problem),
    files: uploads.flatMap((one) => one.done ?? []),
    add: (files) => {
      const fresh = [...files].map((file) => begin(newKey(), file));
      setUploads((all) => [...all, ...fresh]);
    },
    again: (one) => {
      const fresh = begin(one.key, one.file);
      setUploads((all) => all.map((each) => (each.key === one.key ? fresh : each)));
    },
    drop: (key) => {
      latest.current.find((one) => one.key === key)?.stop();
      setUploads((all) => all.filter((one) => one.key !== key));
    },
    clear: () => setUploads([]),
  };
}

function State({ upload: one }: { upload: Upload }) {
  if (one.problem) return <span class="tone-red">not attached: {one.problem.message}</span>;
  if (one.done) return <span class="muted">{bytes(one.file.size)}</span>;
  return <progress max={1} value={one.part} aria-label={`How much of ${one.name} is sent`} />;
}

export function Uploads({ attachments }: { attachments: Attachments }) {
  if (attachments.uploads.length === 0) return null;
  return (
    <ul class="uploads" aria-label="Attached to the message">
      {attachments.uploads.map((one) => (
        <li key={one.key} class={one.problem ? 'upload is-refused' : 'upload'}>
          {one.done && isPicture(one.done.media_type) && <img src={one.done.url} alt="" />}
          <span class="upload-name">{one.name}</span>
          <State upload={one} />
          {one.problem && (
            <button type="button" class="quiet" onClick={() => attachments.again(one)}>
              Try again
            </button>
          )}
          <button
            type="button"
            class="quiet"
            aria-label={`Leave ${one.name} out`}
            title="Leave it out"
            onClick={() => attachments.drop(one.key)}
          >
            ✕
          </button>
        </li>
      ))}
    </ul>
  );
}

/** A button for those who neither drop nor paste. */
export function AttachButton({ isOff, onFiles }: { isOff: boolean; onFiles: (files: Iterable<File>) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button
        type="button"
        class="quiet attach"
        disabled={isOff}
        title="Attach files; dropping and pasting them works, too"
        onClick={() => input.current?.click()}
      >
        Attach
      </button>
      <input
        ref={input}
        class="offscreen"
        type="file"
        multiple
        tabIndex={-1}
        aria-hidden="true"
        onChange={(event) => {
          onFiles(event.currentTarget.files ?? []);
          event.currentTarget.value = '';
        }}
      />
    </>
  );
}
