// A real browser at the end of a pipe: one command per line on standard input, one answer per line on standard output.
// Every command is a JSON array [name, ...arguments]; the answer is {"value": …} or {"error": "…"}.
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const WAIT_MS = Number(process.env.SOJOURN_TEST_PATIENCE ?? 1) * 10_000;

let browser;
let context;
let page;
let complaints = [];

function listen(fresh) {
  fresh.setDefaultTimeout(WAIT_MS);
  fresh.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning")
      complaints.push(`console: ${message.text()}`);
  });
  fresh.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  fresh.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (
      protocol !== "data:" &&
      origin !==
        new URL(fresh.url() === "about:blank" ? request.url() : fresh.url())
          .origin
    ) {
      complaints.push(`foreign request: ${request.url()}`);
    }
  });
  return fresh;
}

// Asked from here: the page's content policy forbids what playwright would do inside it.
async function untilTrue(expression) {
  const deadline = Date.now() + WAIT_MS;
  while (!(await page.evaluate(`!!(${expression})`))) {
    if (Date.now() > deadline) throw new Error("not within the time");
    await new Promise((done) => setTimeout(done, 20));
  }
}

const real = ({ name, mimeType, base64 }) => ({
  name,
  mimeType,
  buffer: Buffer.from(base64, "base64"),
});

// Files that come with a drop or a paste, as the browser would hand them over.
const hand = (selector, type, files) =>
  page
    .locator(selector)
    .first()
    .evaluate(
      (node, [kind, all]) => {
        const data = new DataTransfer();
        for (const { name, mimeType, base64 } of all) {
          const bytes = Uint8Array.from(atob(base64), (one) =>
            one.charCodeAt(0),
          );
          data.items.add(new File([bytes], name, { type: mimeType }));
        }
        const options = { bubbles: true, cancelable: true };
        node.dispatchEvent(
          kind === "paste"
            ? new ClipboardEvent(kind, { ...options, clipboardData: data })
            : new DragEvent(kind, { ...options, dataTransfer: data }),
        );
      },
      [type, files],
    );

// What decides an ask answers only after it has stood still: people look before they press.
const FRESH = "document.querySelector('[data-decides]:not([data-steady])')";

async function clickSteady(selector) {
  const target = page.locator(selector).first();
  await target.scrollIntoViewIfNeeded();
  if (await target.evaluate((node) => !!node.closest("[data-decides]")))
    await untilTrue(`!${FRESH}`);
  await page.click(selector);
}

const commands = {
  async open(options = {}) {
    browser ??= await chromium.launch({
      executablePath: "/usr/bin/chromium",
      args: FLAGS,
    });
    await context?.close();
    context = await browser.newContext({
      viewport: { width: 1280, height: 800 },
      ...options,
    });
    page = listen(await context.newPage());
  },
  // The page believes that it is so much later; from the next page on.
  later: (ms) =>
    page.addInitScript((by) => {
      const Real = Date;
      globalThis.Date = class extends Real {
        constructor(...parts) {
          super(...(parts.length ? parts : [Real.now() + by]));
        }
        static now() {
          return Real.now() + by;
        }
      };
    }, ms),
  goto: async (url) => (await page.goto(url))?.status() ?? 0,
  reload: async () => void (await page.reload()),
  url: () => page.url(),
  click: clickSteady,
  // Without looking.
  hit: (selector) => page.click(selector),
  twice: (selector) => page.dblclick(selector),
  strike: (key) => page.keyboard.press(key),
  // Held down: the first press and so many repeats.
  hold: async (key, repeats) => {
    for (let i = 0; i <= repeats; i++) await page.keyboard.down(key);
    await page.keyboard.up(key);
  },
  fill: (selector, text) => page.fill(selector, text),
  press: async (key) => {
    await untilTrue(`!${FRESH}`);
    await page.keyboard.press(key);
  },
  hover: (selector) => page.hover(selector),
  away: () => page.mouse.move(0, 0),
  count: (selector) => page.locator(selector).count(),
  text: (selector) => page.locator(selector).first().innerText(),
  texts: (selector) => page.locator(selector).allTextContents(),
  // files: [{name, mimeType, base64}]
  choose: (selector, files) => page.setInputFiles(selector, files.map(real)),
  drop: (selector, event, files) => hand(selector, event, files),
  style: (selector, name) =>
    page
      .locator(selector)
      .first()
      .evaluate((node, of) => getComputedStyle(node)[of], name),
  see: async (selector) =>
    void (await page.locator(selector).first().waitFor()),
  gone: async (selector) =>
    void (await page.locator(selector).first().waitFor({ state: "detached" })),
  until: untilTrue,
  evaluate: (expression) => page.evaluate(expression),
  slide: (selector, value) =>
    page.locator(selector).evaluate((node, to) => {
      node.value = to;
      node.dispatchEvent(new Event("input", { bubbles: true }));
    }, value),
  scheme: (scheme) => page.emulateMedia({ colorScheme: scheme }),
  size: (width, height) => page.setViewportSize({ width, height }),
  picture: async (path) => void (await page.screenshot({ path })),
  cookies: () => context.cookies(),
  complaints: () => complaints.splice(0),
  close: async () => void (await browser?.close()),
};

for await (const line of createInterface({ input: process.stdin })) {
  const [name, ...rest] = JSON.parse(line);
  let answer;
  try {
    answer = { value: (await commands[name](...rest)) ?? null };
  } catch (error) {
    const shown =
      page && !page.isClosed()
        ? await page
            .locator("body")
            .innerText()
            .catch(() => "")
        : "";
    answer = {
      error: `${name} ${JSON.stringify(rest)}: ${error.message}\nthe page shows: ${shown.slice(0, 1500)}`,
    };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
  if (name === "close") break;
}
