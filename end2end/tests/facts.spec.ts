// Facts on a run's page: each number says what it claims, whatever people decided since; and who needs a person is named.
import type { Page } from "@playwright/test";

import type { Agent } from "../support/agent.ts";
import { crashedRun } from "../support/sample.ts";
import { expect, expectLive, test } from "../support/test.ts";

const fact = (page: Page, name: string) => page.locator(".facts > div", { has: page.locator("dt", { hasText: new RegExp(`^${name}$`) }) }).locator("dd");
const pill = (page: Page) => page.locator(".run-head .pill");
const needs = (page: Page) => page.getByRole("region", { name: /^Needs you/ });

async function decide(agent: Agent, page: Page, url: string, id: string, body: Record<string, unknown>): Promise<void> {
  const { run } = await agent.get<{ run: { version: number } }>(`/runs/${id}`);
  const order = { run: id, body: { if_version: run.version, reason: "by test", ...body } };
  const answer = await page.request.post(`${url}/api/decisions/decide`, { data: order, headers: { origin: url } });
  expect(answer.status(), await answer.text()).toBe(200);
}

async function open(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await expectLive(page);
}

test("elapsed, the lease and what was saved do not move when someone decides", async ({ admin, agent, server }) => {
  const id = await crashedRun(agent);
  await open(admin, `${server.url}/runs/${id}`);
  await expect(fact(admin, "worker")).toContainText("released it");
  await expect(fact(admin, "worker")).not.toContainText("lease lost");
  const elapsed = await fact(admin, "elapsed").innerText();
  const saved = await fact(admin, "saved").innerText();
  // Time goes on for people, not for the run: by more than elapsed shows.
  const { run } = await agent.get<{ run: { heard_at: string } }>(`/runs/${id}`);
  await expect.poll(() => Date.now() - Date.parse(run.heard_at)).toBeGreaterThan(1_000);
  await decide(agent, admin, server.url, id, { kind: "resume", choices: [{ kind: "commit", step: 47, result: 1 }] });
  await open(admin, `${server.url}/runs/${id}`);
  await expect(fact(admin, "elapsed")).toHaveText(elapsed);
  await expect(fact(admin, "saved")).toContainText(saved.split(" · ").slice(1).join(" · "));
  await expect(admin.locator(".step-row", { hasText: "charge_card" })).not.toContainText("tries");
  await expect(admin.getByText("No worker is polling for invoice-reconciler")).toBeVisible();
});

test("a lease that was lost is called so, and an edit does not move when", async ({ admin, agent, server }) => {
  const id = await agent.create({ agent: "payer", title: "Lost", state: { amount: 1 } });
  const run = await agent.lease(id, 1_000);
  await agent.begin(run, { name: "pay", effect: { target: "bank", description: "pay €5" } });
  await agent.lose(run);
  await open(admin, server.url);
  await expect(needs(admin).locator(`[data-run="${id}"]`)).toContainText(/pay €5 may have happened\. Lease lost (now|.+ ago)\./);
  await open(admin, `${server.url}/runs/${id}`);
  await expect(admin.getByRole("region", { name: "Crash" })).toContainText("Lease lost between begin and commit.");
  await expect(admin.getByRole("region", { name: "Crash" })).toContainText("w-7f3a has not been heard from since");
  const lost = fact(admin, "worker");
  await expect(lost).toContainText("lease lost");
  const at = await lost.locator("time").getAttribute("datetime");
  await decide(agent, admin, server.url, id, { kind: "edit", patch: [{ op: "replace", path: "/amount", value: 2 }] });
  await open(admin, `${server.url}/runs/${id}`);
  await expect(lost).toContainText("lease lost");
  await expect(lost.locator("time")).toHaveAttribute("datetime", at!);
});

test("an agent that said it failed has lost no lease", async ({ admin, agent, server }) => {
  const id = await agent.create({ agent: "payer", title: "Said so" });
  const run = await agent.lease(id);
  const begun = await agent.begin(run, { name: "pay", effect: { target: "bank", description: "pay €5" }, recovery: "ask" });
  const error = { kind: "Timeout", message: "no answer" };
  await agent.post(`/runs/${id}/steps/${begun.seq}/fail`, { epoch: run.epoch, attempt: begun.attempt, error, effect: "unknown" });
  await agent.die(run);
  await open(admin, server.url);
  await expect(needs(admin).locator(`[data-run="${id}"]`)).toContainText(/pay €5 may have happened\. The agent said that it failed (now|.+ ago)\./);
});

test("after a rewind the page and the plan say the same cost", async ({ admin, agent, server }) => {
  const id = await agent.create({ agent: "collector", title: "Collect" });
  const run = await agent.lease(id);
  for (let n = 1; n <= 5; n++) await agent.step(run, { name: `collect_${n}` }, { usage: { cost_usd: 0.1 } });
  await agent.die(run);
  await decide(agent, admin, server.url, id, { kind: "pause", if_version: undefined });
  await decide(agent, admin, server.url, id, { kind: "rewind", step: 2 });
  await open(admin, `${server.url}/runs/${id}`);
  await expect(pill(admin)).toHaveText("Rewound to before step 2");
  await expect(fact(admin, "saved")).toContainText("1 step");
  await expect(fact(admin, "saved")).toContainText("$0.10");
});

test("several steps that are not committed are each counted by what they are", async ({ admin, agent, server }) => {
  const id = await agent.create({ agent: "fan-out", title: "Fan out" });
  const run = await agent.lease(id);
  const failed = await agent.begin(run, { name: "fetch_1" });
  await agent.post(`/runs/${id}/steps/${failed.seq}/fail`, { epoch: run.epoch, attempt: failed.attempt, retryable: false, error: { kind: "Gone", message: "404" } });
  await agent.begin(run, { name: "fetch_2" });
  await open(admin, `${server.url}/runs/${id}`);
  await expect(admin.locator(".timeline")).toContainText("0 committed, 1 failed, 1 running");
});

