// The keyboard: every key does what the help says, on every page, and the focus is never lost.
import type { Page } from "@playwright/test";

import type { Agent } from "../support/agent.ts";
import { statusOf } from "../support/crash.ts";
import { writeJson } from "../support/editor.ts";
import { crashedRun, doneRun, failedRun, runningRun, runOf, waitingRun } from "../support/sample.ts";
import { seen } from "../support/seen.ts";
import { expect, expectAccessible, expectLive, onWorkingDay, test } from "../support/test.ts";

/** A run that waits for one of these answers. */
async function choiceOf(agent: Agent, choices: string[]): Promise<string> {
  const id = await agent.create({ agent: "support-triage", title: "Pick a tone" });
  const run = await agent.lease(id);
  await agent.begin(run, { key: "ask", name: "ask_person", kind: "gate", gate: { title: "Which tone?", choices } });
  await agent.die(run);
  return id;
}

const selected = (page: Page) => page.locator(".step-row[aria-selected]");
const heading = (page: Page, seq: number) => page.getByRole("heading", { name: new RegExp(`^${seq} · `) });

/** The selected step is this one, and the list shows all of it. */
async function expectSelectedInView(page: Page, seq: number): Promise<void> {
  await expect(selected(page)).toContainText(new RegExp(`^${seq}`));
  await expect.poll(async () => (await seen(page)).selectedInView).toBe(true);
}

const hasFocus = (page: Page) => page.evaluate(() => document.activeElement !== null && document.activeElement !== document.body);

test("j and k select the next and the previous step and keep it in view", async ({ admin, agent, server }) => {
  const id = await crashedRun(agent);
  await admin.goto(`${server.url}/runs/${id}`);
  await expectLive(admin);
  await expectSelectedInView(admin, 47);
  await admin.keyboard.press("k");
  await expect(heading(admin, 46)).toBeVisible();
  await expectSelectedInView(admin, 46);
  await admin.keyboard.press("j");
  await expect(heading(admin, 47)).toBeVisible();
  await admin.keyboard.press("j");
  await expect(heading(admin, 47), "there is no step after the last one").toBeVisible();
});

test("sixty steps on are sixty steps on, however fast", async ({ admin, agent, server }) => {
  const run = await runningRun(agent, "Index legal archive", 300);
  await admin.goto(`${server.url}/runs/${run.id}?step=100`);
  await expectLive(admin);
  for (let n = 0; n < 60; n++) await admin.keyboard.press("j");
  await expect(heading(admin, 160)).toBeVisible();
  await expectSelectedInView(admin, 160);
  for (let n = 0; n < 80; n++) await admin.keyboard.press("k");
  await expect(heading(admin, 80)).toBeVisible();
  await expectSelectedInView(admin, 80);
});

test("among steps that were found, j and k go from one to the next", async ({ admin, agent, server }) => {
  const id = await crashedRun(agent);
  await admin.goto(`${server.url}/runs/${id}?step=4&find=kind%3Allm`);
  await expectLive(admin);
  await admin.keyboard.press("j");
  await expect(heading(admin, 8)).toBeVisible();
  await admin.keyboard.press("k");
  await expect(heading(admin, 4)).toBeVisible();
});

test("only text fields swallow keys", async ({ admin, agent, server }) => {
  await choiceOf(agent, ["Formal", "Friendly"]);
  await admin.goto(`${server.url}/inbox`);
  await expectLive(admin);
  const question = admin.getByRole("article", { name: "Which tone?" });
  await admin.keyboard.press("2");
  await expect(question.getByRole("radio", { name: "Friendly" })).toBeChecked();
  await admin.keyboard.press("?");
  await expect(admin.getByRole("dialog", { name: "Keyboard" })).toBeVisible();
  await admin.keyboard.press("Escape");
  await admin.keyboard.press("/");
  await admin.keyboard.type("1 tone");
  await expect(admin.getByRole("searchbox", { name: "Search runs" })).toHaveValue("1 tone");
  await expect(question.getByRole("radio", { name: "Friendly" }), "what is typed chooses nothing").toBeChecked();
  await admin.keyboard.press("Escape");
  await admin.keyboard.press("g");
  await admin.keyboard.press("r");
  await expect(admin).toHaveURL(`${server.url}/`);
  await doneRun(agent, "Picked by its box");
  await admin.reload();
  await expectLive(admin);
  await admin.getByRole("checkbox", { name: "Select Picked by its box" }).check();
  await admin.keyboard.press("j");
  await expect(admin.locator("[data-row]").first()).toBeFocused();
});

