// Who did what, and who tried: filtered, exported, verified; and many runs with one cause.
import { readFile } from "node:fs/promises";

import type { Agent } from "../support/agent.ts";
import { crashedRun, failedRun } from "../support/sample.ts";
import { expect, expectAccessible, expectLive, test } from "../support/test.ts";

test("decisions and sign-ins are listed, filtered, exported and verified", async ({ admin, agent, server }) => {
  const id = await failedRun(agent);
  await admin.goto(`${server.url}/runs/${id}/resume`);
  await expectLive(admin);
  await admin.getByLabel("Reason").fill("quota raised");
  await admin.getByRole("button", { name: "Resume run" }).click();
  await expect(admin.locator(".run-head .pill")).toHaveText(/^Queued/);
  await admin.keyboard.press("g");
  await admin.keyboard.press("a");
  await expect(admin).toHaveURL(/\/audit$/);
  const log = admin.getByRole("table", { name: "Audit log" });
  await expect(log.getByRole("row").nth(1)).toContainText("resume");
  await expect(log.getByRole("row").nth(1)).toContainText("quota raised");
  await expect(log).toContainText("sign in");
  await admin.getByLabel("What").selectOption("session");
  await admin.getByRole("button", { name: "Filter" }).click();
  await expect(admin).toHaveURL(/kind=session/);
  await expect(log).not.toContainText("quota raised");
  await expect(log).toContainText("sign in");
  await admin.getByRole("link", { name: "Clear" }).click();
  await admin.getByRole("button", { name: "Verify the chain" }).click();
  await expect(admin.getByText(/^Verified to entry \d+, head [0-9a-f]{12}/)).toBeVisible();
  const download = admin.waitForEvent("download");
  await admin.getByRole("link", { name: "Export JSON lines" }).click();
  const path = await (await download).path();
  const lines = (await readFile(path, "utf8")).trim().split("\n").map((line) => JSON.parse(line) as { action: string; reason?: string });
  // Reading the export is written down too, before it is read.
  expect(lines.at(-1)).toMatchObject({ action: "export_audit" });
  expect(lines.at(-2)).toMatchObject({ action: "resume", reason: "quota raised" });
  expect(lines.length).toBeGreaterThan(1);
});

test("a refused attempt is written down", async ({ admin, agent, server, consoleErrors }) => {
  const id = await crashedRun(agent);
  const body = JSON.stringify({ kind: "resume", if_version: 999, reason: "too late" });
  const headers = { authorization: `Bearer ${agent.token}`, "content-type": "application/json" };
  await fetch(`${server.url}/v1/runs/${id}/decisions`, { method: "POST", headers, body });
  await admin.goto(`${server.url}/audit?kind=refused`);
  await expect(admin.getByRole("table", { name: "Audit log" })).toContainText("refused:");
  consoleErrors.length = 0;
});

test("the log is accessible in both themes, wide and narrow", async ({ admin, agent, server }) => {
  await crashedRun(agent);
  for (const colorScheme of ["light", "dark"] as const) {
    for (const width of [1440, 390]) {
      await admin.emulateMedia({ colorScheme });
      await admin.setViewportSize({ width, height: 844 });
      await admin.goto(`${server.url}/audit`);
      await expectLive(admin);
      await expectAccessible(admin, colorScheme);
      const over = await admin.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      expect(over, `no sideways scrolling at ${width} px`).toBeLessThanOrEqual(0);
    }
  }
});

/** Runs that stopped at the same step of the same code, without an effect. */
async function alike(agent: Agent, count: number): Promise<string[]> {
  const ids = [];
  for (let n = 1; n <= count; n++) {
    const id = await agent.create({ agent: "support-triage", title: `Ticket ${n}`, version: "2.0.4", on_crash: "hold" });
    const run = await agent.lease(id);
    await agent.begin(run, { key: "embed", name: "embed_query" });
    await agent.die(run);
    ids.push(id);
  }
  return ids;
}

test("fifty crashes with one cause: one first, then the rest, with a result each", async ({ admin, agent, server }) => {
  test.slow();
  const ids = await alike(agent, 50);
  await admin.goto(server.url);
  await expectLive(admin);
  await admin.getByRole("link", { name: "50 runs" }).click();
  await expect(admin.getByText("50 runs stopped for this reason")).toBeVisible();
  await admin.getByRole("link", { name: "Resume one first…" }).click();
  await admin.getByLabel("Reason").fill("one first");
  await admin.getByRole("button", { name: "Resume run" }).click();
  await expect(admin.locator(".run-head .pill")).toHaveText(/^Queued/);
  await admin.goto(server.url);
  await expectLive(admin);
  await admin.getByRole("link", { name: "49 runs" }).click();
  await admin.getByRole("button", { name: "Select all 49" }).click();
  await expect(admin.getByText("49 selected")).toBeVisible();
  await admin.getByRole("region", { name: "Selected runs" }).getByRole("button", { name: "Resume…" }).click();
  const dialog = admin.getByRole("dialog");
  await expect(dialog).toContainText("A run with an unknown effect is left for you to look at");
  await dialog.getByRole("textbox", { name: "Reason" }).fill("embedding service is back");
  await dialog.getByRole("button", { name: "Resume 49 runs" }).click();
  await expect(dialog.getByRole("heading", { name: "Resumed 49 runs" })).toBeVisible();
  for (const id of ids) {
    const { run } = await agent.get<{ run: { status: string } }>(`/runs/${id}`);
    expect(run.status).toBe("ready");
  }
});

test("a run with an unknown effect is left out of the many", async ({ admin, agent, server }) => {
  const id = await crashedRun(agent);
  await alike(agent, 1);
  await admin.goto(`${server.url}/?status=crashed`);
  await expectLive(admin);
  await admin.getByRole("checkbox", { name: "Select all runs shown" }).click();
  await admin.getByRole("region", { name: "Selected runs" }).getByRole("button", { name: "Resume…" }).click();
  const dialog = admin.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Reason" }).fill("all of them");
  await dialog.getByRole("button", { name: "Resume 2 runs" }).click();
  await expect(dialog.getByRole("heading", { name: "Resumed 1 run" })).toBeVisible();
  await expect(dialog).toContainText("the effect of charge_card is unknown: look at it");
  expect((await agent.get<{ run: { status: string } }>(`/runs/${id}`)).run.status).toBe("crashed");
});
