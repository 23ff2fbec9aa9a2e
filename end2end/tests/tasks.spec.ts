// What operators come for, from the list of runs: each within 4 clicks or 6 keys, typed text aside. What is asked at 3 a.m. (what
// broke, did the effect happen, which change led to it) is answered without scrolling.
import type { Locator, Page } from "@playwright/test";

import type { Agent } from "../support/agent.ts";
import { statusOf } from "../support/crash.ts";
import { decide } from "../support/decide.ts";
import type { Hands } from "../support/hands.ts";
import { person } from "../support/people.ts";
import { runOf } from "../support/sample.ts";
import { damage, marker } from "../support/tamper.ts";
import { expect, onWorkingDay as test } from "../support/test.ts";

const CRASHED = "Reconcile October invoices";

const needs = (page: Page) => page.getByRole("region", { name: /^Needs you/ });
const list = (page: Page) => page.getByRole("table", { name: "Runs", exact: true });
const inNeeds = (page: Page, title: string) => needs(page).getByRole("row", { name: title });
/** The button at the end of a row, which is there for the mouse only. */
const review = (page: Page, title: string) => inNeeds(page, title).locator(".cell-action a:visible");
const plan = (page: Page) => page.getByRole("form", { name: /^Resume/ });
const pill = (page: Page) => page.locator(".run-head .pill");
const card = (page: Page) => page.getByRole("region", { name: "Decision", exact: true });
const crash = (page: Page) => page.getByRole("region", { name: "Crash" });
const heading = (page: Page, text: string | RegExp) => page.getByRole("heading", { name: text });
const option = (page: Page, name: string | RegExp) => page.getByRole("dialog", { name: "Command palette" }).getByRole("option", { name });

/** Goes to a run by the palette, whatever place it has in the list. */
async function openByPalette(hands: Hands, text: string, name: RegExp): Promise<void> {
  await hands.press("Control+k");
  await hands.type(text);
  await expect(option(hands.page, name).first()).toHaveAttribute("aria-selected", "true");
  await hands.press("Enter");
}

/** The first row that `j` leads to. */
async function first(hands: Hands): Promise<void> {
  await hands.press("j");
  await expect(hands.page.getByRole("link", { name: CRASHED }).first()).toBeFocused();
}

test.describe("find what broke", () => {
  const found = async (hands: Hands) => {
    const { page } = hands;
    await expect(pill(page)).toHaveText("Crashed mid-flight at step 47");
    await hands.expectSeenInPlace(pill(page));
    await hands.expectSeenInPlace(heading(page, /^47 · charge_card/));
    await hands.expectSeenInPlace(crash(page));
    await expect(page.locator(".step-row[aria-selected]")).toBeInViewport({ ratio: 1 });
  };

  test("with the mouse", async ({ mouse }) => {
    await mouse.start();
    await expect(inNeeds(mouse.page, CRASHED)).toContainText("crashed at 47 · charge_card");
    await mouse.expectSeenInPlace(inNeeds(mouse.page, CRASHED));
    await mouse.click(inNeeds(mouse.page, CRASHED).getByRole("link", { name: CRASHED }));
    await found(mouse);
  });

  test("with the keyboard", async ({ keyboard }) => {
    await keyboard.start();
    await first(keyboard);
    await keyboard.press("Enter");
    await found(keyboard);
  });

  test("also where the agent said so itself", async ({ mouse }) => {
    await mouse.start();
    await mouse.click(inNeeds(mouse.page, "Migrate tenant acme-eu").getByRole("link", { name: "Migrate tenant acme-eu" }));
    await expect(pill(mouse.page)).toHaveText("Failed at step 9");
    await mouse.expectSeenInPlace(mouse.page.getByText("disk quota exceeded on db-eu-2").first());
  });
});

