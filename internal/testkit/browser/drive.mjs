// Drives Chromium for browser.go: one line of JSON in, one out.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { readFileSync } from "node:fs";

const [dir, executablePath] = process.argv.slice(2);
const require = createRequire(dir + "/node_modules/");
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const browser = await chromium.launch({
  executablePath,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--js-flags=--expose-gc", "--enable-precise-memory-info"],
});
let wrong = [];
// The console's pages forbid foreign scripts, also axe's: a browser that looks ignores that, with a profile of its own.
const open = async (bypassCSP, storageState) => {
  const context = await browser.newContext({ bypassCSP, storageState, viewport: { width: 1280, height: 860 }, ignoreHTTPSErrors: true });
  context.setDefaultTimeout(30000);
  const page = await context.newPage();
  return page;
};
const page = await open(false);
page.on("console", (m) => { if (m.type() === "error" || m.type() === "warning") wrong.push("console: " + m.text()); });
page.on("pageerror", (e) => wrong.push("script: " + e.message));
let stranger, looker;

const words = {
  async go({ at, stranger: alone }) {
    if (alone) stranger ||= await open(false);
    const tab = alone ? stranger : page;
    wrong = [];
    const answer = await tab.goto(at, { waitUntil: "load" });
    const status = answer ? answer.status() : 0;
    if (status >= 400) wrong = wrong.filter((w) => !w.includes("Failed to load resource"));
    if (at.includes("#")) return { status }; // its script leads on
    const paint = await tab.evaluate(() => new Promise((say) => {
      const painted = () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime;
      const again = () => (painted() ? say(painted()) : requestAnimationFrame(again));
      again();
      setTimeout(() => say(-1), 3000);
    }));
    const links = await tab.evaluate(() => [...document.querySelectorAll("a[href]")].map((a) => new URL(a.getAttribute("href"), location).href));
    const bytes = await tab.evaluate(() => ["navigation", "resource"].flatMap((kind) => performance.getEntriesByType(kind)).reduce((sum, one) => sum + one.encodedBodySize, 0));
    return { status, paint, bytes, links, text: await tab.evaluate(() => document.body.innerText), wrong };
  },
  async click({ at }) { await page.click(at); },
  async type({ at, text }) { await page.fill(at, text); },
  async press({ at, text }) { if (at) await page.focus(at); await page.keyboard.press(text); },
  async await({ at, text = "" }) {
    await page.waitForFunction(([at, text]) => [...document.querySelectorAll(at)].some((e) => (e.innerText ?? e.textContent).includes(text)), [at, text]);
  },
  async allow({ at, text }) { await page.context().grantPermissions([text], { origin: at }); },
  // until waits for what an expression becomes.
  async until({ at, text }) {
    for (const end = Date.now() + 30000; ;) {
      const is = await page.evaluate(text);
      if (is === at) return;
      if (Date.now() > end) throw new Error("it is " + is);
      await new Promise((go) => setTimeout(go, 50));
    }
  },
  async run({ text, stranger: alone }) { return { text: JSON.stringify(await (alone ? stranger : page).evaluate(text)) ?? "" }; },
  async look({ dark, width, height, file }) {
    looker ||= await open(true, await page.context().storageState());
    const found = [];
    await looker.setViewportSize({ width, height });
    await looker.emulateMedia({ colorScheme: dark ? "dark" : "light", reducedMotion: "reduce" });
    await looker.goto(page.url(), { waitUntil: "load" });
    await looker.waitForFunction(() => document.getElementById("live")?.dataset.state === "on");
    if (file) await looker.screenshot({ path: file });
    const wide = await looker.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    if (wide > 0) found.push("is " + wide + " pixels too wide");
    await looker.evaluate(axe);
    const { violations } = await looker.evaluate(() => axe.run());
    for (const v of violations) found.push("axe: " + v.id + ": " + v.help + ": " + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200)).join(" "));
    return { wrong: found };
  },
  async wheel({ height }) { await page.mouse.wheel(0, height); },
  // trace begins to write down what pages do; tasks says how long the longest task took, in milliseconds:
  // of the processor, and by the clock, on which other programs count too.
  async trace() { await browser.startTracing(page, { categories: ["disabled-by-default-devtools.timeline"] }); },
  async tasks() {
    const { traceEvents: all } = JSON.parse(await browser.stopTracing());
    const threads = new Set(all.filter((e) => e.name === "thread_name" && e.args.name === "CrRendererMain").map((e) => e.pid + " " + e.tid));
    const tasks = all.filter((e) => e.name === "RunTask" && e.tdur && threads.has(e.pid + " " + e.tid));
    const longest = (what) => tasks.reduce((most, e) => Math.max(most, e[what] / 1000), 0);
    return { text: JSON.stringify({ tasks: tasks.length, processor: longest("tdur"), clock: longest("dur") }) };
  },
  // measure says of each open tab what it holds when the garbage is collected.
  async measure() {
    const all = [];
    for (const tab of page.context().pages()) {
      const session = await tab.context().newCDPSession(tab);
      for (const name of ["Performance.enable", "HeapProfiler.enable", "HeapProfiler.collectGarbage", "HeapProfiler.collectGarbage"]) await session.send(name);
      const { usedSize } = await session.send("Runtime.getHeapUsage");
      const has = Object.fromEntries((await session.send("Performance.getMetrics")).metrics.map((one) => [one.name, one.value]));
      all.push([usedSize >> 10, has.Nodes, has.JSEventListeners]);
      await session.detach();
    }
    return { text: JSON.stringify(all) };
  },
  async wrong() { const now = wrong; wrong = []; return { wrong: now }; },
};

for await (const line of createInterface({ input: process.stdin })) {
  const word = JSON.parse(line);
  let answer;
  try { answer = (await words[word.do](word)) ?? {}; } catch (e) { answer = { failed: String(e.message ?? e).split("\n")[0] }; }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
await browser.close();
