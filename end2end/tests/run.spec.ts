// One run: what broke, whether the effect happened, and the steps around it.
import { crashedRun, failedRun, runningRun, waitingRun } from "../support/sample.ts";
import { expect, expectAccessible, expectLive, test } from "../support/test.ts";

test("a crashed effect says what is known and what is not", async ({ admin, agent, server }) => {
  const id = await crashedRun(agent);
  await admin.goto(`${server.url}/runs/${id}`);
  await expect(admin).toHaveTitle(/Reconcile October invoices/);
  await expect(admin.getByText("Crashed mid-flight at step 47")).toBeVisible();
  const crash = admin.getByRole("region", { name: "Crash" });
  await expect(crash).toContainText(
    "The worker released the run between begin and commit. The effect may have happened, not happened, or still be under way.",
  );
  await expect(crash).toContainText("w-7f3a released the run");
  await expect(crash).toContainText("charge €1,249.00 to cus_R91");
  await expect(crash).toContainText(`${id}:47`);
  await expect(crash).toContainText("Recovery rule 'ask': a person must decide");
  await expect(crash).toContainText("“request sent, waiting”");
  await expectLive(admin);
  await expectAccessible(admin);
});

test("a deep link selects its step and tab, also after a reload", async ({ admin, agent, server }) => {
  const id = await crashedRun(agent);
  await admin.goto(`${server.url}/runs/${id}`);
  await expectLive(admin);
  const steps = admin.getByRole("table", { name: "Steps" });
  await steps.getByRole("row", { name: /^38 / }).getByRole("link").click();
  await expect(admin).toHaveURL(/step=38/);
  await expect(admin.getByRole("heading", { name: /^38 · match_po/ })).toBeVisible();
  await admin.getByRole("link", { name: "Attempts 1" }).click();
  await expect(admin.getByRole("table", { name: /^Attempts/ })).toContainText("w-7f3a");
  await admin.reload();
  await expect(admin.getByRole("table", { name: /^Attempts/ })).toContainText("w-7f3a");
  await admin.goBack();
  await expect(admin.getByRole("heading", { name: /^38 · match_po/ })).toBeVisible();
});

test("a live run advances while one looks", async ({ admin, agent, server }) => {
  const run = await runningRun(agent, "Weekly market brief", 3);
  await admin.goto(`${server.url}/runs/${run.id}`);
  await expectLive(admin);
  await expect(admin.getByText("Running step 4")).toBeVisible();
  await agent.begin(run, { name: "second_opinion", kind: "llm" });
  await expect(admin.getByText("Running step 5")).toBeVisible();
  await expect(admin.getByRole("table", { name: "Steps" })).toContainText("second_opinion");
});

test("a failed run shows its error, a waiting one its question", async ({ admin, agent, server }) => {
  await admin.goto(`${server.url}/runs/${await failedRun(agent)}`);
  await expect(admin.getByText("Failed at step 9")).toBeVisible();
  await expect(admin.getByText("disk quota exceeded on db-eu-2").first()).toBeVisible();
  await admin.goto(`${server.url}/runs/${await waitingRun(agent)}`);
  await expect(admin.getByText("Send €120.00 back to the customer?")).toBeVisible();
});

test("long runs come in pages that are links", async ({ admin, agent, server, browser }) => {
  const run = await runningRun(agent, "Index legal archive", 130);
  const storageState = await admin.context().storageState();
  const context = await browser.newContext({ javaScriptEnabled: false, storageState });
  const plain = await context.newPage();
  await plain.goto(`${server.url}/runs/${run.id}`);
  const steps = plain.getByRole("table", { name: "Steps" });
  await expect(steps.getByRole("link", { name: "summarise_source" })).toBeVisible();
  await plain.getByRole("link", { name: "Earlier steps" }).click();
  await expect(steps.getByRole("row").nth(1)).toContainText("72");
  await plain.getByRole("link", { name: "Later steps" }).click();
  await expect(steps.getByRole("link", { name: "summarise_source" })).toBeVisible();
  await context.close();
});

test("a list of any length shows only the rows in view", async ({ admin, agent, server }) => {
  const run = await runningRun(agent, "Index legal archive", 400);
  await admin.goto(`${server.url}/runs/${run.id}`);
  await expectLive(admin);
  const steps = admin.getByRole("table", { name: "Steps" });
  const current = steps.getByRole("link", { name: "summarise_source" });
  await expect(current).toBeInViewport();
  const rows = () => steps.getByRole("row").count();
  expect(await rows()).toBeLessThan(70);
  await admin.locator(".steps-scroll").evaluate((list) => list.scrollTo(0, 0));
  await expect(steps.getByRole("row", { name: /^1 / })).toBeInViewport();
  await expect(steps.getByRole("row", { name: /^1 / })).toContainText("fetch_invoice");
  await expect(steps).toHaveAttribute("aria-rowcount", "407");
  expect(await rows()).toBeLessThan(70);
  await admin.locator(".steps-scroll").evaluate((list) => list.scrollTo(0, 200 * 29));
  await expect(steps.getByRole("row", { name: /^205 / })).toContainText("$0.37");
});

