import { render } from 'preact';
import { App } from './pages/App';
import { findOut } from './state/account';
import { followHistory } from './state/navigate';

followHistory();
render(<App />, document.getElementById('app') as HTMLElement);
void findOut();
