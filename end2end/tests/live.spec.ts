// Live: what happens on the server is on the screen without a reload, and nothing is missed by who was away.
import type { Page } from "@playwright/test";

import { runningRun } from "../support/sample.ts";
import { expect, expectLive, test } from "../support/test.ts";
import { startWorker } from "../support/worker.ts";

const list = (page: Page) => page.getByRole("table", { name: "Runs", exact: true });
const needs = (page: Page) => page.getByRole("region", { name: /^Needs you/ });
const connection = (page: Page) => page.getByRole("banner").getByRole("status");

/** Requests of the page for data, from now on. */
function reads(page: Page): string[] {
  const seen: string[] = [];
  page.on("request", (request) => {
    const path = new URL(request.url()).pathname;
    if (path.startsWith("/api/") || path.startsWith("/v1/")) seen.push(path);
  });
  return seen;
}

/** Makes the page believe that its tab is hidden, or looked at again. */
async function hide(page: Page, hidden: boolean): Promise<void> {
  await page.evaluate((hidden) => {
    Object.defineProperty(document, "visibilityState", { value: hidden ? "hidden" : "visible", configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);
}

test("a real agent's run appears and advances, and the page asks for nothing", async ({ admin, agent, server }) => {
  await expectLive(admin);
  const asked = reads(admin);
  const worker = startWorker(server, agent, "researcher", ["--speed", "8"]);
  await expect(list(admin).getByRole("button", { name: "1 new" })).toBeVisible();
  expect(asked, "frames carry all that is shown").toEqual([]);
  await list(admin).getByRole("button", { name: "1 new" }).click();
  const row = list(admin).getByRole("row").nth(1);
  await expect(row).toContainText(/running \d+ ·/);
  asked.length = 0;
  const committed = async () => Number(/(\d+) ·/.exec((await row.textContent()) ?? "")?.[1] ?? 0);
  const before = await committed();
  await expect.poll(committed).toBeGreaterThan(before + 2);
  await expect(admin.getByRole("navigation", { name: "Filters" })).toContainText("researcher");
  expect(asked, "frames carry all that is shown").toEqual([]);
  worker.kill("SIGKILL");
  expect(await worker.ended).toBe("SIGKILL");
});

test("a worker killed with SIGKILL turns hatched and lands in “Needs you”", async ({ admin, agent, server }) => {
  test.slow();
  await expectLive(admin);
  const args = ["--speed", "400", "--ttl-ms", "2000", "--die-at", "47"];
  const worker = startWorker(server, agent, "invoice-reconciler", args);
  await list(admin).getByRole("button", { name: "1 new" }).click();
  const row = list(admin).getByRole("row", { name: "invoice-reconciler" });
  await expect(row).toContainText("running 47 ·", { timeout: 30_000 });
  expect(await worker.ended).toBe("SIGKILL");
  await expect(row).toContainText("crashed at 47 ·");
  await expect(row.getByRole("img", { name: "Crashed", exact: true })).toBeVisible();
  await expect(row.getByRole("img", { name: /step 47 crashed mid-flight/ })).toBeVisible();
  await expect(row.locator(".strip-at[d*='L']")).toBeVisible();
  await expect(admin.getByRole("link", { name: "Needs you 1" })).toBeVisible();
  await needs(admin).getByRole("button", { name: "1 new" }).click();
  await expect(needs(admin).getByRole("row", { name: "invoice-reconciler" })).toContainText("crashed at 47 ·");
});

test("what happens before a restarted server is found again is not missed", async ({ admin, agent, server, consoleErrors }) => {
  const run = await runningRun(agent, "Goes on", 1);
  await admin.reload();
  await expectLive(admin);
  const row = list(admin).getByRole("row", { name: "Goes on" });
  await server.restart(async () => {
    await expect(connection(admin)).toContainText("connection lost");
  });
  await agent.begin(run, { name: "before_it_is_back" });
  await agent.create({ agent: "crm-sync", title: "Came meanwhile" });
  await expectLive(admin);
  await expect(row).toContainText("running 3 · before_it_is_back");
  await expect(list(admin).getByRole("button", { name: "1 new" })).toBeVisible();
  consoleErrors.length = 0; // the browser reports each failed connection
});

test("a hidden tab pauses and catches up when it is looked at", async ({ admin, agent }) => {
  const run = await runningRun(agent, "Goes on", 1);
  await admin.reload();
  await expectLive(admin);
  const row = list(admin).getByRole("row", { name: "Goes on" });
  await hide(admin, true);
  await expect(connection(admin)).toHaveText("paused");
  await agent.begin(run, { name: "unseen" });
  await runningRun(agent, "Another one", 1);
  await expect(row).toContainText("running 2 ·");
  await hide(admin, false);
  await expectLive(admin);
  await expect(row).toContainText("running 3 · unseen");
  await expect(list(admin).getByRole("button", { name: "1 new" })).toBeVisible();
});

test("a tab that was away for too long reads again by itself", async ({ admin, agent }) => {
  test.slow();
  const run = await runningRun(agent, "Goes on", 1);
  await admin.reload();
  await expectLive(admin);
  await hide(admin, true);
  await expect(connection(admin)).toHaveText("paused");
  let begun = await agent.begin(run, { key: "long-0", name: "long" });
  for (let n = 1; n <= 520; n++) {
    const next = { key: `long-${n}`, name: n === 520 ? "the_last_one" : "long" };
    begun = (await agent.commit(run, begun, { patch: [], next }))!;
  }
  await hide(admin, false);
  const row = list(admin).getByRole("row", { name: "Goes on" });
  await expect(row).toContainText("running 523 · the_last_one");
  await expectLive(admin);
});

test("from the list to a run and on to another, each page follows what it shows", async ({ admin, agent }) => {
  const first = await runningRun(agent, "First brief", 1);
  const second = await runningRun(agent, "Second brief", 1);
  await admin.reload();
  await expectLive(admin);
  for (const [title, run] of [["First brief", first], ["Second brief", second]] as const) {
    await list(admin).getByRole("row", { name: title }).getByRole("link", { name: title }).click();
    await expect(admin.getByText("Running step 2")).toBeVisible();
    await agent.begin(run, { name: `more_of_${title.split(" ")[0]}` });
    await expect(admin.getByText("Running step 3")).toBeVisible();
    await admin.goBack();
    await expect(list(admin).getByRole("row", { name: title })).toContainText("running 3 ·");
    await agent.begin(run, { name: "and_more" });
    await expect(list(admin).getByRole("row", { name: title })).toContainText("running 4 ·");
  }
});

test("steps that begin in another order than announced, or unannounced, leave the others announced, as a reload shows", async ({ admin, agent, server }) => {
  const plan = Array.from({ length: 23 }, (_, n) => ({ name: `expected_${n + 1}` }));
  const run = await agent.lease(await agent.create({ agent: "planner", title: "Out of order", plan }));
  await admin.goto(`${server.url}/runs/${run.id}`);
  await expectLive(admin);
  const rows = admin.locator(".step-row.is-expected");
  const first = async () => {
    const cells = await rows.evaluateAll((all) => all.map((row) => [".cell-figure", ".step-name"].map((it) => row.querySelector(it)?.textContent)));
    return cells.slice(0, 3).map((it) => it.join(" "));
  };
  await expect.poll(first).toEqual(["1 expected_1", "2 expected_2", "3 expected_3"]);
  await agent.step(run, { name: "expected_3" });
  await expect.poll(first, "more are announced than are listed").toEqual(["2 expected_1", "3 expected_2", "4 expected_4"]);
  await agent.step(run, { name: "not_announced" });
  await expect.poll(first).toEqual(["3 expected_1", "4 expected_2", "5 expected_4"]);
  await agent.step(run, { name: "expected_1" });
  const shown = ["4 expected_2", "5 expected_4", "6 expected_5"];
  await expect.poll(first).toEqual(shown);
  await admin.reload();
  await expect.poll(first).toEqual(shown);
});

test("signing out ends the stream of every tab", async ({ admin, server, consoleErrors }) => {
  await expectLive(admin);
  const answer = await admin.request.post(`${server.url}/signout`, { headers: { origin: server.url } });
  expect(answer.ok()).toBe(true);
  await expect(connection(admin)).toHaveText("signed out");
  consoleErrors.length = 0; // the browser reports the refusal
});