test("the browser does not read again what the page brought", async ({ admin, agent, server }) => {
  const id = await crashedRun(agent);
  const asked: string[] = [];
  admin.on("request", (request) => {
    if (/\/api\/(runs\/one|steps\/(one|window)|decisions\/)/.test(request.url())) asked.push(request.url());
  });
  await admin.goto(`${server.url}/runs/${id}`);
  await expectLive(admin);
  expect(asked).toEqual([]);
});

test("what only flies past is not read", async ({ admin, agent, server }) => {
  const run = await runningRun(agent, "Index legal archive", 600);
  await admin.goto(`${server.url}/runs/${run.id}`);
  await expectLive(admin);
  const steps = admin.getByRole("table", { name: "Steps" });
  await expect(steps.getByRole("link", { name: "summarise_source" })).toBeInViewport();
  const asked: string[] = [];
  admin.on("request", (request) => {
    if (request.url().includes("/api/steps/")) asked.push(request.url());
  });
  // No timer can fire between two places: whatever is asked for here was asked for at once.
  await admin.locator(".steps-scroll").evaluate(async (list) => {
    for (let row = 0; row < 600; row += 90) {
      list.scrollTop = row * 29;
      list.dispatchEvent(new Event("scroll"));
      for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
    }
    list.scrollTop = 200 * 29;
  });
  await expect(steps.getByRole("row", { name: /^205 / })).toContainText("$0.37");
  expect(asked.length, "one read where it came to rest, not one for each place").toBeLessThan(4);
});

test("phases fold and unfold", async ({ admin, agent, server }) => {
  const id = await agent.create({ agent: "researcher", title: "Two phases" });
  const run = await agent.lease(id);
  for (const n of [1, 2, 3]) await agent.step(run, { key: `a${n}`, name: `gather_${n}` });
  await agent.step(run, { key: "m", name: "Gather", kind: "milestone" });
  await agent.begin(run, { key: "b", name: "reconcile_1" });
  await admin.goto(`${server.url}/runs/${id}`);
  await expectLive(admin);
  const steps = admin.getByRole("table", { name: "Steps" });
  const gather = steps.getByRole("button", { name: /Gather/ });
  await expect(gather).toHaveAttribute("aria-expanded", "false");
  await expect(gather).toContainText("steps 1–4");
  await expect(steps.getByText("gather_2")).toHaveCount(0);
  await gather.click();
  await expect(steps.getByText("gather_2")).toBeVisible();
  await gather.press("Enter");
  await expect(steps.getByText("gather_2")).toHaveCount(0);
});

test("steps are found by name, status and kind", async ({ admin, agent, server }) => {
  const id = await crashedRun(agent);
  await admin.goto(`${server.url}/runs/${id}`);
  await expectLive(admin);
  const find = admin.getByRole("searchbox", { name: "Find steps" });
  await find.fill("charge");
  await find.press("Enter");
  const found = admin.getByRole("table", { name: "Steps found" });
  await expect(found.getByRole("row")).toHaveCount(2);
  await expect(found).toContainText("charge_card");
  await find.fill("kind:llm");
  await find.press("Enter");
  await expect(found.getByRole("row")).toHaveCount(12);
  await find.fill("no such step");
  await find.press("Enter");
  await expect(admin.getByText("No step matches “no such step”.")).toBeVisible();
  await admin.getByRole("link", { name: "Show all steps" }).click();
  await expect(admin.getByRole("table", { name: "Steps", exact: true })).toContainText("charge_card");
});

test("following shows the step the run is at, and stops when one picks another", async ({ admin, agent, server }) => {
  const run = await runningRun(agent, "Weekly market brief", 60);
  await admin.goto(`${server.url}/runs/${run.id}?step=5`);
  await expectLive(admin);
  await expect(admin.getByRole("heading", { name: /^5 · / })).toBeVisible();
  await agent.begin(run, { key: "x1", name: "while_reading" });
  await expect(admin.getByText("Running step 62")).toBeVisible();
  await expect(admin.getByRole("heading", { name: /^5 · / })).toBeVisible();
  await admin.keyboard.press("f");
  await expect(admin.getByRole("heading", { name: /^62 · while_reading/ })).toBeVisible();
  await agent.begin(run, { key: "x2", name: "and_on" });
  await expect(admin.getByRole("heading", { name: /^63 · and_on/ })).toBeVisible();
  await expect(admin.getByRole("table", { name: "Steps" }).getByRole("link", { name: "and_on" })).toBeInViewport();
  await admin.keyboard.press("f");
  await agent.begin(run, { key: "x3", name: "unwatched" });
  await expect(admin.getByText("Running step 64")).toBeVisible();
  await expect(admin.getByRole("heading", { name: /^63 · and_on/ })).toBeVisible();
});

