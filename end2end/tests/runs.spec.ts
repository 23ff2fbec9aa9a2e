// The list of runs: live without moving what is read, and its URL is its state.
import type { Page } from "@playwright/test";

import { decide } from "../support/decide.ts";
import { crashedRun, doneRun, failedRun, runningRun, runOf } from "../support/sample.ts";
import { expect, expectAccessible, expectLive, onWorkingDay, test } from "../support/test.ts";

const list = (page: Page) => page.getByRole("table", { name: "Runs", exact: true });
const row = (page: Page, title: string) => list(page).getByRole("row", { name: title });
const needs = (page: Page) => page.getByRole("region", { name: /^Needs you/ });

test("a run announces itself, comes when asked and advances in place", async ({ admin, agent }) => {
  await doneRun(agent, "Already there");
  await admin.reload();
  await expectLive(admin);
  await expect(row(admin, "Already there")).toBeVisible();

  const id = await agent.create({ agent: "researcher", title: "Weekly market brief" });
  const announced = list(admin).getByRole("button", { name: "1 new" });
  await expect(announced).toBeVisible();
  await expect(row(admin, "Weekly market brief")).toHaveCount(0);
  await announced.click();
  const brief = row(admin, "Weekly market brief");
  await expect(brief).toContainText("not started: waiting for a worker");
  await expect(announced).toHaveCount(0);

  const run = await agent.lease(id);
  const begun = await agent.begin(run, { name: "summarise_source", kind: "llm" });
  await expect(brief).toContainText("running 1 · summarise_source");
  await agent.commit(run, begun, { usage: { cost_usd: 0.52 } });
  await expect(brief).toContainText("$0.52");
  await agent.finish(run);
  await expect(brief).toContainText("done");
  await expect(brief.getByRole("img", { name: "Done" })).toBeVisible();
});

test("a crash lands in “Needs you” without moving the list", async ({ admin, agent }) => {
  const run = await runningRun(agent, "Reconcile October invoices", 3);
  await admin.reload();
  await expectLive(admin);
  await expect(needs(admin)).toContainText("nothing waits for a person");
  const october = row(admin, "Reconcile October invoices");
  const before = await october.boundingBox();

  await agent.begin(run, { name: "charge_card", effect: { target: "stripe" } });
  await agent.die(run);
  await expect(october).toContainText("crashed at 5 · charge_card");
  await expect(october.getByRole("img", { name: "Crashed", exact: true })).toBeVisible();
  await expect(admin.getByRole("link", { name: "Needs you 1" })).toBeVisible();
  expect(await october.boundingBox()).toEqual(before);

  await needs(admin).getByRole("button", { name: "1 new" }).click();
  await expect(needs(admin).getByRole("row", { name: "Reconcile October invoices" })).toBeVisible();
});

onWorkingDay("filters, search, back and reload are in the URL", async ({ admin, agent, server }) => {
  const crashed = await runOf(agent, "Reconcile October invoices");
  await expectLive(admin);
  const filters = admin.getByRole("navigation", { name: "Filters" });

  await filters.getByRole("link", { name: /^Done/ }).click();
  await expect(admin).toHaveURL(`${server.url}/?status=done`);
  await expect(list(admin).getByRole("row")).toHaveCount(4);
  await filters.getByRole("link", { name: /^researcher/ }).click();
  await expect(list(admin).getByRole("row")).toHaveCount(2);
  await admin.reload();
  await expect(list(admin).getByRole("row")).toHaveCount(2);
  await expectLive(admin);
  await admin.goBack();
  await expect(list(admin).getByRole("row")).toHaveCount(4);
  await admin.getByRole("link", { name: "Remove the filter status: done" }).click();
  await expect(admin).toHaveURL(`${server.url}/`);

  const search = admin.getByRole("searchbox", { name: "Search runs" });
  await search.fill("status:running archive");
  await search.press("Enter");
  await expect(admin).toHaveURL(`${server.url}/?q=status%3Arunning+archive`);
  await expect(list(admin).getByRole("row")).toHaveCount(2);
  await search.fill("no such thing");
  await search.press("Enter");
  await expect(admin.getByRole("heading", { name: "No matching runs" })).toBeVisible();
  await search.fill(crashed);
  await search.press("Enter");
  await expect(admin).toHaveURL(`${server.url}/runs/${crashed}`);
});