test.describe("did the effect happen", () => {
  const unknown = async (hands: Hands) => {
    const told = crash(hands.page);
    await expect(told).toContainText("The effect may have happened, not happened, or still be under way.");
    await expect(told).toContainText("charge €1,249.00 to cus_R91");
    await expect(told).toContainText("POST stripe /v1/charges");
    await expect(told, "the key to look for at the provider").toContainText(/idempotency key\s*\S+:47/);
    await hands.expectSeenInPlace(told);
  };
  /** A worker that lost its lease, and then sent what came of its work. */
  const late = async (agent: Agent) => {
    const run = await agent.lease(await agent.create({ agent: "invoice-reconciler", title: "Reconcile late" }));
    const effect = { target: "POST stripe /v1/charges", description: "charge €80.00 to cus_R77" };
    const begun = await agent.begin(run, { key: "charge", name: "charge_card", effect });
    await agent.die(run);
    await expect(agent.commit(run, begun, { result: { id: "ch_late" } })).rejects.toThrow("lease_lost");
  };
  const evidence = async (hands: Hands) => {
    const told = crash(hands.page);
    await expect(told).toContainText("The worker sent its result late");
    await expect(told).toContainText("ch_late");
    await hands.expectSeenInPlace(told);
  };

  test("with the mouse", async ({ mouse }) => {
    await mouse.start();
    await mouse.click(inNeeds(mouse.page, CRASHED).getByRole("link", { name: CRASHED }));
    await unknown(mouse);
  });

  test("with the keyboard", async ({ keyboard }) => {
    await keyboard.start();
    await first(keyboard);
    await keyboard.press("Enter");
    await unknown(keyboard);
  });

  test("with the mouse, where the worker sent evidence", async ({ mouse, agent }) => {
    await late(agent);
    await mouse.start();
    await mouse.click(inNeeds(mouse.page, "Reconcile late").getByRole("link", { name: "Reconcile late" }));
    await evidence(mouse);
  });

  test("with the keyboard, where the worker sent evidence", async ({ keyboard, agent }) => {
    await late(agent);
    await keyboard.start();
    await first(keyboard);
    await keyboard.press("j", "Enter");
    await evidence(keyboard);
  });
});

test.describe("which change led to it", () => {
  const told = async (hands: Hands) => {
    const { page } = hands;
    await expect(page.getByText("Step 47 committed no state. This is the last change before it.")).toBeVisible();
    const change = page.getByRole("region", { name: "Change of state" });
    await expect(change).toContainText("after 46 match_po");
    await hands.expectSeenInPlace(change.locator(".diff-removed mark", { hasText: "manual review" }));
    await hands.expectSeenInPlace(change.locator(".diff-added mark", { hasText: "refund 43 cleared" }));
    await hands.expectSeenInPlace(change.getByText("pending_charge").last());
  };

  test("with the mouse", async ({ mouse }) => {
    await mouse.start();
    await mouse.click(inNeeds(mouse.page, CRASHED).getByRole("link", { name: CRASHED }));
    await mouse.click(mouse.page.getByRole("link", { name: "State diff" }));
    await told(mouse);
  });

  test("with the keyboard", async ({ keyboard }) => {
    await keyboard.start();
    await first(keyboard);
    await keyboard.press("Enter");
    await expect(crash(keyboard.page)).toBeVisible();
    await keyboard.press("d");
    await told(keyboard);
  });
});

test.describe("who decided what", () => {
  /** Ana looked at the provider, and let the run go on. */
  test.beforeEach(async ({ agent, server, browser }) => {
    const ana = await person(browser, server, "ana");
    const choices = [{ kind: "retry", step: 47, new_key: true }];
    await decide(ana, server, agent, await runOf(agent, CRASHED), { kind: "resume", choices, reason: "Stripe shows no charge" });
    await ana.context().close();
  });
  const told = async (page: Page) => {
    const said = page.getByRole("region", { name: "Notes and decisions" });
    await expect(said).toContainText(/ana .*resumed the run, step 47: it did not happen.*“Stripe shows no charge”/);
    await expect(said).toBeInViewport({ ratio: 1 });
  };
  const logged = async (page: Page) => {
    const line = page.getByRole("table", { name: "Audit log" }).getByRole("row", { name: /resume/ }).first();
    await expect(line).toContainText("ana");
    await expect(line).toContainText("it did not happen");
    await expect(line).toContainText("Stripe shows no charge");
    await expect(line).toBeInViewport();
  };

  test("with the mouse: about a run", async ({ mouse }) => {
    await mouse.start();
    await mouse.click(list(mouse.page).getByRole("link", { name: CRASHED }));
    await told(mouse.page);
  });

  test("with the keyboard: about a run", async ({ keyboard }) => {
    await keyboard.start();
    await openByPalette(keyboard, "october", /Reconcile October invoices/);
    await told(keyboard.page);
  });

  test("with the mouse: about all runs", async ({ mouse }) => {
    await mouse.start();
    await mouse.click(mouse.page.getByRole("link", { name: "Audit" }));
    await logged(mouse.page);
  });

  test("with the keyboard: about all runs", async ({ keyboard }) => {
    await keyboard.start();
    await keyboard.press("g", "a");
    await logged(keyboard.page);
  });
});

