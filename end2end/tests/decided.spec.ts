// After a decision the console tells the truth: what was decided, what is current now, what is not undone.
import type { Page } from "@playwright/test";

import type { Held } from "../support/agent.ts";
import { decide } from "../support/decide.ts";
import { crashedRun, failedRun, payingRun, runningRun, waitingRun } from "../support/sample.ts";
import { expect, expectLive, test } from "../support/test.ts";

const plan = (page: Page) => page.getByRole("form", { name: /^Resume/ });
const card = (page: Page) => page.getByRole("region", { name: "Decision", exact: true });
const crash = (page: Page) => page.getByRole("region", { name: "Crash" });
const notUndone = (page: Page) => page.getByRole("region", { name: "Not undone" });
const pill = (page: Page) => page.locator(".run-head .pill");

async function rewound(page: Page, url: string, id: string): Promise<void> {
  await page.goto(`${url}/runs/${id}?step=2&ask=rewind`);
  await expectLive(page);
  const sheet = page.getByRole("form", { name: "Rewind to before step 2" });
  for (const box of await sheet.getByRole("checkbox").all()) await box.check();
  await sheet.getByLabel("Reason").fill("collect again");
  await sheet.getByRole("button", { name: "Rewind run" }).click();
  await expect(sheet).toHaveCount(0);
}

async function resume(page: Page, url: string, id: string, way: RegExp, reason: string): Promise<void> {
  await page.goto(`${url}/runs/${id}?ask=resume`);
  await expectLive(page);
  await plan(page).getByRole("radio", { name: way }).click();
  await plan(page).getByLabel("Reason").fill(reason);
  await plan(page).getByRole("button", { name: "Resume run" }).click();
  await expect(plan(page)).toHaveCount(0);
}

test("an answer that got lost is not a refusal: the page asks again and says what happened", async ({ admin, agent, server, consoleErrors }) => {
  const id = await crashedRun(agent);
  await admin.goto(`${server.url}/runs/${id}?ask=resume`);
  await expectLive(admin);
  let sent = 0;
  let answer = () => {};
  const looked = new Promise<void>((resolve) => (answer = resolve));
  await admin.route("**/api/decisions/decide*", async (route) => {
    sent += 1;
    if (sent > 1) {
      await looked;
      return route.continue();
    }
    await route.fetch();
    return route.abort("connectionreset");
  });
  await plan(admin).getByRole("radio", { name: /^Skip it/ }).click();
  await plan(admin).getByLabel("Reason").fill("looked at Stripe");
  await plan(admin).getByRole("button", { name: "Resume run" }).click();
  await expect(admin.getByText(/Not known yet/)).toBeVisible();
  await expect(admin.getByText("Nothing was changed")).toHaveCount(0);
  await expect(admin.getByText("Refused")).toHaveCount(0);
  answer();
  await expect(plan(admin)).toHaveCount(0);
  await expect(pill(admin)).toHaveText("Queued: waiting for a worker");
  expect(sent, "it was sent again").toBeGreaterThan(1);
  const { step } = await agent.get<{ step: { attempts: unknown[] } }>(`/runs/${id}/steps/47`);
  expect(step.attempts.length, "the decision was carried out once").toBe(2);
  consoleErrors.length = 0; // Chromium reports the lost answer
});

test("an edit is the current state on every tab, in the timeline and in the plan", async ({ admin, agent, server }) => {
  const id = await payingRun(agent);
  const patch = [{ op: "replace", path: "/note", value: "after the edit" }];
  await decide(admin, server, agent, id, { kind: "edit", patch, reason: "wrong note" });
  await admin.goto(`${server.url}/runs/${id}?step=6&tab=state`);
  await expectLive(admin);
  const inspector = admin.locator(".inspector");
  await expect(inspector).toContainText("after the edit");
  await expect(inspector).toContainText("State edited by admin");
  await expect(inspector).toContainText("wrong note");
  await admin.getByRole("link", { name: "State diff" }).click();
  await expect(inspector.getByRole("region", { name: "Change of state" })).toContainText("after the edit");
  await expect(inspector).toContainText("State edited by admin");
  await expect(admin.locator(".timeline").getByLabel("state edited by admin").filter({ hasText: "⚑" })).toHaveCount(1);
  await admin.getByRole("link", { name: "Review & resume" }).click();
  await expect(plan(admin)).toContainText("state edited by admin (1 change)");
  await expect(plan(admin)).toContainText("wrong note");
});

