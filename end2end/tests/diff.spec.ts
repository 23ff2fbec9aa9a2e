// What changed between two states, who wrote a value, and a state as a tree.
import type { Agent, Held } from "../support/agent.ts";
import { expect, expectAccessible, expectLive, test } from "../support/test.ts";

const HOSTILE = `<img src=x onerror="document.title='pwned'">`;

interface Story {
  id: string;
  run: Held;
}

/** An agent that reconciles invoices: its chat grows, a note is rewritten, and the charge is lost in flight. */
async function crashed(agent: Agent, charge = true): Promise<Story> {
  const messages = Array.from({ length: 88 }, (_, n) => ({ role: "user", content: `message ${n}` }));
  const state = {
    messages,
    ledger: { pending_charge: null, charged: [] },
    note: "Charge after manual review",
    plan: ["gather", "match", "charge"],
    customer: { id: "cus_R91", name: "Ada" },
    [HOSTILE]: HOSTILE,
  };
  const id = await agent.create({ agent: "invoice-reconciler", title: "Reconcile October invoices", state, on_crash: "hold" });
  const run = await agent.lease(id);
  await agent.step(run, { key: "fetch", name: "fetch_customer", kind: "tool" }, {
    patch: [{ op: "replace", path: "/customer/name", value: "Ada L." }],
  });
  await agent.step(run, { key: "compose", name: "compose_charge", kind: "llm" }, {
    patch: [
      { op: "replace", path: "/ledger/pending_charge", value: { customer: "cus_R91", amount: 124900, currency: "eur" } },
      { op: "add", path: "/messages/-", value: { role: "assistant", content: `Charging the card on file. ${HOSTILE}` } },
      { op: "replace", path: "/note", value: "Charge after refund 43 cleared" },
    ],
  });
  if (charge) {
    await agent.begin(run, { key: "charge", name: "charge_card", kind: "tool", effect: { target: "POST stripe /v1/charges" } });
    await agent.die(run);
  }
  return { id, run };
}

test("from a crash on the timeline to the change before it with the keyboard alone", async ({ admin, agent, server }) => {
  const { id } = await crashed(agent);
  await admin.goto(`${server.url}/runs/${id}?step=1`);
  await expectLive(admin);
  await admin.keyboard.press("n");
  await expect(admin.getByRole("heading", { name: /^3 · charge_card/ })).toBeVisible();
  await admin.keyboard.press("d");
  await expect(admin.getByText("Step 3 committed no state. This is the last change before it.")).toBeVisible();
  const change = admin.getByRole("region", { name: "Change of state" });
  await expect(change).toContainText("after 1 fetch_customer → after 2 compose_charge");
  await expect(change.locator(".diff-removed mark")).toHaveText("manual review");
  await expect(change.locator(".diff-added mark")).toHaveText("refund 43 cleared");
  await expect(change).toContainText("88 unchanged items");
  await change.getByRole("link", { name: "Tree" }).focus();
  await admin.keyboard.press("Enter");
  await expect(admin).toHaveURL(/\/diff\?from=1&to=2/);
  await expect(admin.getByRole("heading", { name: "What changed" })).toBeVisible();
  await admin.keyboard.press("]");
  await expect(admin.locator("[data-change]").first().locator(":focus")).toHaveCount(1);
  await admin.keyboard.press("]");
  await expect(admin.locator("[data-change]").nth(1).locator(":focus")).toHaveCount(1);
  await admin.keyboard.press("[");
  await admin.keyboard.press("Enter");
  const value = admin.getByRole("group", { name: "This value" });
  await expect(value).toContainText("/ledger/pending_charge");
  await expectAccessible(admin);
});

test("a value is traced to the step that wrote it and to what stood there before", async ({ admin, agent, server }) => {
  const { id } = await crashed(agent);
  await admin.goto(`${server.url}/runs/${id}?step=3&tab=state`);
  await expectLive(admin);
  await expect(admin.getByText("Step 3 committed no state. This is the last one before it, of step 2.")).toBeVisible();
  await admin.getByRole("button", { name: "Open /customer" }).click();
  await admin.getByRole("button", { name: "name", exact: true }).click();
  const value = admin.getByRole("group", { name: "This value" });
  await expect(value).toContainText("Written by step 1 · fetch_customer");
  await expect(value).toContainText(`"Ada L."`);
  await expect(value).toContainText("before that, part of the initial state");
  await expectAccessible(admin);
  await admin.getByRole("searchbox", { name: "Search the state" }).fill("pending");
  await admin.keyboard.press("Enter");
  await expect(admin.getByRole("button", { name: "/ledger/pending_charge", exact: true })).toBeVisible();
  await value.waitFor({ state: "detached" });
});

