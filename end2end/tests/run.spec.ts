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
    "Lease lost between begin and commit. The effect may have happened, not happened, or still be under way.",
  );
  await expect(crash).toContainText("charge €1,249.00 to cus_R91");
  await expect(crash).toContainText(`${id}:47`);
  await expect(crash).toContainText("rule ask: an operator decides");
  await expect(crash).toContainText("“request sent, waiting”");
  await expectLive(admin);
  await expectAccessible(admin);
});

test("a deep link selects its step and tab, also after a reload", async ({ admin, agent, server }) => {
  const id = await crashedRun(agent);
  await admin.goto(`${server.url}/runs/${id}`);
  await expectLive(admin);
  const steps = admin.getByRole("table", { name: "Steps" });
  await steps.getByRole("link", { name: "match_po" }).first().click();
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
  await expect(steps.getByRole("row").nth(1)).toContainText("22");
  await expect(steps.getByRole("row")).toHaveCount(101);
  await plain.getByRole("link", { name: "Later steps" }).click();
  await expect(steps.getByRole("link", { name: "summarise_source" })).toBeVisible();
  await context.close();
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