test("the inspector's tabs hold attempts, log, events and state", async ({ admin, agent, server }) => {
  const id = await agent.create({ agent: "db-migrator", title: "Tries again", state: { copied: [] } });
  const run = await agent.lease(id);
  const step = { key: "copy", name: "copy_table", retry: { max_attempts: 3, backoff_ms: 1 } };
  const first = await agent.begin(run, step);
  const at = `/runs/${id}/steps/${first.seq}`;
  const error = { kind: "Timeout", message: "no answer from db-eu-2", stack: "at copy (migrate.py:88)" };
  await agent.post(`${at}/fail`, { epoch: run.epoch, attempt: 1, error });
  const second = await agent.begin(run, step);
  const log = [{ level: "info", message: "42 rows copied" }];
  await agent.post(`${at}/progress`, { epoch: run.epoch, attempt: second.attempt, log });
  await agent.commit(run, second, { patch: [{ op: "add", path: "/copied/-", value: "orders" }] });
  await admin.goto(`${server.url}/runs/${id}?step=1&tab=attempts`);
  await expectLive(admin);
  const attempts = admin.getByRole("table", { name: /^Attempts/ });
  await expect(attempts.getByRole("row", { name: /^1 failed/ })).toContainText("Timeout: no answer from db-eu-2");
  await expect(attempts.getByRole("row", { name: /^2 committed/ })).toBeVisible();
  await admin.getByRole("link", { name: "Log 1" }).click();
  await expect(admin.getByRole("list", { name: /^Log/ })).toContainText("42 rows copied");
  await admin.getByRole("link", { name: "Events" }).click();
  const events = admin.getByRole("table", { name: /^Events/ });
  await expect(events).toContainText("step_failed");
  await expect(events).toContainText("step_committed");
  await admin.getByRole("link", { name: "State", exact: true }).click();
  await expect(admin.getByText("The state that step 1 committed.")).toBeVisible();
  await expect(admin.getByText('"orders"')).toBeVisible();
  await expectAccessible(admin);
});

test("what is not there is a real 404", async ({ admin, server, consoleErrors }) => {
  for (const path of ["/runs/no-such-run", "/runs/%20", "/no-such-page"]) {
    const response = await admin.goto(server.url + path);
    expect(response?.status(), path).toBe(404);
    await expect(admin.getByRole("heading", { name: /^There is no such/ })).toBeVisible();
    await expectAccessible(admin);
  }
  consoleErrors.length = 0; // Chromium reports a 404 as an error
});

test("the keyboard alone leads from the sign-in link to the crashed step", async ({ page, agent, server }) => {
  await crashedRun(agent);
  await page.goto(server.signInLink);
  const button = page.getByRole("button", { name: /^Sign in as / });
  await expect(button).toBeVisible();
  while (!(await button.evaluate((it) => it === document.activeElement))) await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expectLive(page);
  await page.keyboard.press("j");
  await expect(page.getByRole("link", { name: "Reconcile October invoices" }).first()).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("region", { name: "Crash" })).toContainText("charge €1,249.00 to cus_R91");
  await page.keyboard.press("[");
  await expect(page.getByRole("heading", { name: /^46 · / })).toBeVisible();
  await page.keyboard.press("n");
  await expect(page.getByRole("heading", { name: /^47 · charge_card/ })).toBeVisible();
});

for (const colorScheme of ["light", "dark"] as const) {
  for (const width of [1440, 390]) {
    test(`a run's page is accessible on every tab, ${colorScheme}, ${width} px wide`, async ({ admin, agent, server }) => {
      test.slow();
      const id = await crashedRun(agent);
      await admin.emulateMedia({ colorScheme });
      await admin.setViewportSize({ width, height: 900 });
      await admin.goto(`${server.url}/runs/${id}`);
      await expectLive(admin);
      const tabs = admin.getByRole("navigation", { name: "Parts of the step" }).getByRole("link");
      for (let n = 0; n < (await tabs.count()); n++) {
        await tabs.nth(n).click();
        await expect(tabs.nth(n)).toHaveAttribute("aria-current", "true");
        await expect(admin.getByText("Loading…")).toHaveCount(0);
        await expectAccessible(admin, colorScheme);
        const over = await admin.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        expect(over, `no sideways scrolling at ${width} px`).toBeLessThanOrEqual(0);
      }
    });
  }
}
