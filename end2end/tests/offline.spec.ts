// A page that hears nothing claims nothing: what is shown is as old as the last word from the server.
import { runningRun, waitingRun } from "../support/sample.ts";
import { expect, expectLive, test } from "../support/test.ts";

test("what ticks stands still while the connection is lost, and says as of when", async ({ admin, agent, server, consoleErrors }) => {
  const run = await runningRun(agent, "Weekly market brief", 3);
  await admin.goto(`${server.url}/runs/${run.id}`);
  await expectLive(admin);
  const connection = admin.getByRole("banner").getByRole("status");
  await admin.context().setOffline(true);
  await expect(connection).toContainText(/^connection lost, as of \d\d:\d\d/);
  const facts = admin.locator(".facts");
  const before = await facts.textContent();
  // Three seconds by the browser's own clock.
  await admin.evaluate(() => new Promise((resolve) => setTimeout(resolve, 3_000)));
  expect(await facts.textContent()).toBe(before);
  await admin.context().setOffline(false);
  await expect(connection).toHaveText("live");
  await expect(facts).not.toHaveText(before ?? "");
  consoleErrors.length = 0; // Chromium reports a lost connection as an error
});

test("the inbox recovers by itself", async ({ admin, agent, server, consoleErrors }) => {
  await waitingRun(agent);
  await admin.goto(server.url);
  await expectLive(admin);
  await admin.context().setOffline(true);
  await expect(admin.getByRole("banner").getByRole("status")).toContainText("connection lost");
  await admin.getByRole("link", { name: "Inbox", exact: true }).first().click();
  await expect(admin).toHaveURL(`${server.url}/inbox`);
  await admin.context().setOffline(false);
  await expectLive(admin);
  await expect(admin.getByRole("article", { name: "Send €120.00 back to the customer?" })).toBeVisible();
  consoleErrors.length = 0; // Chromium reports a lost connection as an error
});
