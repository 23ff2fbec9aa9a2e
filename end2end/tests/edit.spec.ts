// Editing the state: what is wrong is said at its line and changes nothing; what is saved is a new snapshot.
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "@playwright/test";

import type { Agent } from "../support/agent.ts";
import { writeJson } from "../support/editor.ts";
import { person } from "../support/people.ts";
import { expect, expectAccessible, expectLive, test } from "../support/test.ts";
import { viewer } from "../support/viewer.ts";

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

const type = (page: Page, text: string) => writeJson(page, "State as JSON", text);

test("the whole state, with what changes beside it, saved as a new snapshot", async ({ admin, agent, server }) => {
  const id = await heldRun(agent);
  await admin.goto(`${server.url}/runs/${id}`);
  await expectLive(admin);
  await admin.keyboard.press("e");
  await expect(admin).toHaveURL(/\/edit$/);
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

test("a state of 3 MiB is edited and saved like any other", async ({ admin, agent, server }) => {
  const lines = Object.fromEntries(Array.from({ length: 30_000 }, (_, n) => [`line ${n}`, "x".repeat(95)]));
  const state = { note: "as it was", lines };
  expect(JSON.stringify(state).length).toBeGreaterThan(3 << 20);
  const id = await agent.create({ agent: "bookkeeper", title: "Close the year", state, on_crash: "hold" });
  const run = await agent.lease(id);
  await agent.begin(run, { key: "a", name: "close" });
  await agent.die(run);
  await admin.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await admin.goto(`${server.url}/runs/${id}/edit`);
  await expectLive(admin);
  await expect(admin.locator("json-editor[data-ready]")).toBeAttached();
  // As somebody does it who changed it in an editor of their own.
  await admin.evaluate((text) => navigator.clipboard.writeText(text), JSON.stringify({ ...state, note: "by hand" }, null, 2));
  await editor(admin).click();
  await admin.keyboard.press("Control+a");
  await admin.keyboard.press("Control+v");
  await expect(admin.getByText("A text this long is not compared here")).toBeVisible();
  await expect(admin.locator("main"), "what was not compared is not called the same").not.toContainText("No changes");
  await admin.getByLabel("Reason").fill("closed by hand");
  await save(admin).click();
  await expect(admin).toHaveURL(new RegExp(`/runs/${id}$`), { timeout: 30_000 });
  const after = await stateOf(agent, id);
  expect(after.snapshot).toBe(1);
  expect(after.state.note).toBe("by hand");
  expect(Object.keys(after.state.lines as object)).toHaveLength(30_000);
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
  await expect(admin.getByText("Your draft was restored")).toBeVisible();
  await expect(editor(admin)).toContainText("half typed");
  await admin.getByRole("button", { name: "Discard the draft" }).click();
  await expect(editor(admin)).toContainText("as it was");
  await admin.reload();
  await expect(editor(admin)).toContainText("as it was");
});

/** Saves one value of the state in a page of this person's own. */
async function saveOne(page: Page, url: string, id: string, path: string, text: string): Promise<void> {
  await page.goto(`${url}/runs/${id}/edit?path=${path}`);
  await expectLive(page);
  await writeJson(page, `Value at ${path} as JSON`, text);
  await page.getByLabel("Reason").fill("first");
  await save(page).click();
  await expect(page).toHaveURL(new RegExp(`/runs/${id}$`));
}

const sides = (page: Page) => page.getByRole("region", { name: "Both sides" });
const rebase = (page: Page) => sides(page).getByRole("button", { name: "Base my edit on the state as it is now" });

test("an edit based on an old version is refused, and made again on the state as it is now it keeps both changes", async ({
  admin,
  agent,
  server,
  browser,
  consoleErrors,
}) => {
  const id = await heldRun(agent);
  await admin.goto(`${server.url}/runs/${id}/edit`);
  await expectLive(admin);
  const ben = await person(browser, server, "ben");
  await saveOne(ben, server.url, id, "/total", "100");
  await type(admin, '{ "note": "second", "total": 8 }');
  await admin.getByLabel("Reason").fill("second");
  await save(admin).click();
  await expect(admin.getByRole("alert")).toContainText("Already decided: ben edited the state");
  await expect(sides(admin)).toContainText("8 → 100");
  await expect(sides(admin)).toContainText("second");
  await expect(sides(admin)).toContainText("No place was changed by both");
  await expect(save(admin), "nothing is sent on the old state").toBeDisabled();
  expect((await stateOf(agent, id)).state.total).toBe(100);
  await rebase(admin).click();
  await expect(sides(admin)).toHaveCount(0);
  const changes = admin.locator(".edit-side .changes");
  await expect(changes.getByRole("listitem"), "the preview has my change alone").toHaveCount(1);
  await expect(changes).toContainText("/note");
  await save(admin).click();
  await expect(admin).toHaveURL(new RegExp(`/runs/${id}$`));
  expect((await stateOf(agent, id)).state, "ben's change is not undone").toEqual({ note: "second", total: 100 });
  await ben.context().close();
  consoleErrors.length = 0; // Chromium reports a refusal as an error
});

test("where two operators changed the same value, both are shown, and theirs stays unless mine is chosen", async ({
  admin,
  agent,
  server,
  browser,
  consoleErrors,
}) => {
  const id = await heldRun(agent);
  await admin.goto(`${server.url}/runs/${id}/edit`);
  await expectLive(admin);
  const ben = await person(browser, server, "ben");
  await saveOne(ben, server.url, id, "/total", "100");
  await saveOne(ben, server.url, id, "/note", '"by ben"');
  await type(admin, '{ "note": "by ana", "total": 9 }');
  await admin.getByLabel("Reason").fill("second");
  await save(admin).click();
  await expect(sides(admin)).toContainText("You and they both changed 2 places.");
  const place = (path: string) => sides(admin).getByRole("group", { name: path });
  await expect(place("/note").getByRole("radio", { name: 'Keep theirs: "by ben"' })).toBeChecked();
  await expect(place("/total").getByRole("radio", { name: "Keep theirs: 100" })).toBeChecked();
  await expectAccessible(admin);
  await place("/total").getByRole("radio", { name: "Use mine: 9" }).check();
  await rebase(admin).click();
  await expect(editor(admin)).toContainText("by ben");
  const changes = admin.locator(".edit-side .changes");
  await expect(changes).toContainText("100 → 9");
  await expect(changes.getByRole("listitem")).toHaveCount(1);
  await save(admin).click();
  await expect(admin).toHaveURL(new RegExp(`/runs/${id}$`));
  expect((await stateOf(agent, id)).state).toEqual({ note: "by ben", total: 9 });
  await ben.context().close();
  consoleErrors.length = 0; // Chromium reports a refusal as an error
});

test("an item of a list is edited where it stands after a colleague put another before it", async ({
  admin,
  agent,
  server,
  browser,
  consoleErrors,
}) => {
  const line = (id: string, amount: number) => ({ id, amount, currency: "EUR" });
  const id = await agent.create({ agent: "bookkeeper", title: "Lines", state: { lines: [line("a", 1), line("b", 2)] }, on_crash: "hold" });
  const run = await agent.lease(id);
  await agent.begin(run, { key: "a", name: "count" });
  await agent.die(run);
  await admin.goto(`${server.url}/runs/${id}/edit?path=/lines/0`);
  await expectLive(admin);
  const ben = await person(browser, server, "ben");
  await saveOne(ben, server.url, id, "/lines", JSON.stringify([line("new", 9), line("a", 1), line("b", 2)]));
  await writeJson(admin, "Value at /lines/0 as JSON", JSON.stringify(line("a", 100)));
  await admin.getByLabel("Reason").fill("second");
  await save(admin).click();
  await rebase(admin).click();
  await expect(admin.getByRole("heading", { level: 1 })).toHaveText("Edit /lines/1");
  await save(admin).click();
  await expect(admin).toHaveURL(new RegExp(`/runs/${id}$`));
  expect((await stateOf(agent, id)).state.lines).toEqual([line("new", 9), line("a", 100), line("b", 2)]);
  await ben.context().close();
  consoleErrors.length = 0; // Chromium reports a refusal as an error
});

test("a draft from before a colleague's change does not undo it", async ({ admin, agent, server, browser }) => {
  const id = await heldRun(agent);
  await admin.goto(`${server.url}/runs/${id}/edit`);
  await expectLive(admin);
  await type(admin, '{ "note": "half typed", "total": 8 }');
  await expect(admin.locator(".changes")).toContainText("half typed");
  const ben = await person(browser, server, "ben");
  await saveOne(ben, server.url, id, "/total", "100");
  await admin.reload();
  await expectLive(admin);
  await expect(admin.getByText("the state has changed since")).toBeVisible();
  await expect(sides(admin)).toContainText("8 → 100");
  await rebase(admin).click();
  await admin.getByLabel("Reason").fill("second");
  await save(admin).click();
  await expect(admin).toHaveURL(new RegExp(`/runs/${id}$`));
  expect((await stateOf(agent, id)).state).toEqual({ note: "half typed", total: 100 });
  await ben.context().close();
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

test("the editor shows its focus on every side, and the keyboard reaches what scrolls in it", async ({ admin, agent, server }) => {
  const lines = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`line_${n}`, `value ${n}`]));
  const id = await agent.create({ agent: "bookkeeper", title: "Long state", state: lines, on_crash: "hold" });
  const run = await agent.lease(id);
  await agent.begin(run, { key: "a", name: "count" });
  await agent.die(run);
  await admin.goto(`${server.url}/runs/${id}/edit`);
  await expectLive(admin);
  const host = admin.locator("json-editor[data-ready]");
  await expect(host).toBeVisible();
  await admin.getByLabel("Reason").focus();
  const box = (await host.boundingBox())!;
  const sides = {
    top: { x: box.x + 40, y: box.y - 3, width: 60, height: 3 },
    left: { x: box.x - 3, y: box.y + 40, width: 3, height: 60 },
    right: { x: box.x + box.width, y: box.y + 40, width: 3, height: 60 },
    bottom: { x: box.x + 40, y: box.y + box.height, width: 60, height: 3 },
  };
  const pictures = async () => {
    const taken = Object.entries(sides).map(async ([side, clip]) => [side, (await admin.screenshot({ clip, animations: "disabled" })).toString("base64")]);
    return Object.fromEntries(await Promise.all(taken)) as Record<string, string>;
  };
  const before = await pictures();
  await editor(admin).focus();
  await expect(editor(admin)).toBeFocused();
  const focused = await pictures();
  for (const side of Object.keys(sides)) expect(focused[side], `the ring at the ${side}`).not.toBe(before[side]);
  const { violations } = await new AxeBuilder({ page: admin }).withRules(["scrollable-region-focusable"]).analyze();
  expect(violations.flatMap((it) => it.nodes.map((node) => node.html))).toEqual([]);
  const scrolled = () => host.evaluate((it) => it.shadowRoot!.querySelector(".cm-scroller")!.scrollTop);
  await admin.keyboard.press("Control+End");
  await expect.poll(scrolled).toBeGreaterThan(0);
});

test("a viewer reads the state in the editor, cannot change it, and is told why", async ({ admin, agent, server, browser }) => {
  const id = await heldRun(agent);
  const vera = await viewer(admin, server, browser);
  for (const path of [`/runs/${id}/edit`, `/runs/${id}/edit?path=/note`]) {
    await vera.goto(server.url + path);
    await expectLive(vera);
    await expect(vera.getByRole("note")).toHaveText("View only. Ask an operator to decide.");
    const shown = vera.getByRole("textbox", { name: /as JSON$/ });
    await expect(shown).toContainText("as it was");
    await expect(vera.locator("textarea[name=state]")).toHaveAttribute("readonly", "");
    await shown.focus();
    await vera.keyboard.type("changed");
    await expect(shown).not.toContainText("changed");
    await expect(save(vera)).toHaveCount(0);
    await expect(vera.getByLabel("Reason")).toHaveCount(0);
    await expectAccessible(vera);
  }
  await vera.context().close();
});