test.describe("resume safely", () => {
  interface Choice {
    title: string;
    way: RegExp;
    digit: string;
    result?: string;
    said: string;
  }
  const RESULT = '{"id": "ch_3QkR91xT"}';
  const CHOICES: Choice[] = [
    { title: "it happened", way: /^I checked: it happened/, digit: "1", result: RESULT, said: "decided “it happened”" },
    { title: "it did not happen", way: /^I checked: it did not happen/, digit: "2", said: "decided “it did not happen, and nothing is still under way”" },
    { title: "the same key", way: /^Retry with the same key/, digit: "3", said: "decided “retry with the same key”" },
    { title: "skip it", way: /^Skip it/, digit: "4", result: RESULT, said: "decided “skip" },
  ];
  const resumed = async (page: Page, agent: Agent, choice: Choice) => {
    await expect(plan(page)).toHaveCount(0);
    await expect(pill(page)).toHaveText("Queued: waiting for a worker");
    await expect(card(page)).toContainText(`admin ${choice.said}`);
    await expect(card(page)).toContainText("looked at Stripe");
    if (choice.result) await expect(card(page)).toContainText("ch_3QkR91xT");
    expect(await statusOf(agent, await runOf(agent, CRASHED))).toBe("ready");
  };

  for (const choice of CHOICES) {
    test(`with the mouse: ${choice.title}`, async ({ mouse, agent }) => {
      await mouse.start();
      await mouse.click(review(mouse.page, CRASHED));
      await expect(plan(mouse.page)).toContainText("46 replayed");
      await expect(plan(mouse.page).getByRole("radio", { checked: true }), "nothing is chosen for anyone").toHaveCount(0);
      await mouse.click(plan(mouse.page).getByRole("radio", { name: choice.way }));
      if (choice.result) {
        await mouse.type(choice.result);
        await mouse.click(plan(mouse.page).getByLabel("Reason"));
      }
      await mouse.type("looked at Stripe");
      await mouse.click(plan(mouse.page).getByRole("button", { name: "Resume run" }));
      await resumed(mouse.page, agent, choice);
    });

    test(`with the keyboard: ${choice.title}`, async ({ keyboard, agent }) => {
      await keyboard.start();
      await first(keyboard);
      await keyboard.press("r");
      await expect(plan(keyboard.page)).toContainText("46 replayed");
      await keyboard.press(choice.digit);
      await expect(plan(keyboard.page).getByRole("radio", { name: choice.way })).toBeChecked();
      if (choice.result) {
        await keyboard.press("Tab");
        await keyboard.type(choice.result);
      }
      // What is still missing gets the focus: nothing is sent without a reason.
      await keyboard.press("Control+Enter");
      await expect(plan(keyboard.page).getByLabel("Reason")).toBeFocused();
      await keyboard.type("looked at Stripe");
      await keyboard.press("Control+Enter");
      await resumed(keyboard.page, agent, choice);
    });
  }
});

