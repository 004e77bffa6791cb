import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { plural } from '../format';
import { mayDecide } from '../state/asklist';
import { isSeen } from '../state/call';
import { isOutput, stagedOf } from '../state/output';
import { useStore } from '../state/store';
import type { Ask } from '../types';
import { Arguments } from './Arguments';
import { AskAgain } from './AskAgain';
import { Code } from './Code';
import { type Decision, useDecision } from './decision';
import { Exact } from './Exact';
import { Expiry } from './Expiry';
import { Form } from './Form';
import { Grants, onceOf, useChoices } from './Grants';
import { type Keys, useKeys } from './keys';
import { useLayer } from './layers';
import { EditOutput, Safety, Staged } from './Output';
import { Outcome } from './RowDecision';

interface Deciding {
  ask: Ask;
  decision: Decision;
  hasKeys: boolean;
}

const KIND_WORDS = { approval: 'asks for approval', question: 'asks', elicitation: 'asks you to fill in a form' };

// --- saying no ---

function Deny({ decision, close }: Pick<Deciding, 'decision'> & { close: () => void }) {
  const [reason, setReason] = useState('');
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => input.current?.focus(), []); // at once: the next key is for it
  useLayer(true, close);
  return (
    <form
      class="ask-buttons"
      onSubmit={(event) => {
        event.preventDefault();
        const more = reason.trim() ? { reason: reason.trim() } : {};
        decision.send({ decision: 'deny', ...more }, event);
      }}
    >
      <input
        ref={input}
        class="ask-reason"
        value={reason}
        maxLength={4000}
        placeholder="Reason (optional; the agent sees it)"
        aria-label="Reason"
        onInput={(event) => setReason(event.currentTarget.value)}
      />
      <button class="danger" data-decides={decision.about} disabled={decision.isBusy}>
        Deny
      </button>
      <button type="button" class="quiet" onClick={close}>
        Back
      </button>
    </form>
  );
}

// --- approvals ---

function Edit({ ask, decision, close }: Deciding & { close: () => void }) {
  const [text, setText] = useState(() => JSON.stringify(ask.arguments ?? {}, null, 2));
  const [problem, setProblem] = useState('');
  const area = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => area.current?.focus(), []);
  useLayer(true, close);
  const allow = (by: Event): void => {
    try {
      decision.send({ decision: 'once', answer: JSON.parse(text) }, by);
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
      />
      {problem && <p class="problem-line">This is not JSON: {problem}</p>}
      <div class="ask-buttons">
        <button class="primary" data-decides={decision.about} disabled={decision.isBusy} onClick={allow}>
          Allow with these arguments
        </button>
        <button class="quiet" onClick={close}>
          Back
        </button>
      </div>
    </>
  );
}

type Step = 'choose' | 'deny' | 'edit' | 'grant';

function ApprovalButtons({ ask, decision, hasKeys, open }: Deciding & { open: (step: Step) => void }) {
  const { about, isBusy, press, send } = decision;
  const hasMore = useChoices(ask).length > 0;
  const once = (by: Event): void => send(onceOf(ask), by);
  const to = (step: Step) => (by: Event) => press(by, () => open(step));
  const keys: Keys = {
    a: once,
    d: to('deny'),
    ...(hasMore && { m: to('grant') }),
    ...(ask.editable && { e: to('edit') }),
  };
  useKeys(hasKeys && !isBusy, keys);
  const key = (name: string) => hasKeys && <kbd>{name}</kbd>;
  return (
    <>
      {ask.tool && !isSeen(ask) && (
        <p class="tone-amber">The agent did not say what the tool is called with. This can be allowed once only.</p>
      )}
      <div class="ask-buttons">
        <button class="primary" data-decides={about} disabled={isBusy} onClick={once}>
          {isOutput(ask) ? 'Keep it' : 'Allow once'} {key('a')}
        </button>
        {hasMore && (
          <button data-decides={about} disabled={isBusy} onClick={to('grant')}>
            Allow more… {key('m')}
          </button>
        )}
        {ask.editable && (
          <button data-decides={about} disabled={isBusy} onClick={to('edit')}>
            Edit… {key('e')}
          </button>
        )}
        <button class="danger" data-decides={about} disabled={isBusy} onClick={to('deny')}>
          {isOutput(ask) ? 'Reject…' : 'Deny…'} {key('d')}
        </button>
      </div>
    </>
  );
}

// --- questions ---

