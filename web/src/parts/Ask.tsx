import { useEffect, useRef, useState } from 'preact/hooks';
import type { Problem } from '../api';
import { plural, pretty } from '../format';
import { mayDecide } from '../state/asklist';
import { decide } from '../state/asks';
import { useStore } from '../state/store';
import type { Ask, Reply } from '../types';
import { Arguments } from './Arguments';
import { Expiry } from './Expiry';
import { Form } from './Form';
import { type Keys, useKeys } from './keys';
import { Code } from './Code';
import { EditOutput, isOutput, Safety, Staged, stagedOf } from './Output';

interface Deciding {
  ask: Ask;
  isBusy: boolean;
  hasKeys: boolean;
  send: (reply: Reply) => void;
}

const KIND_WORDS = { approval: 'asks for approval', question: 'asks', elicitation: 'asks you to fill in a form' };

// --- saying no ---

function Deny({ isBusy, send, close }: Pick<Deciding, 'isBusy' | 'send'> & { close: () => void }) {
  const [reason, setReason] = useState('');
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  return (
    <form
      class="ask-buttons"
      onSubmit={(event) => {
        event.preventDefault();
        send(reason.trim() ? { decision: 'deny', reason: reason.trim() } : { decision: 'deny' });
      }}
    >
      <input
        ref={input}
        class="ask-reason"
        value={reason}
        maxLength={4000}
        placeholder="Why not? It is read. May be left empty."
        aria-label="Reason"
        onInput={(event) => setReason(event.currentTarget.value)}
        onKeyDown={(event) => event.key === 'Escape' && close()}
      />
      <button class="danger" disabled={isBusy}>
        Deny
      </button>
      <button type="button" class="quiet" onClick={close}>
        Back
      </button>
    </form>
  );
}

// --- approvals ---

function Edit({ ask, isBusy, send, close }: Deciding & { close: () => void }) {
  const [text, setText] = useState(() => JSON.stringify(ask.arguments ?? {}, null, 2));
  const [problem, setProblem] = useState('');
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => area.current?.focus(), []);
  const allow = (): void => {
    try {
      send({ decision: 'once', answer: JSON.parse(text) });
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  return (
    <>
      <textarea
        ref={area}
        class="ask-edit"
        rows={Math.min(14, text.split('\n').length + 1)}
        value={text}
        spellcheck={false}
        aria-label="Arguments"
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => event.key === 'Escape' && close()}
      />
      {problem && <p class="problem-line">This is not JSON: {problem}</p>}
      <div class="ask-buttons">
        <button class="primary" disabled={isBusy} onClick={allow}>
          Allow with these arguments
        </button>
        <button class="quiet" onClick={close}>
          Back
        </button>
      </div>
    </>
  );
}

function ApprovalButtons({ ask, isBusy, hasKeys, send, open }: Deciding & { open: (step: 'deny' | 'edit') => void }) {
  const [isExact, setExact] = useState(false);
  const standing = isExact ? { these_arguments: true } : {};
  const isOfTool = Boolean(ask.tool);
  const keys: Keys = {
    a: () => send({ decision: 'once' }),
    d: () => open('deny'),
    ...(isOfTool && {
      s: () => send({ decision: 'session', ...standing }),
      A: () => send({ decision: 'always', ...standing }),
    }),
    ...(ask.editable && { e: () => open('edit') }),
  };
  useKeys(hasKeys && !isBusy, keys);
  const key = (name: string) => hasKeys && <kbd>{name}</kbd>;
  return (
    <>
      <div class="ask-buttons">
        <button class="primary" disabled={isBusy} onClick={() => send({ decision: 'once' })}>
          {isOutput(ask) ? 'Keep it' : 'Allow once'} {key('a')}
        </button>
        {isOfTool && (
          <>
            <button disabled={isBusy} onClick={() => send({ decision: 'session', ...standing })}>
              For the session {key('s')}
            </button>
            <button disabled={isBusy} onClick={() => send({ decision: 'always', ...standing })}>
              Always {key('A')}
            </button>
          </>
        )}
        {ask.editable && (
          <button disabled={isBusy} onClick={() => open('edit')}>
            Edit… {key('e')}
          </button>
        )}
        <button class="danger" disabled={isBusy} onClick={() => open('deny')}>
          {isOutput(ask) ? 'Reject…' : 'Deny…'} {key('d')}
        </button>
      </div>
      {isOfTool && (
        <label class="ask-exact">
          <input type="checkbox" checked={isExact} onChange={(event) => setExact(event.currentTarget.checked)} />
          for the session and always: only with exactly these arguments
        </label>
      )}
    </>
  );
}

// --- questions ---

function Question({ ask, isBusy, hasKeys, send }: Deciding) {
  const [text, setText] = useState('');
  const options = ask.options ?? [];
  const keys = options.slice(0, 9).map((option, index) => [String(index + 1), () => send({ answer: option })] as const);
  useKeys(hasKeys && !isBusy, Object.fromEntries(keys));
  if (options.length > 0) {
    return (
      <div class="ask-options">
        {options.map((option, index) => (
          <button key={option} disabled={isBusy} onClick={() => send({ answer: option })}>
            {hasKeys && index < 9 && <kbd>{index + 1}</kbd>} {option}
          </button>
        ))}
      </div>
    );
  }
  return (
    <form
      class="ask-buttons"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim()) send({ answer: text });
      }}
    >
      <textarea
        class="ask-reason"
        rows={2}
        value={text}
        aria-label="Answer"
        placeholder="Answer…"
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.metaKey || event.ctrlKey) && text.trim()) send({ answer: text });
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
      <button class="primary" disabled={isBusy || !text.trim()}>
        Answer
      </button>
    </form>
  );
}

