// Many runs at once: what is announced would come up, and an order reaches every run that the list finds.
import type { Page } from "@playwright/test";

import type { Agent } from "../support/agent.ts";
import { statusOf } from "../support/crash.ts";
import { expect, expectAccessible, expectLive, test } from "../support/test.ts";

const list = (page: Page) => page.getByRole("table", { name: "Runs", exact: true });

/** These many runs that lost their lease at the same step of the same code. */
async function oneCause(agent: Agent, many: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 1; n <= many; n++) {
    const id = await agent.create({ agent: "support-triage", title: `Ticket ${n}`, version: "2.0.4", on_crash: "hold" });
    const run = await agent.lease(id);
    await agent.begin(run, { key: "embed", name: "embed_query" });
    await agent.die(run);
    ids.push(id);
  }
  return ids;
}

test("only runs that would come up are announced", async ({ admin, agent }) => {
  const ids: string[] = [];
  for (let n = 1; n <= 60; n++) ids.push(await agent.create({ agent: "crm-sync", title: `Backfill ${n}` }));
  await admin.reload();
  await expectLive(admin);
  await expect(list(admin).getByRole("row", { name: "Backfill 60" })).toBeVisible();
  // The oldest two are beyond the first page, and live.
  const [first, second] = [await agent.lease(ids[0]!), await agent.lease(ids[1]!)];
  await agent.begin(first, { name: "read_notes" });
  await agent.begin(second, { name: "read_notes" });
  await agent.create({ agent: "crm-sync", title: "Backfill 61" });
  const announced = list(admin).getByRole("button", { name: / new$/ });
  await expect(announced).toHaveText("1 new");
  await announced.click();
  await expect(list(admin).getByRole("row", { name: "Backfill 61" })).toBeVisible();
  await agent.begin(first, { name: "write_notes" });
  // A run that is shown hears of the event after it, so the page has heard of this one.
  const shown = await agent.lease(ids[59]!);
  await agent.begin(shown, { name: "heard_of" });
  await expect(list(admin).getByRole("row", { name: "Backfill 60" })).toContainText("heard_of");
  await expect(announced).toHaveCount(0);
});

test("the box above the list says how many of its rows are selected", async ({ admin, agent, server }) => {
  await oneCause(agent, 3);
  await admin.goto(`${server.url}/?status=crashed`);
  await expectLive(admin);
  const all = list(admin).getByRole("columnheader").getByRole("checkbox");
  const drawn = () => all.evaluate((it: HTMLInputElement) => (it.indeterminate ? "some" : it.checked ? "all" : "none"));
  await expect(all).toHaveAccessibleName("Select all runs shown");
  for (const n of [1, 2]) await list(admin).getByRole("checkbox", { name: `Select Ticket ${n}` }).click();
  await expect(all).toHaveAccessibleName("2 of 3 selected");
  await expect(all).toHaveAttribute("aria-checked", "mixed");
  await expect.poll(drawn).toBe("some");
  await expectAccessible(admin);
  await list(admin).getByRole("checkbox", { name: "Select Ticket 3" }).click();
  await expect(all).toHaveAccessibleName("3 of 3 selected");
  await expect(all).not.toHaveAttribute("aria-checked");
  await expect.poll(drawn).toBe("all");
  await list(admin).getByRole("checkbox", { name: "Select Ticket 3" }).click();
  await expect.poll(drawn).toBe("some");
  await all.click();
  await expect(all).toHaveAccessibleName("Select all runs shown");
  await expect.poll(drawn, { message: "a click on a part of them selects none" }).toBe("none");
});

test("an order whose answer got lost is not refused: the page asks again and says what happened", async ({ admin, agent, server, consoleErrors }) => {
  const ids = await oneCause(agent, 3);
  await admin.goto(`${server.url}/?status=crashed`);
  await expectLive(admin);
  for (const n of [1, 2, 3]) await list(admin).getByRole("checkbox", { name: `Select Ticket ${n}` }).click();
  const bar = admin.getByRole("region", { name: "Selected runs" });
  await bar.getByRole("button", { name: "Resume…" }).click();
  const dialog = admin.getByRole("dialog");
  await dialog.getByLabel("Reason").fill("the index is back");
  let sent = 0;
  let answer = () => {};
  const looked = new Promise<void>((resolve) => (answer = resolve));
  await admin.route("**/api/groups/resume", async (route) => {
    sent += 1;
    if (sent > 1) {
      await looked;
      return route.continue();
    }
    await route.fetch();
    return route.abort("connectionreset");
  });
  await dialog.getByRole("button", { name: "Resume 3 runs" }).click();
  await expect(dialog.getByText(/Not known yet/)).toBeVisible();
  await expect(dialog.getByText(/refused/i)).toHaveCount(0);
  answer();
  await expect(dialog.getByRole("heading")).toHaveText("Resumed 3 runs");
  await expect(dialog.getByText(/refused|Not known/i)).toHaveCount(0);
  expect(sent, "it was sent again").toBeGreaterThan(1);
  for (const id of ids) {
    expect(await statusOf(agent, id)).toBe("ready");
    const { events } = await agent.get<{ events: { kind: string }[] }>(`/events?run=${id}&after=0`);
    expect(events.filter((it) => it.kind === "decision"), "each was decided about once").toHaveLength(1);
  }
  consoleErrors.length = 0; // Chromium reports the lost answer
});

test("“Select all 60” takes all 60, says how far it is and what came of each", async ({ admin, agent, server }) => {
  test.slow();
  const ids = await oneCause(agent, 60);
  await admin.goto(server.url);
  await expectLive(admin);
  const group = admin.getByRole("region", { name: /^Needs you/ }).getByRole("row", { name: "60 runs" });
  await group.getByRole("link").first().click();
  await admin.getByRole("button", { name: "Select all 60" }).click();
  const bar = admin.getByRole("region", { name: "Selected runs" });
  await expect(bar).toContainText("60 selected");
  await bar.getByRole("button", { name: "Resume…" }).click();
  const dialog = admin.getByRole("dialog");
  await dialog.getByLabel("Reason").fill("the index is back");
  // Each part of the order waits until the page was seen to say how far it is.
  let look: () => void = () => {};
  const seen = new Promise<void>((resolve) => (look = resolve));
  let parts = 0;
  await admin.route("**/api/groups/resume", async (route) => {
    parts += 1;
    if (parts === 2) await seen;
    await route.continue();
  });
  await dialog.getByRole("button", { name: "Resume 60 runs" }).click();
  await expect(dialog.getByRole("status")).toContainText(/^\d+ of 60 done/);
  look();
  await expect(dialog.getByRole("heading")).toHaveText("Resumed 60 runs");
  await expect(dialog.getByRole("list", { name: "Result for each run" }).getByRole("listitem")).toHaveCount(60);
  await dialog.getByRole("button", { name: "Close" }).click();
  await expect(bar.getByRole("button")).toHaveCount(0);
  await expect(list(admin).getByRole("checkbox", { checked: true })).toHaveCount(0);
  await expect(list(admin).getByRole("row", { name: /^Select Ticket|Ticket \d/ })).toHaveCount(0);
  for (const id of [ids[0]!, ids[59]!]) expect(await statusOf(agent, id)).toBe("ready");
});
