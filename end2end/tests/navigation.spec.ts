// From the list to a run and back: what is selected is in view, and what was read is where it was.
import type { Page } from "@playwright/test";

import type { Agent } from "../support/agent.ts";
import { crashedRun, runningRun } from "../support/sample.ts";
import { seen, settled } from "../support/seen.ts";
import { expect, expectLive, test } from "../support/test.ts";

const list = (page: Page) => page.getByRole("table", { name: "Runs", exact: true });

/** These many runs that nobody has begun; the last one is the newest. */
async function pending(agent: Agent, many: number, name = "crm-sync"): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 1; n <= many; n++) ids.push(await agent.create({ agent: name, title: `Backfill ${n}` }));
  return ids;
}

test("a run opened from the list shows its selected step and every word of its timeline", async ({ admin, agent, server }) => {
  test.slow();
  await crashedRun(agent, "Short and crashed");
  const long = await runningRun(agent, "Long and running", 300);
  for (const name of ["Gathered", "Written"]) await agent.step(long, { key: name, name, kind: "milestone" });
  for (let turn = 0; turn < 4; turn++) {
    for (const title of ["Short and crashed", "Long and running"]) {
      await admin.goto(server.url);
      await expectLive(admin);
      await admin.getByRole("link", { name: title }).first().click();
      await expect(admin.getByRole("heading", { level: 1, name: title })).toBeVisible();
      await expect(admin.locator(".step-row a[aria-current]")).toHaveCount(1);
      const now = await settled(admin);
      expect(now.selectedInView, `${title}, opening ${turn + 1}`).toBe(true);
      expect(now.unseen, "words of the timeline without a size").toEqual([]);
      const links = await admin.locator(".timeline-svg a").evaluateAll((all) =>
        all.map((it) => {
          const { width, height } = it.getBoundingClientRect();
          return { kind: it.namespaceURI, name: it.getAttribute("aria-label"), sized: width > 0 && height > 0 };
        }),
      );
      expect(links.length, "the crash or the second phase is a link").toBeGreaterThan(0);
      for (const { kind, name, sized } of links) {
        expect(kind, `${name}: a link in a picture is part of the picture`).toBe("http://www.w3.org/2000/svg");
        expect(sized, `${name} has a size`).toBe(true);
      }
    }
  }
});

test("back to a filtered list is back to where one was", async ({ admin, agent, server }) => {
  test.slow();
  await pending(agent, 120);
  await admin.goto(`${server.url}/?status=pending`);
  await expectLive(admin);
  const deep = admin.getByRole("link", { name: "Backfill 31", exact: true });
  while ((await deep.count()) === 0) await admin.mouse.wheel(0, 600);
  await deep.scrollIntoViewIfNeeded();
  const before = (await deep.boundingBox())!.y;
  await deep.click();
  await expect(admin.getByRole("heading", { level: 1, name: "Backfill 31" })).toBeVisible();
  await admin.goBack();
  await expect(deep).toBeInViewport();
  expect(Math.abs((await deep.boundingBox())!.y - before), "moved by pixels").toBeLessThan(8);
  await list(admin).getByRole("link", { name: "Backfill 32", exact: true }).click();
  await expect(admin.getByRole("heading", { level: 1, name: "Backfill 32" })).toBeVisible();
});

test("following stops when the reader scrolls up", async ({ admin, agent, server }) => {
  const run = await runningRun(agent, "Weekly market brief", 120);
  await admin.goto(`${server.url}/runs/${run.id}?follow=1`);
  await expectLive(admin);
  const following = admin.getByRole("button", { name: /^Following/ });
  await expect(following).toBeVisible();
  await expect.poll(async () => (await seen(admin)).selectedInView).toBe(true);
  await admin.locator(".steps-scroll").hover();
  await admin.mouse.wheel(0, -900);
  await expect(following).toHaveCount(0);
  const first = () => admin.locator(".steps-scroll").evaluate((it) => it.scrollTop);
  const before = await first();
  await agent.begin(run, { key: "x1", name: "while_reading" });
  await expect(admin.getByText("Running step 122")).toBeVisible();
  expect(await first(), "the list stays where the reader is").toBe(before);
});

test("zoom keeps the selected step in the middle", async ({ admin, agent, server }) => {
  const id = await crashedRun(agent);
  await admin.goto(`${server.url}/runs/${id}?by=steps&step=30`);
  await expectLive(admin);
  const timeline = admin.getByRole("region", { name: "Timeline" });
  const shown = async () => {
    const [, from, to] = /steps (\d+)–(\d+)/.exec((await timeline.textContent()) ?? "")!;
    return [Number(from), Number(to)] as const;
  };
  await timeline.getByRole("link", { name: "Zoom in" }).click();
  await expect.poll(shown).not.toEqual([1, 47]);
  const [from, to] = await shown();
  expect(Math.abs((from + to) / 2 - 30)).toBeLessThanOrEqual(1);
  await timeline.getByRole("slider").focus();
  await admin.keyboard.press("+");
  await expect.poll(shown).not.toEqual([from, to]);
  const [nearer, farther] = await shown();
  expect(Math.abs((nearer + farther) / 2 - 30)).toBeLessThanOrEqual(1);
});
