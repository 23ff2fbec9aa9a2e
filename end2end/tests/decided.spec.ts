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
  await expect(card(admin)).toContainText("as it was shown · 46 replayed, 1 executed");
  await expect(admin.locator(".inspector-head")).toContainText("decided: runs again with a new key");
  const queued = await agent.get<{ step: { idempotency_key: string } }>(`/runs/${id}/steps/47`);
  await admin.goto(`${server.url}/runs/${id}?step=47&tab=attempts`);
  await expectLive(admin);
  const expected = admin.getByRole("table", { name: /^Attempts/ }).getByRole("row", { name: /expected/ });
  await expect(expected).toContainText("next worker");
  await expect(expected).toContainText(queued.step.idempotency_key);
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
  await expect(expected).toHaveCount(0);
});

test("the run's own lines say what an edit changed and which result a resume was given", async ({ admin, agent, server }) => {
  const id = await payingRun(agent);
  const patch = [{ op: "replace", path: "/note", value: "after the edit" }];
  await decide(admin, server, agent, id, { kind: "edit", patch });
  const { run } = await agent.get<{ run: { snapshot: number } }>(`/runs/${id}`);
  await decide(admin, server, agent, id, { kind: "resume", choices: [{ kind: "commit", step: 6, result: { id: "ch_3Qk" } }] });
  await admin.goto(`${server.url}/runs/${id}`);
  await expectLive(admin);
  const notes = admin.getByRole("list", { name: "Notes" });
  const edited = notes.getByRole("listitem").filter({ hasText: "edited the state" });
  await expect(edited).toContainText("/note");
  await expect(edited).toContainText("after the edit");
  await expect(edited.getByRole("link", { name: "what it changed" })).toHaveAttribute("href", `/runs/${id}/diff?from=${run.snapshot - 1}&to=${run.snapshot}`);
  await expect(notes.getByRole("listitem").filter({ hasText: "resumed the run" })).toContainText('step 6: it happened, result {"id":"ch_3Qk"}');
});

test("a rewind hides nothing: what is not undone stands on the page and in the plan until it is acknowledged", async ({ admin, agent, server }) => {
  const id = await payingRun(agent);
  await rewound(admin, server.url, id);
  await expect(pill(admin)).toHaveText("Rewound to before step 2");
  await expect(notUndone(admin)).toContainText("2 collect_2");
  await expect(notUndone(admin)).toContainText(/happened/);
  await expect(notUndone(admin)).toContainText("6 pay");
  await expect(notUndone(admin)).toContainText("unknown");
  await expect(admin.locator(".timeline")).toContainText("1 committed, 5 superseded");
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
  await expect(plan(admin)).toContainText("2 effects that are not undone may happen again");
  await expect(plan(admin)).not.toContainText("nothing recorded is executed again");
  await admin.goto(`${server.url}/runs/${id}`);
  await expectLive(admin);
  await notUndone(admin).getByRole("link", { name: "Acknowledge…" }).click();
  await admin.getByRole("dialog").getByRole("textbox").fill("seen");
  await admin.getByRole("dialog").getByRole("button", { name: "Acknowledge" }).click();
  await expect(notUndone(admin)).toHaveCount(0);
});