test("a run that failed after a committed step says so", async ({ admin, agent, server }) => {
  const id = await agent.create({ agent: "collector", title: "Collect" });
  const run = await agent.lease(id);
  await agent.step(run, { name: "one" });
  await agent.finish(run, "failed", { error: { kind: "Gave up", message: "no more" } });
  await open(admin, `${server.url}/runs/${id}`);
  await expect(pill(admin)).toHaveText("Failed after step 1");
});

test("a gate under a live lease needs you, and a paused run keeps its unknown effect there", async ({ admin, agent, server }) => {
  const id = await agent.create({ agent: "support-triage", title: "Asks while it works" });
  const run = await agent.lease(id);
  await agent.begin(run, { name: "approve", kind: "gate", gate: { title: "Go on?" } });
  const paused = await crashedRun(agent, "Paused with a charge");
  await decide(agent, admin, server.url, paused, { kind: "pause", if_version: undefined });
  await open(admin, server.url);
  await expect(needs(admin)).toContainText("Asks while it works");
  await expect(needs(admin)).toContainText("Paused with a charge");
  // Each row offers what is needed, whoever holds the run.
  await expect(needs(admin).locator(`[data-run="${id}"] .cell-action a`).first()).toHaveText("Decide");
  await expect(needs(admin).locator(`[data-run="${paused}"] .cell-action a`).first()).toHaveText("Review");
  await open(admin, `${server.url}/runs/${id}`);
  await expect(pill(admin)).toHaveText("Waits for an answer at step 1");
  for (const path of ["/?status=waiting", "/?q=status:waiting", "/?status=waiting&agent=support-triage"]) {
    await open(admin, server.url + path);
    await expect(admin.getByRole("table", { name: "Runs", exact: true }).getByRole("link", { name: "Asks while it works" }), path).toBeVisible();
  }
  await expect(admin.getByRole("link", { name: /^Waiting/ })).toContainText("1");
});

test("the cancel dialog names the unknown effect", async ({ admin, agent, server }) => {
  const id = await crashedRun(agent);
  await open(admin, `${server.url}/runs/${id}?ask=cancel`);
  await expect(admin.getByRole("dialog")).toContainText("The effect of step 47 charge_card is unknown");
  const effects = admin.getByRole("dialog").getByRole("list", { name: "Unknown effects" });
  await expect(effects).toHaveText(`47 charge_card · charge €1,249.00 to cus_R91 · POST stripe /v1/charges · key ${id}:47`);
});

test("with several unknown effects the page opens one that is held", async ({ admin, agent, server }) => {
  const id = await agent.create({ agent: "payer", title: "Pay both" });
  const run = await agent.lease(id);
  const effect = { target: "stripe.charges" };
  await agent.begin(run, { name: "pay_first", effect });
  await agent.begin(run, { name: "pay_second", effect, recovery: "retry" });
  await agent.die(run);
  await open(admin, `${server.url}/runs/${id}`);
  await expect(admin.getByRole("heading", { name: /pay_first/ })).toBeVisible();
});

test("what children cost together is at least so much where some are not read, or did not say it", async ({ admin, agent, server }) => {
  const id = await agent.create({ agent: "parent", title: "Parent of many" });
  const run = await agent.lease(id);
  const begun = await agent.begin(run, { name: "delegate" });
  const child = (n: number) => agent.create({ agent: "child", title: `Child ${n}`, parent: { run: id, seq: begun.seq } });
  const children = await Promise.all([child(1), child(2)]);
  const held = await agent.lease(children[0]!);
  await agent.step(held, { name: "work" }, { usage: { cost_usd: 0.25 } });
  await agent.finish(held);
  await open(admin, `${server.url}/runs/${id}`);
  await expect(admin.getByText("2 child runs · at least $0.25", { exact: true })).toBeVisible();
  await Promise.all(Array.from({ length: 58 }, (_, n) => child(n + 3)));
  await open(admin, `${server.url}/runs/${id}`);
  await admin.getByText(/^at least 50 child runs/).click();
  await expect(admin.getByRole("list", { name: "Child runs" })).toContainText("+10 more child runs and forks");
});

test("input, result and children stand on the run's page, and a child that stopped is seen", async ({ admin, agent, server }) => {
  const id = await agent.create({ agent: "parent", title: "Parent", input: { order: "A-1" } });
  const run = await agent.lease(id);
  const begun = await agent.begin(run, { name: "delegate" });
  for (const [title, outcome] of [["First child", "done"], ["Second child", "failed"]] as const) {
    const child = await agent.create({ agent: "child", title, parent: { run: id, seq: begun.seq } });
    const held = await agent.lease(child);
    await agent.step(held, { name: "work" }, { usage: { cost_usd: 0.25 } });
    await agent.finish(held, outcome);
  }
  await agent.commit(run, begun);
  await agent.finish(run, "done", { result: { total: 47 } });
  await open(admin, `${server.url}/runs/${id}`);
  await admin.getByText("Input and result").click();
  await expect(admin.getByRole("group", { name: "input of the run" })).toContainText("A-1");
  await expect(admin.getByRole("group", { name: "result of the run" })).toContainText("47");
  await expect(admin.getByText("2 child runs · $0.50 · 1 crashed or failed")).toBeVisible();
  const children = admin.getByRole("list", { name: "Child runs" });
  await expect(children.getByRole("link", { name: "Second child" })).toBeVisible();
  await expect(children).toContainText("Failed");
});