test("two runs are compared, as a tree, side by side and raw", async ({ admin, agent, server }) => {
  const one = await crashed(agent);
  const two = await crashed(agent, false);
  await agent.step(two.run, { key: "manual", name: "charge_by_hand" }, {
    patch: [{ op: "add", path: "/ledger/charged/0", value: "INV-2214" }],
  });
  await admin.goto(`${server.url}/runs/${one.id}/diff`);
  await expectLive(admin);
  await admin.getByLabel("in run").fill(two.id);
  await admin.getByLabel("from snapshot").fill("2");
  await admin.getByLabel("to", { exact: true }).fill("3");
  await admin.getByRole("button", { name: "Compare" }).click();
  await expect(admin).toHaveURL(new RegExp(`other=${two.id}`));
  await expectLive(admin);
  const changes = admin.getByRole("region", { name: "Changes", exact: true });
  await expect(changes.locator(".diff-added")).toHaveCount(1);
  await expect(changes.locator(".diff-added")).toContainText("INV-2214");
  await changes.getByRole("button", { name: /unchanged keys/ }).first().click();
  await expect(changes.getByRole("button", { name: "customer", exact: true })).toBeVisible();
  await expectAccessible(admin);
  await changes.getByRole("link", { name: "Side by side" }).click();
  await expect(admin.locator(".diff-pair").first()).toBeVisible();
  await expectAccessible(admin);
  await admin.getByRole("link", { name: "Raw" }).click();
  await expect(admin.getByRole("group", { name: "changes", exact: true })).toContainText(`"path": "/ledger/charged/0"`);
  await expectAccessible(admin);
});

test("what an agent wrote is text in a diff, in both themes and on a phone", async ({ admin, agent, server }) => {
  const { id } = await crashed(agent);
  await admin.setViewportSize({ width: 390, height: 844 });
  for (const scheme of ["light", "dark"] as const) {
    await admin.emulateMedia({ colorScheme: scheme });
    for (const path of [`diff?from=0&to=2`, `diff?from=0&to=2&view=side`, `diff?from=0&to=2&find=onerror`]) {
      await admin.goto(`${server.url}/runs/${id}/${path}`);
      await expectLive(admin);
      await expect(admin.locator(".diff")).toContainText(`onerror=`);
      await expect(admin.locator(".diff img")).toHaveCount(0);
      await expectAccessible(admin);
      const wide = await admin.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
      expect(wide, `${path} is wider than the phone`).toBe(false);
    }
  }
  await expect(admin).not.toHaveTitle(/pwned/);
});

test("a list of 100,000 items shows what changed and reads the rest on demand", async ({ admin, agent, server }) => {
  const items = Array.from({ length: 100_000 }, (_, n) => n);
  const id = await agent.create({ agent: "indexer", state: { items } });
  const run = await agent.lease(id);
  await agent.step(run, { name: "drop" }, {
    patch: [{ op: "remove", path: "/items/500" }, { op: "add", path: "/items/70000", value: "here" }],
  });
  await admin.goto(`${server.url}/runs/${id}/diff`);
  await expectLive(admin);
  await expect(admin.locator(".diff-removed")).toContainText("500");
  await expect(admin.locator(".diff-added")).toContainText(`"here"`);
  expect(await admin.locator(".diff li").count()).toBeLessThan(20);
  await admin.getByRole("button", { name: /unchanged items/ }).first().click();
  await expect(admin.locator(".branch")).toHaveCount(100);
  await admin.getByRole("button", { name: "Show more" }).click();
  await expect(admin.locator(".branch")).toHaveCount(200);
});

test("states that cannot be compared say so", async ({ admin, agent, server, consoleErrors }) => {
  const { id } = await crashed(agent);
  const answer = await admin.goto(`${server.url}/runs/${id}/diff?from=0&to=99`);
  expect(answer?.status()).toBe(404);
  await admin.goto(`${server.url}/runs/${id}/diff?from=1&to=1`);
  await expect(admin.getByText("These states are equal.")).toBeVisible();
  consoleErrors.length = 0;
});
