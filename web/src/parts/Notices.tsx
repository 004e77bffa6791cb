// What just happened, with a way back.
import { dispatch, useStore } from '../state/store';

export function Notices() {
  const notices = useStore((state) => state.notices);
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.map((notice) => (
        <div key={notice.id} class={notice.isProblem ? 'notice problem' : 'notice'}>
          <span>{notice.text}</span>
          {notice.undo && (
            <button
              class="quiet"
              onClick={() => {
                notice.undo?.();
                dispatch({ type: 'notice over', id: notice.id });
              }}
            >
              Undo
            </button>
          )}
          <button class="quiet" aria-label="Close" onClick={() => dispatch({ type: 'notice over', id: notice.id })}>
            ✕
          </button>
        </div>
      ))}
    </div>
  );
}
