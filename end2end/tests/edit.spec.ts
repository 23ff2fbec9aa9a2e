// Editing the state: what is wrong is said at its line and changes nothing; what is saved is a new snapshot.
import type { Page } from "@playwright/test";

import type { Agent } from "../support/agent.ts";
import { expect, expectAccessible, expectLive, test } from "../support/test.ts";

const SCHEMA = {
  type: "object",
  required: ["note"],
  properties: { note: { type: "string", maxLength: 40 }, total: { type: "integer", minimum: 0 } },
};

/** A run that crashed at its second step, with a state that a schema checks. */
async function heldRun(agent: Agent): Promise<string> {
  const id = await agent.create({
    agent: "bookkeeper",
    title: "Close the books",
    state: { note: "as it was", total: 7 },
    state_schema: SCHEMA,
    on_crash: "hold",
  });
  const run = await agent.lease(id);
  await agent.step(run, { key: "a", name: "count" }, { patch: [{ op: "replace", path: "/total", value: 8 }] });
  await agent.begin(run, { key: "b", name: "close" });
  await agent.die(run);
  return id;
}

async function stateOf(agent: Agent, id: string): Promise<{ snapshot: number; state: Record<string, unknown> }> {
  const { run } = await agent.get<{ run: { snapshot: number } }>(`/runs/${id}`);
  return agent.get(`/runs/${id}/snapshots/${run.snapshot}`);
}

const editor = (page: Page) => page.getByRole("textbox", { name: "State as JSON" });
const save = (page: Page) => page.getByRole("button", { name: "Save state" });

async function type(page: Page, text: string): Promise<void> {
  await editor(page).click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(text);
}

test("the whole state, with what changes beside it, saved as a new snapshot", async ({ admin, agent, server }) => {
  const id = await heldRun(agent);
  await admin.goto(`${server.url}/runs/${id}`);
  await expectLive(admin);
  await admin.keyboard.press("e");
  await expect(admin).toHaveURL(/\/edit$/);
  await expect(admin.locator("json-editor[data-ready]")).toBeAttached();
  await expect(admin.getByText("The next step will be 2")).toBeVisible();
  await type(admin, '{\n  "note": "by hand",\n  "total": 9\n}');
  const changes = admin.locator(".changes");
  await expect(changes).toContainText("/total");
  await expect(changes).toContainText("8 → 9");
  await expect(save(admin)).toBeDisabled();
  await admin.getByLabel("Reason").fill("counted again");
  await admin.keyboard.press("Control+Enter");
  await expect(admin).toHaveURL(new RegExp(`/runs/${id}$`));
  const { state } = await stateOf(agent, id);
  expect(state).toEqual({ note: "by hand", total: 9 });
  const before = await agent.get<{ state: unknown }>(`/runs/${id}/snapshots/1`);
  expect(before.state, "the original stays readable").toEqual({ note: "as it was", total: 8 });
});

test("bad edits get a clear message and change nothing", async ({ admin, agent, server, consoleErrors }) => {
  const id = await heldRun(agent);
  const before = await stateOf(agent, id);
  await admin.goto(`${server.url}/runs/${id}/edit`);
  await expectLive(admin);
  await admin.getByLabel("Reason").fill("trying");
  const wrong = admin.locator("#json-wrong");
  for (const [text, said] of [
    ['{\n  "note": "x",\n  "total": \n}', /^Line 4: expected value/],
    ['{\n  "note": "x",\n  "note": "y"\n}', /^Line 2: \/note stands twice/],
    ['{\n  "note": "a\\u0000b"\n}', /^Line 2: \/note holds a NUL/],
    ['{\n  "note": "x",\n  "total": 123456789012345678901234567890\n}', /^Line 3: /],
    ['{\n  "note": "x",\n  "total": -1\n}', /^Line 3: .*minimum/],
    ['{\n  "total": 3\n}', /^Line 1: .*required/],
  ] as const) {
    await type(admin, text);
    await expect(wrong).toHaveText(said);
  }
  // A violation of the schema is also refused by the server.
  await expect(save(admin)).toBeEnabled();
  await save(admin).click();
  await expect(admin.getByRole("alert")).toContainText("note");
  await expect(admin.getByRole("alert")).toContainText("Nothing was changed");
  expect(await stateOf(agent, id)).toEqual(before);
  consoleErrors.length = 0; // Chromium reports a refusal as an error
});

