// From the crash to "running again": the plan says what will happen, and that happens.
import type { Page } from "@playwright/test";

import { CHARGE, expectNothingAgain, killedAgent, statusOf, type Crash } from "../support/crash.ts";
import { writeJson } from "../support/editor.ts";
import { holdPlan, plan } from "../support/plan.ts";
import { crashedRun, failedRun } from "../support/sample.ts";
import { expect, expectAccessible, expectLive, test } from "../support/test.ts";
import type { Agent } from "../support/agent.ts";
import type { Server } from "../support/server.ts";

async function openPlan(page: Page, server: Server, id: string): Promise<void> {
  await page.goto(`${server.url}/runs/${id}`);
  await expectLive(page);
  await page.getByRole("link", { name: "Review & resume" }).click();
  await expect(plan(page)).toBeVisible();
}

/** Resumes, lets a worker go on, and waits until the run is done. */
async function resumed(page: Page, agent: Agent, crash: Crash): Promise<void> {
  const worker = crash.goOn();
  await plan(page).getByLabel("Reason").fill("looked at Stripe");
  await plan(page).getByRole("button", { name: "Resume run" }).click();
  await expect.poll(() => statusOf(agent, crash.id), { timeout: 30_000 }).toBe("done");
  worker.kill("SIGKILL");
  await worker.ended;
}

/** How often each distinct key reached the card provider. */
async function charges(crash: Crash): Promise<string[]> {
  const effects = await crash.effects();
  return effects.filter((key) => key.startsWith(crash.id) && key.includes(":47"));
}

test.describe.configure({ timeout: 120_000 });

test("with the mouse, from the list to running again in four clicks and a reason", async ({ admin, agent, server }) => {
  const crash = await killedAgent(server, agent);
  await admin.goto(server.url);
  await expectLive(admin);
  const worker = crash.goOn();
  await admin.getByRole("link", { name: "Reconcile October invoices" }).first().click();
  await admin.getByRole("link", { name: "Review & resume" }).click();
  await expect(plan(admin)).toContainText("46 replayed");
  await expect(plan(admin)).toContainText("charge €1,249.00 to cus_R91");
  await expect(plan(admin).getByRole("radio", { checked: true })).toHaveCount(0);
  await expect(plan(admin).getByText("1 decision and a reason are missing")).toBeVisible();
  await expect(plan(admin).getByRole("button", { name: "Resume run" })).toBeDisabled();
  await plan(admin).getByRole("radio", { name: /^Retry with the same key/ }).click();
  await plan(admin).getByLabel("Reason").fill("Stripe deduplicates");
  await plan(admin).getByRole("button", { name: "Resume run" }).click();
  await expect(admin.locator(".run-head .pill")).toHaveText(/^(Running|Done)/, { timeout: 30_000 });
  await expect.poll(() => statusOf(agent, crash.id), { timeout: 30_000 }).toBe("done");
  const executed = await crash.executed();
  await expectNothingAgain(crash);
  expect(executed.filter((key) => key === CHARGE)).toHaveLength(2);
  expect(executed[crash.before.length], "it goes on where it stopped").toBe(CHARGE);
  expect(new Set(await charges(crash)).size, "the provider saw one key").toBe(1);
  worker.kill("SIGKILL");
  await worker.ended;
});

test("with the keyboard alone", async ({ admin, agent, server }) => {
  const crash = await killedAgent(server, agent);
  await admin.goto(server.url);
  await expectLive(admin);
  const worker = crash.goOn();
  await admin.keyboard.press("j");
  await expect(admin.getByRole("link", { name: "Reconcile October invoices" }).first()).toBeFocused();
  await admin.keyboard.press("Enter");
  await expect(admin.getByRole("region", { name: "Crash" })).toBeVisible();
  await admin.keyboard.press("r");
  await expect(plan(admin)).toBeVisible();
  const focused = (name: string) => admin.evaluate((name) => (document.activeElement as HTMLInputElement).name?.startsWith(name) ?? false, name);
  for (let n = 0; n < 20 && !(await focused("way.")); n++) await admin.keyboard.press("Tab");
  await admin.keyboard.press("Space");
  await admin.keyboard.press("ArrowDown");
  await admin.keyboard.press("ArrowDown");
  await expect(plan(admin).getByRole("radio", { name: /^Retry with the same key/ })).toBeChecked();
  for (let n = 0; n < 20 && !(await focused("reason")); n++) await admin.keyboard.press("Tab");
  await admin.keyboard.type("Stripe deduplicates");
  await admin.keyboard.press("Control+Enter");
  await expect(admin.locator(".run-head .pill")).toHaveText(/^(Running|Done)/, { timeout: 30_000 });
  await expect.poll(() => statusOf(agent, crash.id), { timeout: 30_000 }).toBe("done");
  await expectNothingAgain(crash);
  worker.kill("SIGKILL");
  await worker.ended;
});