onWorkingDay("keys find, walk and open runs", async ({ admin, server }) => {
  await expectLive(admin);
  await admin.keyboard.press("/");
  await expect(admin.getByRole("searchbox")).toBeFocused();
  await admin.keyboard.press("Escape");
  await admin.keyboard.press("j");
  await expect(admin.getByRole("link", { name: "Reconcile October invoices" }).first()).toBeFocused();
  await admin.keyboard.press("j");
  await expect(admin.getByRole("link", { name: /^(Refund dispute #88121|Migrate tenant acme-eu)$/ }).first()).toBeFocused();
  await admin.keyboard.press("k");
  await admin.keyboard.press("Enter");
  await expect(admin).toHaveURL(/\/runs\//);
  await expect(admin.getByRole("heading", { level: 1, name: "Reconcile October invoices" })).toBeVisible();
  await admin.keyboard.press("g");
  await admin.keyboard.press("r");
  await expect(admin).toHaveURL(`${server.url}/`);
  await admin.keyboard.press("?");
  await expect(admin.getByRole("dialog", { name: "Keyboard" })).toBeVisible();
  await expectAccessible(admin);
});

onWorkingDay("one cause of several crashes is one line", async ({ admin }) => {
  const group = needs(admin).getByRole("row", { name: "3 runs" });
  await expect(group).toContainText("Same reason: embed_query, released by the worker");
  await expect(group).toContainText("No unknown effects. You can resume them together.");
  await group.getByRole("link").first().click();
  await expect(list(admin).getByRole("row")).toHaveCount(4);
  await expect(list(admin).getByRole("row", { name: /Ticket \d/ })).toHaveCount(3);
  await expect(admin.getByText("3 runs stopped for this reason")).toBeVisible();
  await admin.reload();
  await expect(list(admin).getByRole("row")).toHaveCount(4);
});

test("runs of one cause with an effect unknown say so, and stand apart", async ({ admin, agent }) => {
  const stop = async (title: string, effect: object | undefined) => {
    const run = await agent.lease(await agent.create({ agent: "payer", title, on_crash: "hold" }));
    await agent.begin(run, { name: "pay", ...(effect ? { effect } : {}) });
    await agent.die(run);
  };
  for (let n = 1; n <= 3; n++) await stop(`With effect ${n}`, { target: "bank" });
  for (let n = 1; n <= 4; n++) await stop(`Without ${n}`, undefined);
  await failedRun(agent);
  await crashedRun(agent);
  await admin.reload();
  const lines = needs(admin).getByRole("row").filter({ has: admin.locator("td") });
  await expect(lines, "unknown effects first, several of them before one").toHaveText([/3 runs/, /charge_card/, /failed at/, /4 runs/]);
  const groups = needs(admin).getByRole("row", { name: /runs payer/ });
  await expect(groups).toHaveCount(2);
  await expect(groups.first()).toContainText("effects unknown: look at each");
  await expect(groups.last()).toContainText("No unknown effects. You can resume them together.");
  await groups.first().getByRole("link").first().click();
  await expect(list(admin).getByRole("row", { name: /With effect/ })).toHaveCount(3);
  await expect(list(admin).getByRole("row", { name: /Without/ })).toHaveCount(0);
});

test("runs that stop for the same reason are counted where their line is, and leave it when they are acknowledged", async ({ admin, agent, server }) => {
  const stop = async (title: string) => {
    const run = await agent.lease(await agent.create({ agent: "payer", title, on_crash: "hold" }));
    await agent.begin(run, { name: "pay" });
    await agent.die(run);
    return run.id;
  };
  const ids = await Promise.all(["One", "Two", "Three"].map(stop));
  await admin.reload();
  await expectLive(admin);
  const group = needs(admin).locator(".cause-row .run-title");
  const badge = admin.getByRole("banner").getByRole("link", { name: /^Needs you/ });
  await expect(group).toHaveText("3 runs");
  ids.push(await stop("Four"));
  await expect(group).toHaveText("4 runs");
  await expect(badge).toContainText("4");
  await expect(needs(admin).getByRole("button", { name: /new$/ }), "it has its line").toHaveCount(0);
  for (const [n, id] of ids.entries()) {
    await decide(admin, server, agent, id, { kind: "acknowledge" });
    await expect(group).toHaveText(n === 2 ? "1 run" : `${3 - n} runs`);
  }
  await expect(badge).not.toContainText(/\d/);
});

test("search finds step names, keys and errors; a key opens its step", async ({ admin, agent, server }) => {
  test.slow();
  const crashed = await crashedRun(agent);
  await failedRun(agent);
  for (let n = 1; n <= 3; n++) {
    const run = await agent.lease(await agent.create({ agent: "support-triage", title: `Ticket ${n}` }));
    await agent.begin(run, { key: "embed", name: "embed_query" });
  }
  await admin.reload();
  await expectLive(admin);
  const search = admin.getByRole("searchbox", { name: "Search runs" });
  const find = async (text: string) => {
    await search.fill(text);
    await search.press("Enter");
  };
  await find("copy_table");
  await expect(row(admin, "Migrate tenant acme-eu")).toBeVisible();
  await expect(list(admin).getByRole("row")).toHaveCount(2);
  await find("quota exceeded");
  await expect(row(admin, "Migrate tenant acme-eu")).toBeVisible();
  await find("DiskFull status:failed");
  await expect(row(admin, "Migrate tenant acme-eu")).toBeVisible();
  await find("copy_table status:done");
  await expect(admin.getByRole("heading", { name: "No matching runs" })).toBeVisible();
  await find("key:embed");
  await expect(list(admin).getByRole("row", { name: /Ticket \d/ })).toHaveCount(3);
  await find("charge-INV-2214");
  await expect(admin).toHaveURL(`${server.url}/runs/${crashed}?step=47`);
  await find(`key:${crashed}:47`);
  await expect(admin).toHaveURL(`${server.url}/runs/${crashed}?step=47`);
});

test("built-in views show what needs me, what is mine and what was costly", async ({ admin, agent, server }) => {
  await crashedRun(agent);
  await doneRun(agent, "Summarise board pack", "proposal-writer", 2);
  const archive = await agent.lease(await agent.create({ agent: "doc-indexer", title: "Index legal archive" }));
  await agent.step(archive, { name: "embed_chunk" }, { usage: { cost_usd: 77.08 } });
  await agent.create({ agent: "crm-sync", title: "Labelled mine", labels: { owner: "admin" } });
  await admin.reload();
  await expectLive(admin);
  const views = admin.getByRole("navigation", { name: "Filters" });
  await views.getByRole("link", { name: "Over $20" }).click();
  await expect(admin).toHaveURL(`${server.url}/?over=20`);
  await expect(row(admin, "Index legal archive")).toContainText("$77.08");
  await expect(row(admin, "Summarise board pack")).toHaveCount(0);
  await views.getByRole("link", { name: "Mine" }).click();
  await expect(admin).toHaveURL(`${server.url}/?view=mine`);
  await expect(row(admin, "Labelled mine")).toBeVisible();
  await expect(list(admin).getByRole("row")).toHaveCount(2);
  await views.getByRole("link", { name: "Needs you" }).click();
  await expect(needs(admin)).toContainText("crashed at 47 · charge_card");
  await expect(list(admin)).toHaveCount(0);
});

test("rows are picked by mouse and keyboard, and stopped together with a reason", async ({ admin, agent }) => {
  const live = await runningRun(agent, "Live one", 2);
  for (const title of ["Old one", "Old two", "Old three"]) await agent.create({ agent: "crm-sync", title });
  await admin.reload();
  await expectLive(admin);
  const bar = admin.getByRole("region", { name: "Selected runs" });
  const box = (title: string) => list(admin).getByRole("checkbox", { name: `Select ${title}` });
  await box("Old three").click();
  await box("Old one").click({ modifiers: ["Shift"] });
  await expect(bar).toContainText("3 selected");
  await expect(box("Old two")).toBeChecked();
  await box("Old two").click();
  await expect(bar).toContainText("2 selected");
  await row(admin, "Live one").getByRole("link").first().focus();
  await admin.keyboard.press("x");
  await expect(bar).toContainText("3 selected");
  await expectAccessible(admin);

  await bar.getByRole("button", { name: "Cancel…" }).click();
  const dialog = admin.getByRole("dialog", { name: "Cancel 3 runs" });
  await expect(dialog).toContainText("1 stops at its next step boundary, 2 stop at once.");
  await expectAccessible(admin);
  await dialog.getByRole("button", { name: "Back" }).click();
  await expect(dialog).toHaveCount(0);
  await expect(row(admin, "Old one")).toContainText("not started");

  await bar.getByRole("button", { name: "Cancel…" }).click();
  await dialog.getByRole("button", { name: "Cancel 3 runs" }).click();
  await expect(dialog, "a reason is asked for").toBeVisible();
  await dialog.getByRole("textbox", { name: "Reason" }).fill("made by mistake");
  await dialog.getByRole("button", { name: "Cancel 3 runs" }).click();
  await admin.getByRole("dialog", { name: "Cancelled 2 runs, cancel requested for 1 run" }).getByRole("button", { name: "Close" }).click();
  await expect(row(admin, "Old one")).toContainText("cancelled");
  await expect(row(admin, "Old two")).toContainText("not started");
  await expect(row(admin, "Live one")).toContainText("cancel requested");
  await expect(bar.getByRole("button")).toHaveCount(0);
  await agent.die(live);
  await expect(row(admin, "Live one")).toContainText("cancelled");
});

test("the list goes on as one scrolls, and by plain links without JavaScript", async ({ admin, agent, browser }) => {
  for (let n = 1; n <= 130; n += 10) {
    const ten = Array.from({ length: 10 }, (_, i) => n + i);
    await Promise.all(ten.map((i) => agent.create({ agent: "crm-sync", title: `Sync ${i}` })));
  }
  await admin.reload();
  await expectLive(admin);
  await expect(list(admin).getByRole("row")).toHaveCount(51);
  await admin.mouse.move(600, 500);
  await expect(async () => {
    await admin.mouse.wheel(0, 4_000);
    await expect(list(admin).getByRole("row")).toHaveCount(131, { timeout: 500 });
  }).toPass();
  await expect(admin.getByRole("link", { name: "Older runs" })).toHaveCount(0);

  const storageState = await admin.context().storageState();
  const context = await browser.newContext({ javaScriptEnabled: false, storageState });
  const plain = await context.newPage();
  await plain.goto(admin.url());
  await plain.getByRole("link", { name: "Older runs" }).click();
  await expect(list(plain).getByRole("row")).toHaveCount(51);
  await plain.getByRole("link", { name: "Older runs" }).click();
  await expect(list(plain).getByRole("row")).toHaveCount(31);
  await context.close();
});

test("a strip shows where a run broke", async ({ admin, agent }) => {
  await crashedRun(agent);
  await admin.reload();
  const strip = needs(admin).getByRole("img", { name: "46 committed, step 47 crashed mid-flight, 5 announced" });
  await expect(strip.locator("path.tone-crashed")).toHaveAttribute("d", /M/);
  await expect(strip.locator("path.tone-running")).toHaveAttribute("d", "");
});

test("the connection says when it is lost, and nothing is missed", async ({ admin, agent, context, consoleErrors }) => {
  const run = await runningRun(agent, "Goes on", 1);
  await admin.reload();
  await expectLive(admin);
  await context.setOffline(true);
  await expect(admin.getByRole("banner").getByRole("status")).toContainText("connection lost", { timeout: 20_000 });
  await agent.begin(run, { name: "while_away" });
  await context.setOffline(false);
  await expectLive(admin);
  await expect(row(admin, "Goes on")).toContainText("running 3 · while_away");
  consoleErrors.length = 0; // the browser reports each failed connection
});

test("a restart of the server is caught up with", async ({ admin, agent, server, consoleErrors }) => {
  const run = await runningRun(agent, "Goes on", 1);
  await admin.reload();
  await expectLive(admin);
  await server.restart(async () => {
    await expect(admin.getByRole("banner").getByRole("status")).toContainText("connection lost");
  });
  await agent.begin(run, { name: "after_restart" });
  await expectLive(admin);
  await expect(row(admin, "Goes on")).toContainText("running 3 · after_restart");
  consoleErrors.length = 0; // the browser reports each failed connection
});

onWorkingDay("the list is readable without JavaScript", async ({ admin, browser }) => {
  const storageState = await admin.context().storageState();
  const context = await browser.newContext({ javaScriptEnabled: false, storageState });
  const plain = await context.newPage();
  await plain.goto(admin.url());
  await expect(row(plain, "Weekly market brief").filter({ hasText: "running 112 · summarise_source" })).toHaveCount(1);
  await expect(needs(plain)).toContainText("crashed at 47 · charge_card");
  await plain.getByRole("navigation", { name: "Filters" }).getByRole("link", { name: /^Done/ }).click();
  await expect(list(plain).getByRole("row")).toHaveCount(4);
  await plain.getByRole("searchbox").fill("board");
  await plain.getByRole("searchbox").press("Enter");
  await expect(list(plain).getByRole("row")).toHaveCount(2);
  await context.close();
});

test("what agents write is text", async ({ admin, agent }) => {
  const title = `<img src=x onerror="document.title='pwned'"><b>\u202Etlo</b> ${"long ".repeat(60)}`;
  await agent.create({ agent: "<script>alert(1)</script>", title });
  await admin.reload();
  await expect(row(admin, "<img src=x")).toBeVisible();
  await expect(admin).toHaveTitle(/Runs/);
  const width = await admin.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  expect(width, "the page does not scroll sideways").toBeLessThanOrEqual(0);
});

onWorkingDay("the list is accessible in both themes, wide and narrow", async ({ admin }) => {
  test.slow();
  for (const colorScheme of ["light", "dark"] as const) {
    for (const width of [1440, 390]) {
      await admin.emulateMedia({ colorScheme });
      await admin.setViewportSize({ width, height: 900 });
      await admin.reload();
      await expectLive(admin);
      await expectAccessible(admin, colorScheme);
      const over = await admin.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      expect(over, `no sideways scrolling at ${width} px`).toBeLessThanOrEqual(0);
    }
  }
});