test.describe("approve the oldest gate", () => {
  test.beforeEach(async ({ agent }) => {
    const run = await agent.lease(await agent.create({ agent: "support-triage", title: "Asked later" }));
    await agent.begin(run, { key: "ask", name: "ask_person", kind: "gate", gate: { title: "Close the ticket?" } });
    await agent.die(run);
  });
  const approved = async (page: Page, agent: Agent) => {
    const oldest = page.getByRole("article", { name: "Send €120.00 back to the customer?" });
    await expect(oldest.getByRole("status")).toContainText("You approved");
    expect(await statusOf(agent, await runOf(agent, "Refund dispute #88121"))).toBe("ready");
    expect(await statusOf(agent, await runOf(agent, "Asked later"))).toBe("waiting");
  };

  test("with the mouse", async ({ mouse, agent }) => {
    await mouse.start();
    await mouse.click(mouse.page.getByRole("navigation", { name: "Pages", exact: true }).getByRole("link", { name: "Inbox" }));
    const oldest = mouse.page.getByRole("article").first();
    await mouse.click(oldest.getByLabel("Reason"));
    await mouse.type("the neighbour confirmed");
    await mouse.click(oldest.getByRole("button", { name: "Approve: Send €120.00 back to the customer" }));
    await approved(mouse.page, agent);
  });

  test("with the keyboard", async ({ keyboard, agent }) => {
    await keyboard.start();
    await keyboard.press("g", "i");
    const oldest = keyboard.page.getByRole("article").first();
    await expect(oldest).toContainText("Send €120.00 back to the customer?");
    await keyboard.press("j", "Control+Enter");
    await expect(oldest.getByLabel("Reason")).toBeFocused();
    await keyboard.type("the neighbour confirmed");
    await keyboard.press("Control+Enter");
    await approved(keyboard.page, agent);
  });
});

test.describe("compare a fork with its origin", () => {
  const FORK = "Forked by ana";
  /** A fork of the crashed run whose state was edited since. */
  test.beforeEach(async ({ admin, agent, server }) => {
    const origin = await runOf(agent, CRASHED);
    await decide(admin, server, agent, origin, { kind: "fork", step: 47, again: [47], new_run_id: "fork-of-october" });
    await decide(admin, server, agent, "fork-of-october", { kind: "pause" });
    const patch = [{ op: "replace", path: "/note", value: FORK }];
    await decide(admin, server, agent, "fork-of-october", { kind: "edit", patch });
  });
  const compared = async (page: Page) => {
    await expect(page).toHaveURL(/\/diff\?.*other=fork-of-october/);
    const rows = page.locator("#main");
    await expect(rows).toContainText(FORK);
    await expect(page.getByText(FORK).first()).toBeInViewport();
  };
  const sides = (page: Page) => page.getByRole("region", { name: "Compared with its origin" });

  test("with the mouse", async ({ mouse }) => {
    await mouse.start();
    await mouse.click(list(mouse.page).locator('tr[data-run="fork-of-october"] .run-title'));
    await expect(sides(mouse.page)).toContainText("origin");
    await expect(sides(mouse.page)).toContainText("Crashed mid-flight at step 47");
    await mouse.click(sides(mouse.page).getByRole("link", { name: "Compare the two states" }));
    await compared(mouse.page);
  });

  test("with the keyboard", async ({ keyboard }) => {
    await keyboard.start();
    await openByPalette(keyboard, "fork-of-october", /Reconcile October invoices/);
    await expect(sides(keyboard.page)).toContainText("Crashed mid-flight at step 47");
    await openByPalette(keyboard, "compare", /Compare the two states/);
    await compared(keyboard.page);
  });
});

test.describe("find a run", () => {
  const box = (page: Page) => page.getByRole("searchbox", { name: "Search runs" });
  const only = (page: Page, title: string): Locator => list(page).getByRole("link", { name: title });
  const WAYS = [
    { by: "label", text: "label:team:billing", title: CRASHED },
    { by: "text", text: "quota exceeded", title: "Migrate tenant acme-eu" },
  ];

  test("with the mouse: by a step's key", async ({ mouse }) => {
    await mouse.start();
    await mouse.click(box(mouse.page));
    await mouse.type("charge-INV-2214");
    await mouse.press("Enter");
    await expect(heading(mouse.page, /^47 · charge_card/)).toBeInViewport();
  });

  test("with the keyboard: by a step's key", async ({ keyboard }) => {
    await keyboard.start();
    await keyboard.press("/");
    await keyboard.type("charge-INV-2214");
    await keyboard.press("Enter");
    await expect(heading(keyboard.page, /^47 · charge_card/)).toBeInViewport();
  });

  for (const { by, text, title } of WAYS) {
    test(`with the mouse: by ${by}`, async ({ mouse }) => {
      await mouse.start();
      await mouse.click(box(mouse.page));
      await mouse.type(text);
      await mouse.press("Enter");
      await expect(list(mouse.page).getByRole("row")).toHaveCount(2);
      await mouse.click(only(mouse.page, title));
      await expect(heading(mouse.page, title)).toBeVisible();
    });

    test(`with the keyboard: by ${by}`, async ({ keyboard }) => {
      await keyboard.start();
      await keyboard.press("/");
      await keyboard.type(text);
      await keyboard.press("Enter");
      await expect(list(keyboard.page).getByRole("row")).toHaveCount(2);
      await keyboard.press("Escape", "j");
      await expect(only(keyboard.page, title)).toBeFocused();
      await keyboard.press("Enter");
      await expect(heading(keyboard.page, title)).toBeVisible();
    });
  }
});