// --- the whole ---

function Decide(deciding: Deciding) {
  const { ask, isBusy, send } = deciding;
  const [step, setStep] = useState<'choose' | 'deny' | 'edit'>('choose');
  const back = (): void => setStep('choose');
  if (step === 'deny') return <Deny isBusy={isBusy} send={send} close={back} />;
  if (step === 'edit' && isOutput(ask)) {
    const keep = (answer: Record<string, unknown>): void => send({ decision: 'once', answer });
    return <EditOutput fields={stagedOf(ask)} isBusy={isBusy} onSend={keep} onClose={back} />;
  }
  if (step === 'edit') return <Edit {...deciding} close={back} />;
  switch (ask.kind) {
    case 'approval':
      return <ApprovalButtons {...deciding} open={setStep} />;
    case 'question':
      return (
        <>
          <Question {...deciding} />
          <button class="quiet ask-decline" disabled={isBusy} onClick={() => setStep('deny')}>
            Don’t answer…
          </button>
        </>
      );
    case 'elicitation':
      return (
        <Form
          schema={ask.schema}
          isBusy={isBusy}
          onSend={(answer) => send({ answer })}
          onDecline={() => setStep('deny')}
        />
      );
  }
}

const RISK_TONES: Record<string, string> = { low: 'green', medium: 'amber', high: 'red', critical: 'red' };

function Details({ details }: { details: Record<string, unknown> }) {
  const { risk: _risk, preview, ...rest } = details;
  const shown = Object.entries(rest).filter(([, value]) => value !== null && value !== '');
  return (
    <>
      {typeof preview === 'string' && <Code text={preview} name="preview" />}
      {shown.length > 0 && <Arguments value={Object.fromEntries(shown)} />}
    </>
  );
}

function Risk({ details }: { details: Record<string, unknown> | undefined }) {
  const risk = details?.['risk'];
  if (typeof risk !== 'string') return null;
  return <span class={`chip risk tone-${RISK_TONES[risk] ?? 'amber'}`}>{risk} risk</span>;
}

function Votes({ ask }: { ask: Ask }) {
  if (ask.quorum <= 1) return null;
  const agreed = (ask.votes ?? []).filter((vote) => vote.decision !== 'deny').length;
  return (
    <span class="muted">
      {agreed} of {plural(ask.quorum, 'person', 'people')} agreed
    </span>
  );
}

interface Props {
  ask: Ask;
  hasKeys: boolean;
  onDecided?: () => void;
}

/** Decides nothing by itself; refusals of the server stand where the buttons are, and what was typed stays. */
export function AskCard({ ask, hasKeys, onDecided }: Props) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const asks = useStore((state) => state.asks);
  const may = mayDecide(asks, ask);
  const stream = useStore((state) => state.stream);
  useEffect(() => setProblem(null), [stream]);
  const send = async (reply: Reply): Promise<void> => {
    setBusy(true);
    const failed = await decide(ask, reply);
    setProblem(failed);
    setBusy(false);
    if (!failed) onDecided?.();
  };
  const deciding = { ask, hasKeys: hasKeys && may, send: (reply: Reply) => void send(reply) };
  return (
    <section class="ask" aria-label={KIND_WORDS[ask.kind]} data-ask={ask.id}>
      <div class="ask-head">
        <span class="tone-orange ask-kind">
          {ask.agent ?? 'The agent'} {isOutput(ask) ? 'brought an output' : KIND_WORDS[ask.kind]}
        </span>
        {isOutput(ask) && <Safety details={ask.details} />}
        {ask.tool && <code>{ask.tool}</code>}
        <Risk details={ask.details} />
        <Votes ask={ask} />
        <Expiry from={ask.created_at} to={ask.expires_at} />
      </div>
      <p class="ask-text">{ask.text}</p>
      {isOutput(ask) ? (
        <Staged fields={stagedOf(ask)} />
      ) : (
        <>
          {ask.kind === 'approval' && ask.arguments && <Arguments value={ask.arguments} />}
          {ask.details && <Details details={ask.details} />}
        </>
      )}
      {!may ? (
        <p class="muted">Only somebody who is {ask.role} of the session, or more, can decide this.</p>
      ) : (
        <Decide {...deciding} isBusy={isBusy} />
      )}
      {problem && (
        <p class="problem-line" role="alert">
          {problem.message} Nothing was decided.
        </p>
      )}
    </section>
  );
}

// --- afterwards ---

const DECISION_WORDS = {
  once: 'allowed once',
  session: 'allowed for the session',
  always: 'always allowed',
  deny: 'denied',
};

/** What became of it, in a few words. */
export function outcomeOf(ask: Pick<Ask, 'kind' | 'state' | 'decision' | 'answer' | 'reason' | 'details'>): string {
  const reason = ask.reason ? `: ${ask.reason}` : '';
  if (ask.state === 'expired') return 'nobody decided in time';
  if (ask.state === 'cancelled') return `no longer asked${reason}`;
  if (ask.state === 'pending') return 'not decided yet';
  if (isOutput(ask)) return ask.decision === 'deny' ? `rejected${reason}` : ask.answer ? 'kept with changes' : 'kept';
  if (ask.decision === 'deny') return ask.kind === 'approval' ? `denied${reason}` : `declined${reason}`;
  if (ask.kind === 'approval') return ask.decision ? DECISION_WORDS[ask.decision] : 'allowed';
  return ask.kind === 'question' ? `answered: ${pretty(ask.answer)}` : 'filled in';
}
