// Allowing more than this one call: every choice says all of what it allows, the narrow ones come first, and the wide
// ones ask once more.
import { useState } from 'preact/hooks';
import { isSeen } from '../state/call';
import { useStore } from '../state/store';
import type { Ask, Grant, Reply } from '../types';
import type { Decision } from './decision';
import { Exact } from './Exact';
import { useLayer } from './layers';

interface Choice {
  key: string;
  text: string;
  subject: Grant['subject'];
  isWide: boolean;
  reply: Reply;
}

const isNarrow = ({ subject, these_arguments }: Grant): boolean =>
  Boolean(these_arguments ?? subject.command ?? subject.path ?? subject.host);

const ofGrant = (grant: Grant): Choice => ({
  key: grant.id,
  text: grant.text,
  subject: grant.subject,
  isWide: !isNarrow(grant),
  reply: { decision: grant.scope, grant: grant.id },
});

/** For servers that offer no grants: the same in words, from what a rule of theirs holds. */
function ofRules(ask: Ask, whose: string): Choice[] {
  if (!ask.tool || !isSeen(ask)) return [];
  const everywhere = `in all sessions of ${ask.agent ? `the agent ${ask.agent}` : 'this agent'}${whose}, until revoked`;
  const exactly = 'with exactly the arguments above';
  const any = 'with any arguments';
  const rows = [
    ['session', true, `In this session: ${exactly}`],
    ['session', false, `In this session: ${any}`],
    ['always', true, `Always, ${everywhere}: ${exactly}`],
    ['always', false, `Always, ${everywhere}: ${any}`],
  ] as const;
  return rows.map(([decision, isExact, text]) => ({
    key: `${decision} ${isExact}`,
    text,
    subject: { tool: ask.tool as string },
    isWide: !isExact,
    reply: isExact ? { decision, these_arguments: true } : { decision },
  }));
}

export function useChoices(ask: Ask): Choice[] {
  const me = useStore((state) => state.me);
  const whose = me && me !== 'unknown' && me.role === 'admin' ? ', whoever owns them' : ' with the same owner';
  return ask.grants ? ask.grants.filter((one) => one.scope !== 'once').map(ofGrant) : ofRules(ask, whose);
}

/** The answer that allows this call and nothing else. */
export function onceOf(ask: Ask): Reply {
  const once = ask.grants?.find((one) => one.scope === 'once');
  return once ? { decision: 'once', grant: once.id } : { decision: 'once' };
}

function Subject({ subject }: { subject: Grant['subject'] }) {
  return (
    <span class="grant-subject">
      {Object.entries(subject).map(([kind, value]) => (
        <span key={kind}>
          <span class="muted">{kind}</span>{' '}
          <code>
            <Exact text={typeof value === 'string' ? value : JSON.stringify(value)} isOneLine />
          </code>
        </span>
      ))}
    </span>
  );
}

interface Props {
  decision: Decision;
  choices: Choice[];
  close: () => void;
}

export function Grants({ decision, choices, close }: Props) {
  const { about, isBusy, send, press } = decision;
  const [sure, setSure] = useState<string | null>(null);
  useLayer(true, () => (sure === null ? close() : setSure(null)));
  return (
    <div class="grants" role="group" aria-label="What to allow">
      <ul>
        {choices.map((choice) => (
          <li key={choice.key} class="grant">
            <span class="grant-text">
              <Exact text={choice.text} isOneLine />
            </span>
            <Subject subject={choice.subject} />
            {sure === choice.key ? (
              <span class="grant-sure" role="alert">
                <span class="tone-amber">Nobody will be asked, whatever the arguments are.</span>
                <button
                  class="danger"
                  data-decides={about}
                  disabled={isBusy}
                  onClick={(event) => send(choice.reply, event)}
                >
                  Allow any arguments
                </button>
                <button class="quiet" onClick={() => setSure(null)}>
                  Cancel
                </button>
              </span>
            ) : (
              <button
                data-decides={about}
                disabled={isBusy}
                onClick={(event) =>
                  choice.isWide ? press(event, () => setSure(choice.key)) : send(choice.reply, event)
                }
              >
                {choice.isWide ? 'Allow…' : 'Allow'}
              </button>
            )}
          </li>
        ))}
      </ul>
      <button class="quiet" onClick={close}>
        Back
      </button>
    </div>
  );
}