test("a draft survives a reload, and can be thrown away", async ({ admin, agent, server }) => {
  const id = await heldRun(agent);
  await admin.goto(`${server.url}/runs/${id}/edit`);
  await expectLive(admin);
  await type(admin, '{ "note": "half typed", "total": 8 }');
  await expect(admin.locator(".changes")).toContainText("half typed");
  await admin.reload();
  await expectLive(admin);
  await expect(admin.getByText("Your draft is back")).toBeVisible();
  await expect(editor(admin)).toContainText("half typed");
  await admin.getByRole("button", { name: "Discard the draft" }).click();
  await expect(editor(admin)).toContainText("as it was");
  await admin.reload();
  await expect(editor(admin)).toContainText("as it was");
});

test("an edit based on an old version is refused with both sides shown", async ({ admin, agent, server, consoleErrors }) => {
  const id = await heldRun(agent);
  await admin.goto(`${server.url}/runs/${id}/edit`);
  await expectLive(admin);
  const other = await admin.context().newPage();
  await other.goto(`${server.url}/runs/${id}/edit?path=/total`);
  await expectLive(other);
  await other.getByRole("textbox", { name: "Value at /total as JSON" }).click();
  await other.keyboard.press("Control+a");
  await other.keyboard.insertText("100");
  await other.getByLabel("Reason").fill("first");
  await save(other).click();
  await expect(other).toHaveURL(new RegExp(`/runs/${id}$`));
  await type(admin, '{ "note": "second", "total": 8 }');
  await admin.getByLabel("Reason").fill("second");
  await save(admin).click();
  await expect(admin.getByRole("alert")).toContainText("Already decided by admin");
  const sides = admin.getByRole("region", { name: "Both sides" });
  await expect(sides).toContainText("8 → 100");
  await expect(sides).toContainText("second");
  expect((await stateOf(agent, id)).state.total).toBe(100);
  await sides.getByRole("button", { name: "Base my edit on the state as it is now" }).click();
  await save(admin).click();
  await expect(admin).toHaveURL(new RegExp(`/runs/${id}$`));
  expect((await stateOf(agent, id)).state).toEqual({ note: "second", total: 8 });
  consoleErrors.length = 0; // Chromium reports a refusal as an error
});

test("without WASM it is a plain field in a form", async ({ admin, agent, server, browser }) => {
  const id = await heldRun(agent);
  const storageState = await admin.context().storageState();
  const context = await browser.newContext({ javaScriptEnabled: false, storageState });
  const plain = await context.newPage();
  await plain.goto(`${server.url}/runs/${id}/edit`);
  await plain.getByRole("textbox", { name: "State as JSON" }).fill('{ "note": "plain"');
  await plain.getByLabel("Reason").fill("no WASM here");
  await save(plain).click();
  await expect(plain.getByText(/line 1: EOF/)).toBeVisible();
  await plain.goBack();
  await plain.getByRole("textbox", { name: "State as JSON" }).fill('{ "note": "plain" }');
  await plain.getByLabel("Reason").fill("no WASM here");
  await save(plain).click();
  await expect(plain).toHaveURL(new RegExp(`/runs/${id}$`));
  expect((await stateOf(agent, id)).state).toEqual({ note: "plain" });
  await context.close();
});

test("the editor is accessible in both themes, wide and narrow", async ({ admin, agent, server }) => {
  const id = await heldRun(agent);
  for (const colorScheme of ["light", "dark"] as const) {
    for (const width of [1440, 390]) {
      await admin.emulateMedia({ colorScheme });
      await admin.setViewportSize({ width, height: 844 });
      await admin.goto(`${server.url}/runs/${id}/edit`);
      await expectLive(admin);
      await expect(admin.locator("json-editor[data-ready]")).toBeAttached();
      await expectAccessible(admin);
      const over = await admin.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      expect(over, `no sideways scrolling at ${width} px`).toBeLessThanOrEqual(0);
    }
  }
});
