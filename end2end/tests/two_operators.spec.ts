// Two operators on one run: what one decides, the other's page says in the same words, without a reload; of two who decide at
// once, one wins and the other is told.
import type { Page } from "@playwright/test";

import type { Agent } from "../support/agent.ts";
import { statusOf } from "../support/crash.ts";
import { writeJson } from "../support/editor.ts";
import { person } from "../support/people.ts";
import { holdPlan, plan } from "../support/plan.ts";
import { crashedRun, failedRun, runningRun, waitingRun } from "../support/sample.ts";
import { seen } from "../support/seen.ts";
import type { Server } from "../support/server.ts";
import { expect, expectLive, test as base } from "../support/test.ts";

const test = base.extend<{ ana: Page; ben: Page }>({
  ana: async ({ browser, server }, use) => {
    const page = await person(browser, server, "ana");
    await use(page);
    await page.context().close();
  },
  ben: async ({ browser, server }, use) => {
    const page = await person(browser, server, "ben");
    await use(page);
    await page.context().close();
  },
});

const question = (page: Page) => page.getByRole("region", { name: "Question" });

/** What a page says about the run and about the step that both selected; how many other steps it has at hand is its own affair. */
async function read(page: Page): Promise<string> {
  const { text, steps } = await seen(page);
  const row = await page.locator(".step-row[aria-selected]").innerText();
  return `${text.replace(steps, "")} ${row.replace(/\s+/g, " ")}`;
}

/** A run that both look at. */
class Watched {
  readonly #decides: Page;
  readonly #looks: Page;

  private constructor(decides: Page, looks: Page) {
    this.#decides = decides;
    this.#looks = looks;
  }

  static async open(server: Server, path: string, decides: Page, looks: Page): Promise<Watched> {
    for (const page of [decides, looks]) {
      await page.goto(server.url + path);
      await expectLive(page);
    }
    // Gone after a reload.
    await looks.evaluate(() => Object.assign(window, { stayed: true }));
    return new Watched(decides, looks);
  }