test("a decided step looks decided: the card stands where the banner stood, and each attempt keeps its key", async ({ admin, agent, server }) => {
  const id = await crashedRun(agent);
  await admin.goto(`${server.url}/runs/${id}`);
  await expectLive(admin);
  await expect(crash(admin)).toBeVisible();
  const before = await agent.get<{ step: { idempotency_key: string } }>(`/runs/${id}/steps/47`);
  await resume(admin, server.url, id, /^I checked: it did not happen/, "Stripe shows no charge");
  await expect(pill(admin)).toHaveText("Queued: waiting for a worker");
  await expect(crash(admin)).toHaveCount(0);
  await expect(admin.getByText(/person must decide|operator decides/)).toHaveCount(0);
  await expect(admin.getByRole("link", { name: /^(Retry|Skip)…/ })).toHaveCount(0);
  await expect(card(admin)).toContainText("admin decided “it did not happen, and nothing is still under way”");
  await expect(card(admin)).toContainText("Stripe shows no charge");
  await expect(card(admin)).toContainText("then resumed the run");
  await expect(card(admin)).toContainText("executed again with a new key");
  const held = await agent.lease(id);
  await agent.begin(held, { key: "charge-INV-2214", name: "charge_card", kind: "tool", input: { customer: "cus_R91", amount: 124900, currency: "eur" }, effect: { target: "POST stripe /v1/charges" } });
  const after = await agent.get<{ step: { idempotency_key: string; attempts: { idempotency_key: string }[] } }>(`/runs/${id}/steps/47`);
  const [first, second] = after.step.attempts.map((it) => it.idempotency_key);
  expect(first, "the crashed attempt keeps what went to the provider").toBe(before.step.idempotency_key);
  expect(second).toBe(after.step.idempotency_key);
  expect(second).not.toBe(first);
  await admin.goto(`${server.url}/runs/${id}?step=47&tab=attempts`);
  await expect(admin.getByRole("table", { name: /^Attempts/ })).toContainText(first!);
  await expect(admin.getByRole("table", { name: /^Attempts/ })).toContainText(second!);
});

test("a rewind hides nothing: what is not undone stands on the page and in the plan until it is acknowledged", async ({ admin, agent, server }) => {
  const id = await payingRun(agent);
  await rewound(admin, server.url, id);
  await expect(pill(admin)).toHaveText("Rewound to before step 2");
  await expect(notUndone(admin)).toContainText("2 collect_2");
  await expect(notUndone(admin)).toContainText(/happened/);
  await expect(notUndone(admin)).toContainText("6 pay");
  await expect(notUndone(admin)).toContainText("unknown");
  const row = admin.locator(".step-row", { hasText: "pay" });
  await expect(row.getByRole("img", { name: "crashed mid-flight, superseded by a rewind" })).toBeVisible();
  await expect(admin.locator(".timeline-svg .bar-hatched.is-ghost"), "on the timeline it keeps its hatch").toHaveCount(1);
  await admin.goto(`${server.url}/runs/${id}?step=6`);
  await expectLive(admin);
  await expect(crash(admin)).toContainText("The effect may have happened");
  await expect(crash(admin)).toContainText("not part of the run any more");
  await expect(card(admin)).toContainText("admin rewound the run to before step 2");
  await expect(card(admin)).toContainText("may happen again: 2 collect_2, 6 pay");
  await admin.getByRole("link", { name: "Review & resume" }).click();
  await expect(plan(admin)).toContainText("Not undone");
  await expect(plan(admin)).toContainText("charge €80.00 to cus_R77");
  await expect(plan(admin)).toContainText("may happen again");
  await admin.goto(`${server.url}/runs/${id}`);
  await expectLive(admin);
  await notUndone(admin).getByRole("link", { name: "Acknowledge…" }).click();
  await admin.getByRole("dialog").getByRole("textbox").fill("seen");
  await admin.getByRole("dialog").getByRole("button", { name: "Acknowledge" }).click();
  await expect(notUndone(admin)).toHaveCount(0);
});