function Question({ ask, decision, hasKeys }: Deciding) {
  const { about, isBusy, send } = decision;
  const [text, setText] = useState('');
  const options = ask.options ?? [];
  const pick = (answer: string) => (by: Event) => send({ answer }, by);
  const keys = options.slice(0, 9).map((option, index) => [String(index + 1), pick(option)] as const);
  useKeys(hasKeys && !isBusy, Object.fromEntries(keys));
  if (options.length > 0) {
    return (
      <div class="ask-options">
        {options.map((option, index) => (
          <button key={option} data-decides={about} disabled={isBusy} onClick={pick(option)}>
            {hasKeys && index < 9 && <kbd>{index + 1}</kbd>} <Exact text={option} isProse />
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
        if (text.trim()) send({ answer: text }, event);
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
          if (event.key === 'Enter' && (event.metaKey || event.ctrlKey) && text.trim()) send({ answer: text }, event);
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
      <button class="primary" data-decides={about} disabled={isBusy || !text.trim()}>
        Answer
      </button>
    </form>
  );
}

// --- the whole ---

function Decide(deciding: Deciding) {
  const { ask, decision } = deciding;
  const { about, isBusy, press, send } = decision;
  const [step, setStep] = useState<Step>('choose');
  const choices = useChoices(ask);
  const back = (): void => setStep('choose');
  const decline = (by: Event): void => press(by, () => setStep('deny'));
  if (step === 'deny') return <Deny decision={decision} close={back} />;
  if (step === 'grant') return <Grants decision={decision} choices={choices} close={back} />;
  if (step === 'edit' && isOutput(ask)) {
    const keep = (answer: Record<string, unknown>, by: Event): void => send({ decision: 'once', answer }, by);
    return <EditOutput fields={stagedOf(ask)} decision={decision} onSend={keep} onClose={back} />;
  }
  if (step === 'edit') return <Edit {...deciding} close={back} />;
  switch (ask.kind) {
    case 'approval':
      return <ApprovalButtons {...deciding} open={setStep} />;
    case 'question':
      return (
        <>
          <Question {...deciding} />
          <button class="quiet ask-decline" data-decides={about} disabled={isBusy} onClick={decline}>
            Don’t answer…
          </button>
        </>
      );
    case 'elicitation':
      return (
        <Form
          schema={ask.schema}
          decision={decision}
          onSend={(answer, by) => send({ answer }, by)}
          onDecline={decline}
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
      {typeof preview === 'string' && <Code text={preview} name="preview" isWhole />}
      {preview !== undefined && typeof preview !== 'string' && <Arguments value={{ preview }} isWhole />}
      {shown.length > 0 && <Arguments value={Object.fromEntries(shown)} isWhole />}
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

/** Everything that is decided about, all of it: nothing is folded, nothing has to be scrolled sideways. */
function Subject({ ask }: { ask: Ask }) {
  if (isOutput(ask)) return <Staged fields={stagedOf(ask)} />;
  return (
    <>
      {ask.kind === 'approval' && ask.arguments && <Arguments value={ask.arguments} isWhole />}
      {ask.details && <Details details={ask.details} />}
    </>
  );
}

function Head({ ask }: { ask: Ask }) {
  return (
    <div class="ask-head">
      <span class="tone-orange ask-kind">
        {ask.agent ?? 'The agent'} {isOutput(ask) ? 'brought an output' : KIND_WORDS[ask.kind]}
      </span>
      {isOutput(ask) && <Safety details={ask.details} />}
      {ask.tool && (
        <code>
          <Exact text={ask.tool} isOneLine />
        </code>
      )}
      <Risk details={ask.details} />
      <Votes ask={ask} />
      {ask.state === 'pending' && <Expiry from={ask.created_at} to={ask.expires_at} />}
    </div>
  );
}

interface Props {
  ask: Ask;
  hasKeys: boolean;
  /** Decided, and shown until the pointer leaves. */
  isGone?: boolean;
  onDecided?: (by: Event) => void;
}

/** Decides nothing by itself; refusals of the server stand where the buttons are, and what was typed stays. */
export function AskCard({ ask, hasKeys, isGone = false, onDecided }: Props) {
  const decision = useDecision(ask, onDecided);
  const may = useStore((state) => mayDecide(state.asks, ask));
  const isOver = isGone || ask.state !== 'pending';
  return (
    <section class={isOver ? 'ask is-over' : 'ask'} aria-label={KIND_WORDS[ask.kind]} data-ask={ask.id}>
      <Head ask={ask} />
      <p class="ask-text">
        <Exact text={ask.text} isProse />
      </p>
      <Subject ask={ask} />
      {isOver && (
        <p class="ask-outcome">
          <Outcome ask={ask} /> <AskAgain ask={ask} />
        </p>
      )}
      {!isOver && !may && (
        <p class="muted">Only people with the role {ask.role} or higher in this session can answer this.</p>
      )}
      {!isOver && may && <Decide ask={ask} decision={decision} hasKeys={hasKeys} />}
      {decision.problem && (
        <p class="problem-line" role="alert">
          {decision.problem.message} Nothing was decided.
        </p>
      )}
    </section>
  );
}
