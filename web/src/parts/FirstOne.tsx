// A list of things of which there are none yet: what they are, and a first one to make by command or by button.
import { postCommand } from '../format';
import { tellProblem } from '../state/notices';
import { Copy } from './Copy';
import { Empty } from './States';

interface FirstOneProps<T> {
  title: string;
  text: string;
  path: string; // where it is posted to
  example: T;
  make: (example: T) => Promise<void>;
  failed: string; // what is said when it can’t be made
}

export function FirstOne<T extends Record<string, unknown>>(props: FirstOneProps<T>) {
  const command = postCommand(props.path, props.example);
  return (
    <Empty title={props.title} text={props.text}>
      <div class="command">
        <code>{command}</code>
        <Copy text={command} />
      </div>
      <button
        class="primary"
        onClick={() => props.make(props.example).catch((problem) => tellProblem(props.failed, problem))}
      >
        Make this one
      </button>
    </Empty>
  );
}