test("a fork says what its origin did and nobody undoes", async ({ admin, agent, server }) => {
  const id = await payingRun(agent);
  await decide(admin, server, agent, id, { kind: "fork", step: 2, again: [2, 6], new_run_id: `${id}-fork` });
  await admin.goto(`${server.url}/runs/${id}-fork`);
  await expectLive(admin);
  await expect(notUndone(admin)).toContainText("6 pay");
  await expect(notUndone(admin)).toContainText("unknown");
  await expect(notUndone(admin).getByRole("link", { name: /6 pay/ })).toHaveAttribute("href", `/runs/${id}?step=6`);
});

test("the audit says what was decided: choice, result, patch and note", async ({ admin, agent, server }) => {
  const id = await payingRun(agent);
  const patch = [{ op: "replace", path: "/note", value: "after the edit" }];
  await decide(admin, server, agent, id, { kind: "edit", patch });
  await decide(admin, server, agent, id, { kind: "note", text: "asked the bank", if_version: undefined });
  const choices = [{ kind: "commit", step: 6, result: { id: "ch_3Qk" } }];
  await decide(admin, server, agent, id, { kind: "resume", choices });
  await admin.goto(`${server.url}/audit?run=${id}`);
  const log = admin.getByRole("table", { name: "Audit log" });
  await expect(log).toContainText("it happened");
  await expect(log).toContainText("step 6");
  await expect(log).toContainText("ch_3Qk");
  await expect(log).toContainText("/note");
  await expect(log).toContainText("after the edit");
  await expect(log).toContainText("asked the bank");
  await expect(log).toContainText("admin (admin)");
  const lines = await (await admin.request.get(`${server.url}/audit.jsonl?run=${id}`)).text();
  expect(lines).toContain("ch_3Qk");
  expect(lines).toContain("asked the bank");
});

test("all notes of a run can be read on its page", async ({ admin, agent, server }) => {
  const id = await failedRun(agent);
  for (let n = 1; n <= 8; n++) await decide(admin, server, agent, id, { kind: "note", text: `note number ${n}`, if_version: undefined });
  await admin.goto(`${server.url}/runs/${id}`);
  await expectLive(admin);
  const notes = admin.getByRole("region", { name: "Notes and decisions" });
  await expect(notes).toContainText("note number 8");
  await notes.getByText(/^All 8/).click();
  for (let n = 1; n <= 8; n++) await expect(notes.getByText(`note number ${n}`).last()).toBeVisible();
});

test("a waiting gate is skipped from the run's page", async ({ admin, agent, server }) => {
  const id = await waitingRun(agent);
  await admin.goto(`${server.url}/runs/${id}`);
  await expectLive(admin);
  await admin.getByRole("link", { name: "Skip…" }).click();
  const dialog = admin.getByRole("dialog");
  await dialog.getByRole("textbox").first().fill("nobody asks any more");
  await dialog.getByRole("button", { name: "Skip step" }).click();
  await expect(dialog).toHaveCount(0);
  await expect(pill(admin)).toHaveText("Queued: waiting for a worker");
  await expect(card(admin)).toContainText("admin skipped");
});

test("what is offered is what the server would accept", async ({ admin, agent, server }) => {
  const items = async (id: string) => {
    await admin.goto(`${server.url}/runs/${id}`);
    await expectLive(admin);
    await admin.locator("details.more > summary").click();
    return (await admin.locator("details.more a").allTextContents()).map((it) => it.trim());
  };
  const running: Held = await runningRun(agent, "Weekly market brief", 3);
  const live = await items(running.id);
  expect(live).toContain("Pause…");
  expect(live).not.toContain("Rewind to before this step…");
  const crashed = await items(await crashedRun(agent));
  expect(crashed).toContain("Rewind to before this step…");
  expect(crashed).not.toContain("Pause…");
  const fresh = await items(await agent.create({ agent: "crm-sync", title: "Backfill CRM notes" }));
  expect(fresh).not.toContain("Rewind to before this step…");
});
