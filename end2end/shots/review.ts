// Pictures for looking at: every page and state of the console, from the fixtures of the tests. Nothing may be wider than its screen.
import type { Page } from "@playwright/test";

import type { Agent } from "../support/agent.ts";
import { runOf } from "../support/sample.ts";
import { damage, marker } from "../support/tamper.ts";
import { expect, expectLive, onWorkingDay, test } from "../support/test.ts";
import { viewer } from "../support/viewer.ts";
import { type Look, pictures } from "./pictures.ts";
import { stayAtWork, stories } from "./stories.ts";

const TABS = ["call", "diff", "state", "attempts", "log", "events"];

/** The binary may be older than these scripts: what it does not have yet is left out. */
const LENIENT = !!process.env.STEP47_SHOTS_LENIENT;

const wide: string[] = [];

test.afterAll(() => {
  expect(wide, "nothing is wider than the screen").toEqual([]);
});

/** A page that follows what happens, by its address. */
function at(name: string, path: string, then?: (page: Page) => Promise<unknown>): Look {
  const open = async (page: Page) => {
    await page.goto(path);
    await expectLive(page);
    await then?.(page);
  };
  return { name, open, above: path.includes("ask=") };
}

/** A page that follows nothing. */
function still(name: string, path: string): Look {
  return { name, open: async (page) => void (await page.goto(path)) };
}

async function lost(page: Page): Promise<void> {
  await page.context().setOffline(true);
  await expect(page.getByRole("banner").getByRole("status")).toContainText("connection lost");
}

function oneValue(run: string): Look {
  const open = async (page: Page) => {
    await page.goto(`${run}?ask=resume`);
    await expectLive(page);
    const plan = page.getByRole("form", { name: /^Resume/ });
    const part = plan.getByText("Change one value of the state");
    if (LENIENT && (await part.count()) === 0) return "absent";
    await plan.getByRole("radio", { name: /^Retry with the same key/ }).check();
    await part.click();
    await plan.getByLabel("Path").fill("/note");
    await plan.getByLabel("Path").press("Tab");
    await expect(plan.getByText(/^Now: /)).toBeVisible();
  };
  return { name: "plan-value", open, above: true };
}

onWorkingDay("runs and what can be done about them", async ({ admin, agent, server, browser }) => {
  const crashed = `/runs/${await runOf(agent, "Reconcile October invoices")}`;
  const of = async (title: string) => `/runs/${await runOf(agent, title)}`;
  const session = await admin.context().storageState();
  const failed = await of("Migrate tenant acme-eu");
  await stayAtWork(agent);
  wide.push(
    ...(await pictures(browser, server.url, session, [
      at("list", "/"),
      at("list-filtered", "/?agent=support-triage&status=crashed"),
      at("list-none", "/?q=nothing-is-called-this"),
      ...TABS.map((tab) => at(`run-crashed-${tab}`, `${crashed}?step=47&tab=${tab}`)),
      at("run-failed", failed),
      at("run-running", await of("Index legal archive")),
      at("run-queued", await of("Draft RFP response")),
      at("plan-page", `${crashed}/resume`),
      at("plan-dialog", `${crashed}?ask=resume`),
      oneValue(crashed),
      at("rewind-dialog", `${crashed}?step=40&ask=rewind`),
      at("cancel-dialog", `${crashed}?ask=cancel`),
      at("edit", `${crashed}/edit`, (page) => expect(page.locator("json-editor[data-ready]")).toBeAttached()),
      ...["tree", "side", "raw"].map((view) => at(`diff-${view}`, `${crashed}/diff?from=44&to=46&view=${view}`)),
      at("offline", crashed, lost),
      still("not-found", "/nothing/here"),
      still("run-not-found", "/runs/nothing-here"),
    ])),
  );
  const vera = await viewer(admin, server, browser);
  const hers = await vera.context().storageState();
  await vera.context().close();
  wide.push(
    ...(await pictures(browser, server.url, hers, [
      at("viewer-run", crashed),
      at("viewer-plan", `${crashed}/resume`),
      at("viewer-settings", "/settings"),
    ])),
  );
});

test("decisions, questions, long runs, and the pages beside the runs", async ({ admin, agent, server, browser }) => {
  const { decided, rewound, fork, gate, long, done } = await stories(admin, server, agent);
  // From its beginning, after a click far below it.
  const fields = async (page: Page) => {
    await page.getByRole("radio", { name: "Card" }).check();
    await page.evaluate(() => [...document.querySelectorAll("*"), document.documentElement].forEach((it) => it.scrollTo(0, 0)));
  };
  const unfold = (page: Page) => page.getByText("Input and result").click();
  wide.push(
    ...(await pictures(browser, server.url, await admin.context().storageState(), [
      at("run-decided", `/runs/${decided}?step=47`),
      at("run-decided-attempts", `/runs/${decided}?step=47&tab=attempts`),
      at("run-rewound", `/runs/${rewound}`),
      at("run-rewound-step", `/runs/${rewound}?step=6`),
      at("run-fork", `/runs/${fork}`),
      at("run-gate", `/runs/${gate}`, fields),
      at("run-long", `/runs/${long}`),
      at("run-done", `/runs/${done}`, unfold),
      at("inbox", "/inbox"),
      at("workers", "/workers"),
      at("audit", "/audit"),
      at("settings", "/settings"),
    ])),
  );
});

/** One step is damaged, and the state of the last one. */
async function disputed(agent: Agent, words: string[]): Promise<string> {
  const id = await agent.create({ agent: "support-triage", title: "Refund dispute #88121", state: { n: 0 } });
  const run = await agent.lease(id);
  await agent.step(run, { key: "one", name: "read_mail" }, { state: { n: 1 } });
  await agent.step(run, { key: "two", name: words[0] });
  await agent.step(run, { key: "three", name: "write_answer" }, { state: { n: 2, m: words[1] } });
  await agent.die(run);
  return id;
}

test("damage", async ({ admin, agent, server, browser, consoleErrors }) => {
  const session = await admin.context().storageState();
  const words = [marker(), marker()];
  const id = await disputed(agent, words);
  await damage(admin, server, words);
  wide.push(
    ...(await pictures(browser, server.url, session, [
      at("run-damaged", `/runs/${id}`),
      at("run-damaged-step", `/runs/${id}?step=2`),
      still("diff-damaged", `/runs/${id}/diff`),
    ])),
  );
  consoleErrors.length = 0; // Chromium reports a refusal as an error
});

test("an empty store", async ({ admin, server, browser }) => {
  const session = await admin.context().storageState();
  const empty = [at("list-empty", "/"), at("inbox-empty", "/inbox"), at("workers-empty", "/workers")];
  wide.push(...(await pictures(browser, server.url, session, empty)));
});

test("the way in", async ({ server, browser }) => {
  const spent = "/signin?token=spent";
  const ways = [still("sign-in", "/signin"), still("sign-in-link", server.signInLink), still("sign-in-spent", spent)];
  wide.push(...(await pictures(browser, server.url, undefined, ways)));
});