test.describe("see what a worker works on, and what it did before", () => {
  test.beforeEach(async ({ agent }) => {
    const past = await agent.lease(await agent.create({ agent: "crm-sync", title: "Done by the other one" }), 60_000, "a-worker-2");
    await agent.step(past, { name: "sync" });
    await agent.finish(past);
    const now = await agent.lease(await agent.create({ agent: "crm-sync", title: "Held by the other one" }), 60_000, "a-worker-2");
    await agent.begin(now, { name: "sync_more" });
  });
  const row = (page: Page) => page.getByRole("table", { name: "Workers" }).getByRole("row", { name: "a-worker-2" });
  const now = async (page: Page) => {
    await expect(row(page)).toContainText("Held by the other one");
    await expect(row(page)).toContainText("1 · sync_more");
  };
  const before = async (page: Page) => {
    await expect(list(page).getByRole("row")).toHaveCount(3);
    await expect(list(page).getByRole("row", { name: "Held by the other one" })).toContainText("running 1 · sync_more");
    await expect(list(page).getByRole("row", { name: "Done by the other one" })).toContainText("done");
  };

  test("with the mouse", async ({ mouse }) => {
    await mouse.start();
    await mouse.click(mouse.page.getByRole("link", { name: "Workers" }));
    await now(mouse.page);
    await mouse.click(row(mouse.page).getByRole("link", { name: "a-worker-2" }));
    await before(mouse.page);
  });

  test("with the keyboard", async ({ keyboard }) => {
    await keyboard.start();
    await keyboard.press("g", "w");
    await now(keyboard.page);
    await keyboard.press("j");
    await expect(row(keyboard.page).getByRole("link", { name: "a-worker-2" })).toBeFocused();
    await keyboard.press("Enter");
    await before(keyboard.page);
  });
});

test.describe("rewind", () => {
  const sheet = (page: Page) => page.getByRole("form", { name: "Rewind to before step 47" });
  const rewound = async (page: Page) => {
    await expect(sheet(page)).toHaveCount(0);
    await expect(pill(page)).toHaveText("Rewound to before step 47");
    await expect(page.getByRole("region", { name: "Not undone" })).toContainText("47 charge_card");
  };

  test("with the mouse", async ({ mouse }) => {
    await mouse.start();
    await mouse.click(review(mouse.page, CRASHED));
    await mouse.click(plan(mouse.page).getByRole("link", { name: "Rewind…" }));
    await expect(sheet(mouse.page)).toContainText("may have happened and is not undone");
    await mouse.click(sheet(mouse.page).getByRole("checkbox", { name: /charge_card/ }));
    await mouse.type("charge again from the start");
    await mouse.click(sheet(mouse.page).getByRole("button", { name: "Rewind run" }));
    await rewound(mouse.page);
  });

  test("with the keyboard", async ({ keyboard }) => {
    await keyboard.start();
    await first(keyboard);
    await keyboard.press("Enter");
    await expect(crash(keyboard.page)).toBeVisible();
    await keyboard.press("b");
    await expect(sheet(keyboard.page)).toContainText("may have happened and is not undone");
    await keyboard.press("1");
    await expect(sheet(keyboard.page).getByRole("checkbox", { name: /charge_card/ })).toBeChecked();
    await keyboard.press("Control+Enter");
    await keyboard.type("charge again from the start");
    await keyboard.press("Control+Enter");
    await rewound(keyboard.page);
  });
});