  /** What the one decides is said on the other's page, in the words of the one's own. How long that took is noted, not judged. */
  async hears(what: string, said: RegExp, decide: () => Promise<void>): Promise<void> {
    await expect(this.#looks.locator("#main"), `${what} is not said before`).not.toContainText(said);
    await decide();
    const since = performance.now();
    const heard = expect(this.#looks.locator("#main"), what).toContainText(said);
    const took = heard.then(() => Math.round(performance.now() - since));
    const main = this.#decides.locator("#main");
    await Promise.all([heard, expect(main, what).toContainText(said)]);
    const words = async () => {
      const [ours, theirs] = await Promise.all([this.#decides, this.#looks].map(read));
      return ours === theirs ? "the same words" : `one reads:\n${ours}\nthe other:\n${theirs}`;
    };
    await expect.poll(words, { message: what, intervals: [100] }).toBe("the same words");
    expect(await this.#looks.evaluate(() => "stayed" in window), "without a reload").toBe(true);
    base.info().annotations.push({ type: "heard", description: `${what}: ${await took} ms` });
  }
}

/** Picks a line of "More" and answers its dialog. */
async function more(page: Page, line: string, text: string, verb: string): Promise<void> {
  await page.locator("details.more > summary").click();
  await page.getByRole("link", { name: line }).click();
  await answer(page, text, verb);
}

async function answer(page: Page, text: string, verb: string): Promise<void> {
  const dialog = page.getByRole("dialog");
  if (text) await dialog.getByRole("textbox").first().fill(text);
  await dialog.getByRole("button", { name: verb }).click();
  await expect(dialog).toHaveCount(0);
}

async function openPlan(page: Page, way: RegExp | undefined, reason: string, result?: string): Promise<void> {
  await page.getByRole("link", { name: "Review & resume" }).click();
  if (way) await plan(page).getByRole("radio", { name: way }).click();
  if (result) await plan(page).getByLabel(/^Result \(JSON\)/).fill(result);
  await plan(page).getByLabel("Reason").fill(reason);
}

async function resume(page: Page, way: RegExp | undefined, reason: string, result?: string): Promise<void> {
  await openPlan(page, way, reason, result);
  await plan(page).getByRole("button", { name: "Resume run" }).click();
  await expect(plan(page)).toHaveCount(0);
}

/** A run that waits for one of two answers. */
async function choiceOf(agent: Agent): Promise<string> {
  const run = await agent.lease(await agent.create({ agent: "support-triage", title: "Pick a tone" }));
  await agent.begin(run, { key: "ask", name: "ask_person", kind: "gate", gate: { title: "Which tone?", choices: ["Formal", "Friendly"] } });
  await agent.die(run);
  return run.id;
}

const WAYS = [
  { what: "retry with the same key", way: /^Retry with the same key/, said: /ana decided “retry with the same key”/ },
  { what: "it did not happen", way: /^I checked: it did not happen/, said: /ana decided “it did not happen, and nothing is still under way”/ },
  { what: "it happened", way: /^I checked: it happened/, result: '{"id": "ch_1"}', said: /ana decided “it happened”/ },
  { what: "skip", way: /^Skip it/, said: /ana decided “skip/ },
];

for (const { what, way, said, result } of WAYS) {
  test(`of a step that is held: ${what}`, async ({ ana, ben, agent, server }) => {
    const id = await crashedRun(agent);
    const watched = await Watched.open(server, `/runs/${id}?step=47`, ana, ben);
    await watched.hears(what, said, () => resume(ana, way, "looked at Stripe", result));
    await expect(ben.locator(".run-head .pill")).toHaveText("Queued: waiting for a worker");
    await expect(ben.getByRole("region", { name: "Crash" })).toHaveCount(0);
  });
}

test("what is said about a run, and what is kept of it", async ({ ana, ben, agent, server }) => {
  const id = await failedRun(agent);
  const watched = await Watched.open(server, `/runs/${id}?step=9`, ana, ben);
  await watched.hears("note", /asked the database team/, () => more(ana, "Add a note…", "asked the database team", "Add note"));
  await watched.hears("claim", /ana is on it/, () => more(ana, "I'm on it…", "", "I'm on it"));
  await watched.hears("pin", /ana .*pinned the run/, () => more(ana, "Pin…", "for the audit", "Pin run"));
  await watched.hears("acknowledge", /ana .*acknowledged it/, () => more(ana, "Acknowledge…", "known", "Acknowledge"));
});

test("an edit of the state", async ({ ana, ben, agent, server }) => {
  const id = await crashedRun(agent);
  const watched = await Watched.open(server, `/runs/${id}?step=47`, ana, ben);
  await watched.hears("edit", /ana .*edited the state.*“wrong note”/, async () => {
    await ana.goto(`${server.url}/runs/${id}/edit?path=/note`);
    await expectLive(ana);
    await writeJson(ana, "Value at /note as JSON", '"by hand"');
    await ana.getByLabel("Reason").fill("wrong note");
    await ana.getByRole("button", { name: "Save state" }).click();
    await expect(ana).toHaveURL(`${server.url}/runs/${id}`);
  });
});

test("every answer to a gate", async ({ ana, ben, agent, server }) => {
  const ways = [
    { what: "approve", said: /ana approved/, press: (page: Page) => page.getByRole("button", { name: /^Approve: / }) },
    { what: "reject", said: /ana rejected/, press: (page: Page) => page.getByRole("button", { name: "Reject" }) },
  ];
  for (const { what, said, press } of ways) {
    const watched = await Watched.open(server, `/runs/${await waitingRun(agent)}?step=13`, ana, ben);
    await watched.hears(what, said, async () => {
      await question(ana).getByLabel("Reason").fill("the neighbour confirmed");
      await press(ana).click();
    });
    await expect(question(ben)).toHaveCount(0);
  }
  const chosen = await Watched.open(server, `/runs/${await choiceOf(agent)}?step=1`, ana, ben);
  await chosen.hears("answer", /ana answered/, async () => {
    await question(ana).getByRole("radio", { name: "Friendly" }).click();
    await question(ana).getByLabel("Reason").fill("house style");
    await question(ana).getByRole("button", { name: "Answer: Friendly" }).click();
  });
  const skipped = await Watched.open(server, `/runs/${await choiceOf(agent)}?step=1`, ana, ben);
  await skipped.hears("skip a gate", /ana skipped/, async () => {
    await ana.getByRole("link", { name: "Skip…" }).click();
    await answer(ana, "nobody asks any more", "Skip step");
  });
});

test("pause, resume and cancel", async ({ ana, ben, agent, server }) => {
  const run = await runningRun(agent, "Weekly market brief", 3);
  const watched = await Watched.open(server, `/runs/${run.id}?step=3`, ana, ben);
  await watched.hears("pause", /ana .*paused the run/, () => more(ana, "Pause…", "let it rest", "Pause run"));
  await agent.die(run);
  await expect(ana.locator(".run-head .pill")).toHaveText(/^Paused/);
  await watched.hears("resume", /ana .*resumed the run/, () => resume(ana, undefined, "goes on"));
  await watched.hears("cancel", /ana .*cancelled the run/, async () => {
    await ana.getByRole("link", { name: "Cancel run…" }).click();
    await answer(ana, "no longer needed", "Cancel run");
  });
  await expect(ben.locator(".run-head .pill")).toHaveText(/^Cancelled/);
});

test("rewind, acknowledge what is not undone, and fork", async ({ ana, ben, agent, server }) => {
  const id = await crashedRun(agent);
  const watched = await Watched.open(server, `/runs/${id}?step=47`, ana, ben);
  const branch = async (key: string, verb: string) => {
    await ana.keyboard.press(key);
    const sheet = ana.getByRole("dialog");
    await sheet.getByRole("checkbox").check();
    await sheet.getByLabel("Reason").fill("charge again");
    await sheet.getByRole("button", { name: verb }).click();
    await expect(sheet).toHaveCount(0);
  };
  await watched.hears("fork", /ana .*forked it from before step 47/, async () => {
    await branch("y", "Fork run");
    await expect(ana).not.toHaveURL(new RegExp(id));
    await ana.goto(`${server.url}/runs/${id}?step=47`);
    await expectLive(ana);
  });
  await watched.hears("rewind", /Rewound to before step 47/, () => branch("b", "Rewind run"));
  await expect(ben.getByRole("region", { name: "Not undone" })).toContainText("47 charge_card");
  await watched.hears("acknowledge what is not undone", /ana .*acknowledged it/, async () => {
    await ana.getByRole("region", { name: "Not undone" }).getByRole("link", { name: "Acknowledge…" }).click();
    await answer(ana, "refunded by hand", "Acknowledge");
  });
  await expect(ben.getByRole("region", { name: "Not undone" })).toHaveCount(0);
});

test.describe("both at once", () => {
  /** Who won, and who was told. */
  async function settled(ana: Page, ben: Page, told: (page: Page) => ReturnType<Page["locator"]>): Promise<{ winner: string; loser: Page }> {
    const refused = async () => [await told(ana).count(), await told(ben).count()];
    await expect.poll(async () => (await refused()).reduce((a, b) => a + b), { message: "one of the two is refused" }).toBe(1);
    const [first] = await refused();
    return first ? { winner: "ben", loser: ana } : { winner: "ana", loser: ben };
  }

  test("a resume: one wins, the other is told who and what, and nothing is doubled", async ({ ana, ben, agent, server }) => {
    const id = await crashedRun(agent);
    await Watched.open(server, `/runs/${id}?step=47`, ana, ben);
    await openPlan(ana, /^I checked: it did not happen/, "by ana");
    await openPlan(ben, /^Skip it/, "by ben");
    const button = (page: Page) => plan(page).getByRole("button", { name: "Resume run" });
    const letGo = await Promise.all([ana, ben].map(holdPlan));
    await Promise.all([button(ana).click(), button(ben).click()]);
    const { winner, loser } = await settled(ana, ben, (page) => page.getByRole("alert").filter({ hasText: "Nothing was changed" }));
    await expect(loser.getByRole("alert")).toContainText(`Already decided: ${winner} resumed the run`);
    letGo.forEach((go) => go());
    await plan(loser).getByRole("link", { name: "Back" }).click();
    const what = winner === "ana" ? "decided “it did not happen, and nothing is still under way”" : "decided “skip";
    await expect(loser.getByRole("region", { name: "Decision", exact: true })).toContainText(`${winner} ${what}`);
    await expect(loser.getByRole("region", { name: "Decision", exact: true })).toHaveCount(1);
    expect(await statusOf(agent, id)).toBe("ready");
    const { step } = await agent.get<{ step: { attempts: unknown[] } }>(`/runs/${id}/steps/47`);
    // A skip is an attempt of its own; a retry becomes one when a worker begins it.
    expect(step.attempts.length, "nothing is doubled").toBeLessThanOrEqual(2);
  });

  test("an answer in the inbox: one wins, the other is told who and what", async ({ ana, ben, agent, server }) => {
    const id = await waitingRun(agent);
    for (const page of [ana, ben]) {
      await page.goto(`${server.url}/inbox`);
      await expectLive(page);
      await page.getByRole("article").getByLabel("Reason").fill("looked at it");
    }
    const [yes, no] = [ana.getByRole("button", { name: /^Approve: / }), ben.getByRole("button", { name: "Reject" })];
    await Promise.all([yes.click(), no.click()]);
    const mine = (page: Page) => page.getByRole("article").getByRole("status").filter({ hasText: /^You (approved|rejected)/ });
    await expect.poll(async () => (await mine(ana).count()) + (await mine(ben).count()), { message: "one wins" }).toBe(1);
    const [winner, loser, what] = (await mine(ana).count()) ? ["ana", ben, "approved"] : ["ben", ana, "rejected"];
    await expect((loser as Page).getByRole("article")).toContainText(`Already decided: ${winner as string} ${what as string} step 13`);
    const { step } = await agent.get<{ step: { decision: string } }>(`/runs/${id}/steps/13`);
    expect(step.decision).toBe(what === "approved" ? "approve" : "reject");
  });
});