test("it happened: the result that was entered counts, and nothing is charged again", async ({ admin, agent, server }) => {
  const crash = await killedAgent(server, agent);
  await openPlan(admin, server, crash.id);
  await plan(admin).getByRole("radio", { name: /^I checked: it happened/ }).click();
  await plan(admin).getByLabel(/^Result \(JSON\)/).fill('{"id": "ch_3QkR91xT", "amount": 124900, "status": "succeeded"}');
  await resumed(admin, agent, crash);
  const executed = await crash.executed();
  await expectNothingAgain(crash);
  expect(executed.filter((key) => key === CHARGE)).toHaveLength(1);
  expect(await charges(crash)).toHaveLength(1);
  const { run } = await agent.get<{ run: { result: { charged: number } } }>(`/runs/${crash.id}`);
  expect(run.result.charged).toBe(124900);
});

test("skipped: it is not executed, and later steps go on", async ({ admin, agent, server }) => {
  const crash = await killedAgent(server, agent);
  await admin.goto(`${server.url}/runs/${crash.id}`);
  await expectLive(admin);
  await admin.getByRole("link", { name: "Skip…" }).click();
  await expect(plan(admin).getByRole("radio", { name: /^Skip it/ })).toBeChecked();
  await resumed(admin, agent, crash);
  expect(await charges(crash)).toHaveLength(1);
  expect((await crash.executed()).filter((key) => key === CHARGE)).toHaveLength(1);
});

test("edited, then retried: the agent goes on with the edited state", async ({ admin, agent, server }) => {
  const crash = await killedAgent(server, agent);
  await openPlan(admin, server, crash.id);
  await plan(admin).getByRole("link", { name: "Edit the state first…" }).click();
  await admin.goto(`${server.url}/runs/${crash.id}/edit?path=/note`);
  await expectLive(admin);
  await writeJson(admin, "Value at /note as JSON", '"edited by hand"');
  await expect(admin.locator(".changes")).toContainText("edited");
  await admin.getByLabel("Reason").fill("wrong note");
  await admin.getByRole("button", { name: "Save state" }).click();
  await expect(admin).toHaveURL(new RegExp(`/runs/${crash.id}$`));
  await admin.getByRole("link", { name: "Retry…" }).click();
  await expect(plan(admin).getByRole("radio", { name: /^Retry with the same key/ })).toBeChecked();
  await resumed(admin, agent, crash);
  expect(new Set(await charges(crash)).size).toBe(1);
  const { run } = await agent.get<{ run: { snapshot: number } }>(`/runs/${crash.id}`);
  const { state } = await agent.get<{ state: { note: string } }>(`/runs/${crash.id}/snapshots/${run.snapshot}`);
  expect(state.note).toBe("edited by hand");
});

test("one value changed in the plan: one order retries the step and changes the state", async ({ admin, agent, server, consoleErrors }) => {
  const crash = await killedAgent(server, agent);
  await openPlan(admin, server, crash.id);
  const resume = plan(admin).getByRole("button", { name: /^Resume run/ });
  await plan(admin).getByRole("radio", { name: /^Retry with the same key/ }).check();
  await plan(admin).getByLabel("Reason").fill("wrong note");
  await plan(admin).getByText("Change one value of the state").click();
  const path = plan(admin).getByLabel("Path");
  await expect(path).toBeFocused();
  await path.fill("/nowhere");
  await path.press("Tab");
  await expect(plan(admin)).toContainText("The current state has no value at /nowhere.");
  consoleErrors.length = 0; // Chromium reports the 404
  await expect(resume, "a path without a value is not sent").toBeDisabled();
  await path.fill("/note");
  await path.press("Tab");
  await expect(plan(admin).getByText(/^Now: /)).toBeVisible();
  const value = plan(admin).getByLabel("New value (JSON)");
  await value.fill("by hand");
  await expect(plan(admin)).toContainText("the new value of /note is not valid JSON");
  await value.fill('"edited in the plan"');
  await resumed(admin, agent, crash);
  expect(new Set(await charges(crash)).size).toBe(1);
  const { run } = await agent.get<{ run: { snapshot: number } }>(`/runs/${crash.id}`);
  const { state } = await agent.get<{ state: { note: string } }>(`/runs/${crash.id}/snapshots/${run.snapshot}`);
  expect(state.note).toBe("edited in the plan");
});