test("a page's letters after g lead to the page and do nothing else", async ({ admin, agent, server }) => {
  const id = await crashedRun(agent);
  await admin.goto(`${server.url}/runs/${id}`);
  await expectLive(admin);
  for (const [key, path] of [["s", "/settings"], ["r", "/"]] as const) {
    await admin.goto(`${server.url}/runs/${id}`);
    await expectLive(admin);
    const asked: string[] = [];
    admin.on("framenavigated", (frame) => asked.push(frame.url()));
    await admin.keyboard.press("g");
    await admin.keyboard.press(key);
    await expect(admin).toHaveURL(server.url + path);
    expect(asked.filter((url) => url.includes("ask=")), "no dialog on the way").toEqual([]);
  }
});

test("Enter in a reason sends nothing; Ctrl+Enter does", async ({ admin, agent, server }) => {
  const id = await waitingRun(agent);
  await admin.goto(`${server.url}/inbox`);
  await expectLive(admin);
  const question = admin.getByRole("article");
  await question.getByLabel("Reason").fill("neighbour confirmed");
  await admin.keyboard.press("Enter");
  await admin.keyboard.press("End");
  await expect(question.getByLabel("Reason")).toHaveValue("neighbour confirmed");
  expect(await statusOf(agent, id)).toBe("waiting");
  await admin.keyboard.press("Control+Enter");
  await expect(question.getByRole("status")).toContainText(/^You approved/);
  expect(await statusOf(agent, id)).toBe("ready");
});

test("the same holds in the plan, in a rewind and in every other dialog", async ({ admin, agent, server }) => {
  const failed = await failedRun(agent);
  await admin.goto(`${server.url}/runs/${failed}?ask=resume`);
  await expectLive(admin);
  const plan = admin.getByRole("dialog");
  await plan.getByRole("radio", { name: /^Run it again/ }).check();
  await plan.getByLabel("Reason").fill("more room on db-eu-2");
  await admin.keyboard.press("Enter");
  await expect(plan).toBeVisible();
  expect(await statusOf(agent, failed)).toBe("failed");
  await plan.getByRole("link", { name: "Back" }).click();

  await admin.goto(`${server.url}/runs/${failed}?step=5&ask=rewind`);
  await expectLive(admin);
  await admin.getByRole("dialog").getByLabel("Reason").fill("from the fifth table on");
  await admin.keyboard.press("Enter");
  await expect(admin.getByRole("dialog")).toBeVisible();
  expect(await statusOf(agent, failed)).toBe("failed");
  await admin.keyboard.press("Control+Enter");
  await expect(admin.getByRole("dialog")).toHaveCount(0);
  const fifth = await agent.get<{ step: { status: string } }>(`/runs/${failed}/steps/5`);
  expect(fifth.step.status).toBe("superseded");
  await expect.poll(() => hasFocus(admin), "after a rewind").toBe(true);

  const crashed = await crashedRun(agent);
  await admin.goto(`${server.url}/runs/${crashed}?ask=cancel`);
  await expectLive(admin);
  await admin.getByRole("dialog").getByLabel("Reason").fill("no longer needed");
  await admin.keyboard.press("Control+Enter");
  await expect(admin.getByRole("dialog")).toHaveCount(0);
  expect(await statusOf(agent, crashed)).toBe("cancelled");
  await expect.poll(() => hasFocus(admin), "after a cancel").toBe(true);
});

test("the same holds on the edit page", async ({ admin, agent, server }) => {
  const id = await crashedRun(agent);
  const snapshot = async () => (await agent.get<{ run: { snapshot: number } }>(`/runs/${id}`)).run.snapshot;
  const before = await snapshot();
  await admin.goto(`${server.url}/runs/${id}/edit`);
  await expectLive(admin);
  await writeJson(admin, "State as JSON", '{ "note": "by hand" }');
  await admin.getByLabel("Reason").fill("counted again");
  await expect(admin.getByRole("button", { name: "Save state" })).toBeEnabled();
  await admin.keyboard.press("Enter");
  await admin.keyboard.press("End");
  await expect(admin.getByLabel("Reason")).toHaveValue("counted again");
  await expect(admin).toHaveURL(/\/edit$/);
  expect(await snapshot(), "Enter saves nothing").toBe(before);
  await admin.keyboard.press("Control+Enter");
  await expect(admin).toHaveURL(`${server.url}/runs/${id}`);
  expect(await snapshot()).toBe(before + 1);
  await expect.poll(() => hasFocus(admin), "after an edit").toBe(true);
});

test("digits choose in the plan, and the focus is somewhere after the decision", async ({ admin, agent, server }) => {
  const id = await crashedRun(agent);
  await admin.goto(`${server.url}/runs/${id}`);
  await expectLive(admin);
  await admin.keyboard.press("r");
  const plan = admin.getByRole("dialog");
  // The dialog is there before the plan in it has come.
  await expect(plan.getByRole("radio", { name: /^Skip it/ })).toBeVisible();
  await admin.keyboard.press("2");
  await expect(plan.getByRole("radio", { name: /it did not happen/ })).toBeChecked();
  await admin.keyboard.press("4");
  await expect(plan.getByRole("radio", { name: /^Skip it/ })).toBeChecked();
  expect(await statusOf(agent, id), "a digit only chooses").toBe("crashed");
  await plan.getByLabel("Reason").fill("the customer paid by hand");
  await admin.keyboard.press("Control+Enter");
  await expect(plan).toHaveCount(0);
  expect(await statusOf(agent, id)).toBe("ready");
  await expect.poll(() => hasFocus(admin)).toBe(true);
});