test("a skip settles nothing outside: the attempt may still have happened", async ({ admin, agent, server }) => {
  const id = await payingRun(agent);
  const doubt = `ttempt 1 may have happened: charge €80.00 to cus_R77 (POST stripe /v1/charges), key ${id}:6`;
  await resume(admin, server.url, id, /^Skip it/, "the customer pays by bank");
  await admin.goto(`${server.url}/runs/${id}?step=6`);
  await expectLive(admin);
  await expect(card(admin)).toContainText("decided “skip it”");
  await expect(card(admin)).toContainText("pay is not executed again");
  await expect(card(admin)).toContainText(`A${doubt}`);
  await expect(admin.locator(".inspector-head")).toContainText("skipped; it may have happened");
  await admin.goto(`${server.url}/runs/${id}?ask=resume`);
  await expectLive(admin);
  await expect(plan(admin)).toContainText(`a${doubt}`);
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

test("notes beyond the first page are read on the run's page too", async ({ admin, agent, server }) => {
  const id = await failedRun(agent);
  for (let n = 1; n <= 55; n++) await decide(admin, server, agent, id, { kind: "note", text: `note number ${n}.`, if_version: undefined });
  await admin.goto(`${server.url}/runs/${id}`);
  await expectLive(admin);
  const notes = admin.getByRole("region", { name: "Notes and decisions" });
  await notes.getByText("All 50+ notes and decisions").click();
  await expect(notes.getByText("note number 1.")).toHaveCount(0);
  await notes.getByRole("button", { name: "Show older ones" }).click();
  await expect(notes.getByText("note number 1.")).toBeVisible();
  await expect(notes.getByText("All 55 notes and decisions")).toBeVisible();
  await expect(notes.getByRole("button", { name: "Show older ones" })).toHaveCount(0);
  // What is new comes above, and what was read further back stays.
  await decide(admin, server, agent, id, { kind: "note", text: "one more", if_version: undefined });
  await expect(notes.getByText("All 56 notes and decisions")).toBeVisible();
  for (let n = 1; n <= 55; n++) await expect(notes.getByText(`note number ${n}.`).last()).toBeVisible();
});

test("what was cut from a long value is vouched for by its hash, in the audit log", async ({ admin, agent, server }) => {
  const id = await payingRun(agent);
  const choices = [{ kind: "commit", step: 6, result: { text: "x".repeat(2_000) } }];
  await decide(admin, server, agent, id, { kind: "resume", choices });
  await admin.goto(`${server.url}/audit?run=${id}`);
  await expect(admin.getByRole("table", { name: "Audit log" })).toContainText(/x{100}… \(hash [0-9a-f]{12}…\)/);
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

test("a cancelled run asks nothing any more: its gate shows the question and no form", async ({ admin, agent, server }) => {
  const id = await waitingRun(agent);
  await decide(admin, server, agent, id, { kind: "cancel" });
  await admin.goto(`${server.url}/runs/${id}`);
  await expectLive(admin);
  await expect(pill(admin)).toContainText("Cancelled");
  await expect(admin.locator(".inspector .gate-title")).toBeVisible();
  await expect(admin.getByRole("region", { name: "Question" })).toHaveCount(0);
  await expect(admin.getByRole("button", { name: /^(Approve|Reject)/ })).toHaveCount(0);
});

test("at a step that was rewound past, neither rewind nor fork is offered", async ({ admin, agent, server }) => {
  const id = await payingRun(agent);
  await rewound(admin, server.url, id);
  await admin.goto(`${server.url}/runs/${id}?step=6`);
  await expectLive(admin);
  await admin.locator("details.more > summary").click();
  await expect(admin.getByRole("link", { name: "Add a note…" })).toBeVisible();
  await expect(admin.getByRole("link", { name: "Rewind to before this step…" })).toHaveCount(0);
  await expect(admin.getByRole("link", { name: "Fork…" })).toHaveCount(0);
  await admin.keyboard.press("Escape");
  for (const key of ["b", "y"]) await admin.keyboard.press(key);
  // A key that did nothing is known by one that does something after it.
  await admin.keyboard.press("?");
  await expect(admin.getByRole("dialog", { name: "Keyboard" })).toBeVisible();
  await expect(admin).not.toHaveURL(/ask=/);
  await admin.goto(`${server.url}/runs/${id}?step=1`);
  await expectLive(admin);
  await expect(admin.getByRole("link", { name: "Fork…" })).toBeVisible();
});

test("a run without steps is forked from its beginning", async ({ admin, agent, server }) => {
  const id = await agent.create({ agent: "crm-sync", title: "Backfill CRM notes", state: { note: "as given" } });
  await admin.goto(`${server.url}/runs/${id}`);
  await expectLive(admin);
  await admin.getByRole("link", { name: "Fork…" }).click();
  const sheet = admin.getByRole("form", { name: "Fork this run" });
  await sheet.getByLabel("Reason").fill("once more, beside it");
  await sheet.getByRole("button", { name: "Fork run" }).click();
  await expect(admin.getByText(/^Forked: /)).toBeVisible();
  await expect(admin).not.toHaveURL(new RegExp(id));
  await expect(pill(admin)).toContainText(/Not started|Queued/);
});

test("a fork's effects that are not undone stand in its plan and on its page until they are acknowledged", async ({ admin, agent, server }) => {
  const id = await payingRun(agent);
  const fork = `${id}-fork`;
  await decide(admin, server, agent, id, { kind: "fork", step: 2, again: [2, 6], new_run_id: fork });
  await decide(admin, server, agent, fork, { kind: "pause" });
  await admin.goto(`${server.url}/runs/${fork}?ask=resume`);
  await expectLive(admin);
  await expect(plan(admin)).toContainText("Not undone");
  await expect(plan(admin)).toContainText("charge €80.00 to cus_R77");
  await admin.keyboard.press("Escape");
  await expect(plan(admin)).toHaveCount(0);
  await notUndone(admin).getByRole("link", { name: "Acknowledge…" }).click();
  await expect(admin.getByRole("dialog")).toContainText("Not undone");
  await expect(admin.getByRole("dialog")).not.toContainText("Needs you");
  await admin.getByRole("dialog").getByRole("textbox").fill("seen");
  await admin.getByRole("dialog").getByRole("button", { name: "Acknowledge" }).click();
  await expect(notUndone(admin)).toHaveCount(0);
});

test("a run that waited and was rewound says so until a worker takes it", async ({ admin, agent, server }) => {
  const id = await waitingRun(agent);
  const { run } = await agent.get<{ run: { steps: number } }>(`/runs/${id}`);
  await decide(admin, server, agent, id, { kind: "rewind", step: run.steps });
  await admin.goto(`${server.url}/runs/${id}`);
  await expectLive(admin);
  await expect(pill(admin)).toHaveText(`Rewound to before step ${run.steps}: waiting for a worker`);
  const held = await agent.lease(id);
  await expect(pill(admin)).toContainText("Running");
  await agent.die(held);
  await expect(pill(admin)).toHaveText("Queued: waiting for a worker");
});

test("a late result is shown once, also of a step that was rewound past and of one that was decided about", async ({ admin, agent, server }) => {
  const id = await agent.create({ agent: "invoice-reconciler", title: "Reconcile late" });
  const run = await agent.lease(id);
  const effect = { target: "POST stripe /v1/charges", description: "charge €80.00 to cus_R77" };
  const begun = await agent.begin(run, { key: "charge", name: "charge_card", effect });
  await agent.die(run);
  await expect(agent.commit(run, begun, { result: { id: "ch_late" } })).rejects.toThrow("lease_lost");
  const late = admin.locator(".inspector").getByText("ch_late");
  const seen = async () => {
    await admin.goto(`${server.url}/runs/${id}?step=1`);
    await expectLive(admin);
    await expect(late).toHaveCount(1);
  };
  await seen();
  await decide(admin, server, agent, id, { kind: "retry", step: 1 });
  await seen();
  await expect(crash(admin)).toHaveCount(0);
  await decide(admin, server, agent, id, { kind: "rewind", step: 1, again: [1] });
  await seen();
  await expect(crash(admin)).toContainText("ch_late");
});

test("whoever cancels is told of each unknown effect", async ({ admin, agent, server }) => {
  const run = await agent.lease(await agent.create({ agent: "collector", title: "Two at once" }));
  const pay = { target: "POST stripe /v1/charges", description: "charge €80.00 to cus_R77" };
  const mail = { target: "smtp", description: "mail the receipt to ana" };
  await agent.begin(run, { name: "pay", effect: pay });
  await agent.begin(run, { name: "mail", effect: mail });
  await agent.die(run);
  await admin.goto(`${server.url}/runs/${run.id}?ask=cancel`);
  await expectLive(admin);
  const dialog = admin.getByRole("dialog");
  await expect(dialog).toContainText("2 effects are unknown");
  const effects = dialog.getByRole("list", { name: "Unknown effects" }).getByRole("listitem");
  await expect(effects).toHaveText([/1 pay · charge €80\.00 to cus_R77/, /2 mail · mail the receipt to ana/]);

  await admin.goto(server.url);
  await expectLive(admin);
  await admin.getByRole("checkbox", { name: "Select Two at once" }).first().check();
  await admin.getByRole("region", { name: "Selected runs" }).getByRole("button", { name: "Cancel…" }).click();
  await expect(admin.getByRole("dialog")).toContainText("1 has an unknown effect: it may have happened.");
  await expect(effects).toHaveText([/1 pay · charge €80\.00 to cus_R77 · POST stripe \/v1\/charges · key /, /2 mail · mail the receipt to ana · smtp · key /]);
  await expect(dialog.getByRole("button", { name: "Cancel 1 run" })).toHaveClass(/danger/);
});