test("what a plan will change of the state is said while its fields are folded away, and can be cleared", async ({ admin, agent, server }) => {
  const id = await crashedRun(agent);
  await openPlan(admin, server, id);
  await plan(admin).getByRole("radio", { name: /^Retry with the same key/ }).check();
  await plan(admin).getByLabel("Reason").fill("looked at Stripe");
  const part = plan(admin).getByText("Change one value of the state");
  await part.click();
  await plan(admin).getByLabel("Path").fill("/note");
  await plan(admin).getByLabel("Path").press("Tab");
  await expect(plan(admin).getByText(/^Now: /)).toBeVisible();
  await expect(part, "the value that stands there is no change").toContainText("/note is unchanged, nothing is sent");
  await expect(plan(admin)).not.toContainText("also changes the state");
  await plan(admin).getByLabel("New value (JSON)").fill('"hello"');
  await part.click();
  await expect(plan(admin).getByLabel("Path")).toBeHidden();
  await expect(part).toContainText('/note → "hello"');
  await expect(plan(admin)).toContainText("1 value of the state is changed");
  await expect(plan(admin)).toContainText('Resuming also changes the state: /note → "hello"');
  await expectAccessible(admin);
  await plan(admin).getByRole("button", { name: "Clear the change of the state" }).click();
  await expect(part).toHaveText("Change one value of the state");
  await expect(part, "the focus is not lost").toBeFocused();
  await expect(plan(admin)).not.toContainText("also changes the state");
  const { run: before } = await agent.get<{ run: { snapshot: number } }>(`/runs/${id}`);
  await plan(admin).getByRole("button", { name: "Resume run" }).click();
  await expect(plan(admin)).toHaveCount(0);
  const { run } = await agent.get<{ run: { snapshot: number } }>(`/runs/${id}`);
  expect(run.snapshot, "what was cleared is not sent").toBe(before.snapshot);
});

test("a path whose value was left as it is changes nothing", async ({ admin, agent, server }) => {
  const id = await crashedRun(agent);
  const { run: before } = await agent.get<{ run: { snapshot: number } }>(`/runs/${id}`);
  await openPlan(admin, server, id);
  await plan(admin).getByRole("radio", { name: /^Retry with the same key/ }).check();
  await plan(admin).getByText("Change one value of the state").click();
  await plan(admin).getByLabel("Path").fill("/note");
  await plan(admin).getByLabel("Path").press("Tab");
  await expect(plan(admin).getByText(/^Now: /)).toBeVisible();
  await plan(admin).getByLabel("Reason").fill("looked at Stripe");
  await plan(admin).getByRole("button", { name: "Resume run" }).click();
  await expect(plan(admin)).toHaveCount(0);
  const { run } = await agent.get<{ run: { snapshot: number } }>(`/runs/${id}`);
  expect(run.snapshot, "no edit is recorded").toBe(before.snapshot);
});

test("the field of a result stands under the choice that takes it, only while that is chosen", async ({ admin, agent, server }) => {
  const id = await crashedRun(agent);
  await openPlan(admin, server, id);
  const result = plan(admin).getByLabel(/^Result \(JSON\)/);
  const radio = (name: RegExp) => plan(admin).getByRole("radio", { name });
  await expect(result).toHaveCount(0);
  for (const [way, next] of [
    [/^I checked: it happened/, /^I checked: it did not happen/],
    [/^Skip it/, undefined],
  ] as const) {
    await radio(way).check();
    await expect(result, "the mouse that chose leads into it").toBeFocused();
    const [above, field] = [(await radio(way).boundingBox())!, (await result.boundingBox())!];
    expect(field.y, "below its choice").toBeGreaterThan(above.y);
    if (next) expect((await radio(next).boundingBox())!.y, "above the next one").toBeGreaterThan(field.y);
    await radio(way).focus();
    await admin.keyboard.press("Tab");
    await expect(result, "Tab goes on to it").toBeFocused();
  }
  await radio(/^Retry with the same key/).check();
  await expect(result).toHaveCount(0);
});