test.describe("edit one value and resume", () => {
  const edited = async (hands: Hands, agent: Agent) => {
    await expect(pill(hands.page)).toHaveText("Queued: waiting for a worker");
    const id = await runOf(agent, CRASHED);
    const { run } = await agent.get<{ run: { snapshot: number } }>(`/runs/${id}`);
    const { state } = await agent.get<{ state: { note: string } }>(`/runs/${id}/snapshots/${run.snapshot}`);
    expect(state.note).toBe("Charge by hand");
  };
  /** Types the path, and goes on to the value once the one that stands there has come. */
  const change = async (hands: Hands) => {
    await hands.type("/note");
    await hands.press("Tab");
    await expect(plan(hands.page).getByText(/^Now: /)).toBeVisible();
    await hands.type('"Charge by hand"');
  };

  test("with the mouse", async ({ mouse, agent }) => {
    // And one key, from the field of the path to the one of the value.
    mouse.most = { clicks: 4, all: 5 };
    const { page } = mouse;
    await mouse.start();
    await mouse.click(review(page, CRASHED));
    await mouse.click(plan(page).getByRole("radio", { name: /^Retry with the same key/ }));
    await mouse.type("wrong note; Stripe deduplicates");
    await mouse.click(plan(page).getByText("Change one value of the state"));
    await change(mouse);
    await mouse.click(plan(page).getByRole("button", { name: "Resume run" }));
    await edited(mouse, agent);
  });

  test("with the keyboard", async ({ keyboard, agent }) => {
    // The way from the field of the path to the one of the value is a key of its own.
    keyboard.most = { clicks: 0, all: 7 };
    await keyboard.start();
    await first(keyboard);
    await keyboard.press("r");
    await expect(plan(keyboard.page)).toBeVisible();
    await keyboard.press("3", "e");
    await change(keyboard);
    await keyboard.press("Control+Enter");
    await keyboard.type("wrong note; Stripe deduplicates");
    await keyboard.press("Control+Enter");
    await edited(keyboard, agent);
  });
});

test.describe("prove that nothing was tampered with", () => {
  const proven = async (page: Page) => {
    const said = page.locator(".verification-said").first();
    await expect(said).toContainText(/Verified to event \d/);
    await expect(said).toContainText(/head [0-9a-f]+/);
    await expect(said).toBeInViewport();
  };

  test("with the mouse: a run", async ({ mouse }) => {
    await mouse.start();
    await mouse.click(inNeeds(mouse.page, CRASHED).getByRole("link", { name: CRASHED }));
    await mouse.click(mouse.page.getByRole("button", { name: "Verify" }));
    await proven(mouse.page);
  });

  test("with the keyboard: a run", async ({ keyboard }) => {
    await keyboard.start();
    await first(keyboard);
    await keyboard.press("Enter");
    await expect(crash(keyboard.page)).toBeVisible();
    await openByPalette(keyboard, "verify", /^Verify/);
    await proven(keyboard.page);
  });

  test("with the mouse: the log of decisions", async ({ mouse }) => {
    await mouse.start();
    await mouse.click(mouse.page.getByRole("link", { name: "Audit" }));
    await mouse.click(mouse.page.getByRole("button", { name: "Verify the chain" }));
    await expect(mouse.page.getByText(/^Verified to entry \d+, head [0-9a-f]{12}/)).toBeInViewport();
  });

  test("with the keyboard: the log of decisions", async ({ keyboard }) => {
    await keyboard.start();
    await keyboard.press("g", "a");
    await expect(keyboard.page.getByRole("button", { name: "Verify the chain" })).toBeVisible();
    await openByPalette(keyboard, "verify", /^Verify the chain/);
    await expect(keyboard.page.getByText(/^Verified to entry \d+, head [0-9a-f]{12}/)).toBeInViewport();
  });

  test("and where something was, it is named", async ({ mouse, agent, server, consoleErrors }) => {
    const word = marker();
    const run = await agent.lease(await agent.create({ agent: "crm-sync", title: "Tampered with" }));
    await agent.step(run, { name: "sync", input: { word } });
    await agent.finish(run);
    await damage(mouse.page, server, [word]);
    await mouse.page.goto(server.url);
    await mouse.start();
    await mouse.click(list(mouse.page).getByRole("link", { name: "Tampered with" }));
    await mouse.click(mouse.page.getByRole("button", { name: "Verify" }));
    await expect(mouse.page.locator(".verification-damaged")).toBeVisible();
    await expect(mouse.page.locator(".verification-places")).toContainText("step 1");
    consoleErrors.length = 0; // Chromium reports that the damaged step is not served
  });
});