test("an answer on the run's page and in the inbox leaves the focus where it was given", async ({ admin, agent, server }) => {
  const id = await choiceOf(agent, ["Formal", "Friendly"]);
  await admin.goto(`${server.url}/runs/${id}`);
  await expectLive(admin);
  await admin.keyboard.press("1");
  await expect(admin.getByRole("radio", { name: "Formal" })).toBeChecked();
  await admin.getByRole("region", { name: "Question" }).getByLabel("Reason").fill("house style");
  await admin.keyboard.press("Control+Enter");
  await expect(admin.getByRole("region", { name: "Question" })).toHaveCount(0);
  await expect.poll(() => hasFocus(admin)).toBe(true);

  await waitingRun(agent);
  await choiceOf(agent, ["Formal", "Friendly"]);
  await admin.goto(`${server.url}/inbox`);
  await expectLive(admin);
  const second = admin.getByRole("article", { name: "Which tone?" });
  await second.getByRole("radio", { name: "Friendly" }).check();
  await second.getByLabel("Reason").fill("house style");
  await admin.keyboard.press("Control+Enter");
  await expect(second.getByRole("status")).toContainText(/^You answered/);
  await expect.poll(() => second.evaluate((it) => it.contains(document.activeElement))).toBe(true);
});

test("closing a dialog gives the focus back to what opened it", async ({ admin, agent, server }) => {
  const id = await crashedRun(agent);
  await admin.goto(`${server.url}/runs/${id}`);
  await expectLive(admin);
  const fork = admin.getByRole("link", { name: /^Fork…/ }).first();
  await fork.focus();
  await admin.keyboard.press("Enter");
  await expect(admin.getByRole("dialog")).toBeVisible();
  await admin.keyboard.press("Escape");
  await expect(admin.getByRole("dialog")).toHaveCount(0);
  await expect(fork).toBeFocused();
});

test("rewind, fork and More have keys", async ({ admin, agent, server }) => {
  const id = await crashedRun(agent);
  await admin.goto(`${server.url}/runs/${id}?step=40`);
  await expectLive(admin);
  await admin.keyboard.press("b");
  await expect(admin.getByRole("dialog", { name: "Rewind to before step 40" })).toBeVisible();
  await admin.keyboard.press("Escape");
  await expect(admin.getByRole("dialog")).toHaveCount(0);
  await admin.keyboard.press("y");
  await expect(admin.getByRole("dialog", { name: "Fork from before step 40" })).toBeVisible();
  await admin.keyboard.press("Escape");
  await expect(admin.getByRole("dialog")).toHaveCount(0);
  await admin.keyboard.press("m");
  await expect(admin.getByRole("link", { name: "Add a note…" })).toBeVisible();
  await admin.keyboard.press("Enter");
  await expect(admin.getByRole("dialog")).toBeVisible();
});

onWorkingDay("the palette finds pages, runs and actions", async ({ admin, agent, server }) => {
  const crashed = await runOf(agent, "Reconcile October invoices");
  await expectLive(admin);
  await admin.getByRole("searchbox", { name: "Search runs" }).focus();
  await admin.keyboard.press("Control+k");
  const palette = admin.getByRole("dialog", { name: "Command palette" });
  await expect(palette).toBeVisible();
  await expect(palette.getByRole("option", { name: "Inbox" })).toBeVisible();
  await expectAccessible(admin);
  await admin.keyboard.type("work");
  await expect(palette.getByRole("option").first()).toContainText("Workers");
  await admin.keyboard.press("Enter");
  await expect(admin).toHaveURL(`${server.url}/workers`);

  await admin.keyboard.press("Control+k");
  await admin.keyboard.type("october");
  await expect(palette.getByRole("option", { name: /Reconcile October invoices/ })).toBeVisible();
  await admin.keyboard.press("Enter");
  await expect(admin).toHaveURL(`${server.url}/runs/${crashed}`);
  await expect(heading(admin, 47)).toBeVisible();

  await admin.keyboard.press("Control+k");
  await admin.keyboard.type("fork");
  await expect(palette.getByRole("option", { name: /^Fork…/ })).toBeVisible();
  await admin.keyboard.press("Enter");
  await expect(admin.getByRole("dialog", { name: "Fork from before step 47" })).toBeVisible();
  await admin.keyboard.press("Escape");

  await admin.keyboard.press("Control+k");
  await admin.keyboard.type("pause");
  await admin.keyboard.press("Escape");
  await expect(palette).toBeHidden();
  await expect(admin).toHaveURL(new RegExp(`/runs/${crashed}`));
});