test("rewound: each effect left behind is named, and only what was accepted happens again", async ({ admin, agent, server }) => {
  const crash = await killedAgent(server, agent);
  await admin.goto(`${server.url}/runs/${crash.id}?step=46&ask=rewind`);
  await expectLive(admin);
  const sheet = admin.getByRole("form", { name: "Rewind to before step 46" });
  await expect(sheet).toContainText("charge €1,249.00 to cus_R91");
  await expect(sheet).not.toContainText("refund €50.00");
  await expect(sheet.getByRole("button", { name: "Rewind run" })).toBeDisabled();
  await sheet.getByRole("checkbox", { name: /charge_card/ }).check();
  await sheet.getByLabel("Reason").fill("compose it again");
  await sheet.getByRole("button", { name: "Rewind run" }).click();
  await expect(sheet).toHaveCount(0);
  const worker = crash.goOn();
  const review = admin.getByRole("link", { name: "Review & resume" });
  if (["crashed", "paused"].includes(await statusOf(agent, crash.id))) {
    await review.click();
    await expect(plan(admin)).toContainText("45 replayed");
    await plan(admin).getByLabel("Reason").fill("go on");
    await plan(admin).getByRole("button", { name: "Resume run" }).click();
  }
  await expect.poll(() => statusOf(agent, crash.id), { timeout: 30_000 }).toBe("done");
  const executed = await crash.executed();
  await expectNothingAgain(crash, [CHARGE, "compose:INV-2214"]);
  expect(executed.filter((key) => key === CHARGE)).toHaveLength(2);
  const effects = await crash.effects();
  expect(new Set(effects).size, "refund, charge, the accepted charge, receipt").toBe(4);
  await admin.reload();
  await expect(admin.locator(".is-superseded").first()).toBeAttached();
  worker.kill("SIGKILL");
  await worker.ended;
});

test("forked: the origin stays, parent and child are linked and compared", async ({ admin, agent, server }) => {
  const crash = await killedAgent(server, agent);
  await admin.goto(`${server.url}/runs/${crash.id}?step=47`);
  await expectLive(admin);
  await admin.getByRole("link", { name: "Fork…" }).click();
  const sheet = admin.getByRole("form", { name: "Fork from before step 47" });
  await expect(sheet).toContainText(/needs no further decision: it is queued at once, and any worker of [\w-]+ may take it from step 47 on/);
  await sheet.getByRole("checkbox", { name: /charge_card/ }).check();
  await sheet.getByLabel("Reason").fill("try it elsewhere");
  const worker = crash.goOn();
  await sheet.getByRole("button", { name: "Fork run" }).click();
  await expect(admin).not.toHaveURL(new RegExp(crash.id));
  const fork = new URL(admin.url()).pathname.split("/")[2]!;
  await expect(admin.getByRole("region", { name: "Compared with its origin" })).toContainText("origin");
  await expect.poll(() => statusOf(agent, fork), { timeout: 30_000 }).toBe("done");
  expect(await statusOf(agent, crash.id)).toBe("crashed");
  await expectNothingAgain(crash);
  expect(new Set(await crash.effects()).size, "refund, charge, the fork's charge, receipt").toBe(4);
  await admin.goto(`${server.url}/runs/${crash.id}`);
  await expect(admin.getByRole("list", { name: "Notes" }).getByRole("link")).toHaveAttribute("href", `/runs/${fork}`);
  worker.kill("SIGKILL");
  await worker.ended;
});

test("the second of two is told who decided, and sees what is true now", async ({ admin, agent, server, consoleErrors }) => {
  const id = await crashedRun(agent);
  await admin.goto(`${server.url}/runs/${id}/resume`);
  await expectLive(admin);
  const other = await admin.context().newPage();
  await other.goto(`${server.url}/runs/${id}/resume`);
  await expectLive(other);
  const letGo = await holdPlan(admin);
  await other.getByRole("radio", { name: /^Skip it/ }).click();
  await other.getByLabel("Reason").fill("first");
  await other.getByRole("button", { name: "Resume run" }).click();
  await expect(other.locator(".run-head .pill")).toHaveText(/^Queued/);
  await plan(admin).getByRole("radio", { name: /^Retry with the same key/ }).click();
  await plan(admin).getByLabel("Reason").fill("second");
  await plan(admin).getByRole("button", { name: "Resume run" }).click();
  await expect(admin.getByRole("alert")).toContainText("Already decided: admin resumed the run");
  letGo();
  await expect(admin.getByText("It cannot be resumed now")).toBeVisible();
  consoleErrors.length = 0; // Chromium reports a refusal as an error
});

test("without WASM the plan is a form", async ({ admin, agent, server, browser }) => {
  const id = await crashedRun(agent);
  const storageState = await admin.context().storageState();
  const context = await browser.newContext({ javaScriptEnabled: false, storageState });
  const plain = await context.newPage();
  await plain.goto(`${server.url}/runs/${id}/resume`);
  await plain.getByRole("radio", { name: /^I checked: it happened/ }).check();
  // Each way that takes a result has its own field here; the first is that of "it happened".
  await plain.getByLabel(/^Result \(JSON\)/).first().fill('{"id": "ch_1"}');
  await plain.getByRole("button", { name: "Resume run" }).click();
  await expect(plain.getByText("a reason is missing")).toBeVisible();
  await plain.goBack();
  await plain.getByRole("radio", { name: /^I checked: it happened/ }).check();
  await plain.getByLabel("Reason").fill("by hand");
  await plain.getByRole("button", { name: "Resume run" }).click();
  await expect(plain.getByText("Queued: waiting for a worker")).toBeVisible();
  await context.close();
});

test("a viewer reads the plan and decides nothing", async ({ agent, server, browser, admin }) => {
  const id = await crashedRun(agent);
  await admin.goto(`${server.url}/settings`);
  await admin.getByLabel("Name of the person").fill("vera");
  await admin.getByRole("combobox").first().selectOption("viewer");
  await admin.getByRole("button", { name: "Add person" }).click();
  const link = await admin.getByRole("textbox", { name: /link/i }).inputValue();
  const page = await browser.newPage();
  await page.goto(link);
  await page.getByRole("button", { name: /^Sign in as / }).click();
  await page.goto(`${server.url}/runs/${id}`);
  await expect(page.getByRole("link", { name: "Review & resume" })).toHaveCount(0);
  await page.goto(`${server.url}/runs/${id}/resume`);
  await expect(page.getByText("View only. Ask an operator to decide.")).toBeVisible();
  await expect(page.getByRole("button", { name: "Resume run" })).toHaveCount(0);
  await page.close();
});

test("notes, claims and acknowledgements are seen by all", async ({ admin, agent, server }) => {
  const id = await failedRun(agent);
  await admin.goto(`${server.url}/runs/${id}`);
  await expectLive(admin);
  const decides = async (item: string, text: string, verb: string) => {
    await admin.locator("details.more > summary").click();
    await admin.getByRole("link", { name: item }).click();
    const dialog = admin.getByRole("dialog");
    if (text) await dialog.getByRole("textbox").fill(text);
    await dialog.getByRole("button", { name: verb }).click();
    await expect(dialog).toHaveCount(0);
  };
  await decides("Add a note…", "asked the database team", "Add note");
  await expect(admin.getByRole("list", { name: "Notes" })).toContainText("asked the database team");
  await decides("I'm on it…", "", "I'm on it");
  await expect(admin.getByRole("list", { name: "Notes" })).toContainText("admin is on it");
  const needs = admin.getByRole("link", { name: /^Needs you/ });
  await expect(needs).toHaveAccessibleName("Needs you 1");
  await decides("Acknowledge…", "known", "Acknowledge");
  await expect(needs, "without a reload").toHaveAccessibleName("Needs you");
  await expect(admin).toHaveTitle(/^Migrate tenant acme-eu/);
  await admin.goto(server.url);
  await expect(admin.getByRole("region", { name: /^Needs you/ })).not.toContainText("Migrate tenant acme-eu");
});

test("the plan is accessible in both themes, as a page and above the run, wide and narrow", async ({ admin, agent, server }) => {
  test.slow();
  const id = await crashedRun(agent);
  for (const colorScheme of ["light", "dark"] as const) {
    for (const width of [1440, 390]) {
      await admin.emulateMedia({ colorScheme });
      await admin.setViewportSize({ width, height: 844 });
      for (const path of [`/runs/${id}/resume`, `/runs/${id}?ask=resume`, `/runs/${id}?step=47&ask=fork`, `/runs/${id}?ask=cancel`]) {
        await admin.goto(server.url + path);
        await expectLive(admin);
        await expect(admin.getByText(/^Loading/)).toHaveCount(0);
        await expectAccessible(admin, colorScheme);
        const over = await admin.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        expect(over, `no sideways scrolling at ${width} px on ${path}`).toBeLessThanOrEqual(0);
      }
    }
  }
  await admin.goto(`${server.url}/runs/${id}/resume`);
  await expect(admin.getByRole("button", { name: "Resume run" })).toBeInViewport();
});
