// What axe finds beyond the rules of WCAG, and what a reader sees crooked.
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "@playwright/test";

import { crashedRun, runningRun, waitingRun } from "../support/sample.ts";
import { expect, expectAccessible, expectLive, test } from "../support/test.ts";

/** Landmarks have names of their own, and what scrolls can be scrolled by keys. */
async function expectNamed(page: Page): Promise<void> {
  const rules = ["landmark-unique", "landmark-no-duplicate-main", "link-name", "scrollable-region-focusable", "svg-img-alt", "aria-allowed-role"];
  const { violations } = await new AxeBuilder({ page }).withRules(rules).analyze();
  const found = violations.map((it) => `${it.id}: ${it.help}\n  ${it.nodes.map((node) => node.html).join("\n  ")}`);
  expect(found).toEqual([]);
}

for (const colorScheme of ["light", "dark"] as const) {
  test(`superseded steps are readable, ${colorScheme}`, async ({ admin, agent, server }) => {
    const id = await agent.create({ agent: "researcher", title: "Rewound" });
    const run = await agent.lease(id);
    for (const n of [1, 2, 3]) await agent.step(run, { key: `s${n}`, name: `gather_${n}`, kind: "tool", tool: "web.get" });
    await agent.die(run);
    await admin.emulateMedia({ colorScheme });
    await admin.goto(`${server.url}/runs/${id}?step=2&ask=rewind`);
    await expectLive(admin);
    await admin.getByRole("dialog").getByLabel("Reason").fill("the second was wrong");
    await admin.getByRole("button", { name: "Rewind run" }).click();
    await expect(admin.locator(".is-superseded")).toHaveCount(2);
    await expectAccessible(admin);
  });
}

test("landmarks have names of their own", async ({ admin, agent, server }) => {
  const id = await crashedRun(agent);
  await waitingRun(agent);
  await waitingRun(agent);
  for (const path of ["/", "/inbox", `/runs/${id}`, `/runs/${id}/edit`, "/audit", "/settings"]) {
    await admin.goto(server.url + path);
    await expectLive(admin);
    await expectNamed(admin);
  }
});

test("links of the timeline have names at 390 px", async ({ admin, agent, server }) => {
  const id = await agent.create({ agent: "db-migrator", title: "Failed twice" });
  const run = await agent.lease(id);
  for (const n of [1, 2]) {
    const begun = await agent.begin(run, { key: `copy-${n}`, name: "copy_table" });
    const error = { kind: "DiskFull", message: "no room" };
    await agent.post(`/runs/${id}/steps/${begun.seq}/fail`, { epoch: run.epoch, attempt: begun.attempt, error, retryable: false });
  }
  await admin.setViewportSize({ width: 390, height: 844 });
  await admin.goto(`${server.url}/runs/${id}`);
  await expectLive(admin);
  await expectNamed(admin);
  const links = await admin.locator(".timeline-svg a").all();
  expect(links.length).toBeGreaterThan(0);
  for (const link of links) {
    const { seen, named } = await link.evaluate((it) => ({
      seen: it.checkVisibility(),
      named: it.hasAttribute("aria-label") || [...it.querySelectorAll("text")].some((text) => text.checkVisibility()),
    }));
    expect(named || !seen, "a link that is there has a name").toBe(true);
  }
});

/** Rows of the step list that its head covers in part. */
const covered = (page: Page) =>
  page.evaluate(() => {
    const list = document.querySelector(".steps-scroll")!;
    const head = list.querySelector("thead")!.getBoundingClientRect().bottom;
    const cut = [...list.querySelectorAll(".step-row, .phase-row")].filter((it) => {
      const { top, bottom } = it.getBoundingClientRect();
      return top < head - 2 && bottom > head + 2;
    });
    return cut.map((it) => it.textContent);
  });

/** By how much the document is higher than the window. */
const over = (page: Page) => page.evaluate(() => document.documentElement.scrollHeight - window.innerHeight);

test("the step list of a run that goes on begins with a whole row, whatever grows above it", async ({ admin, agent, server }) => {
  const run = await runningRun(agent, "Index legal archive", 130);
  await admin.goto(server.url);
  await expectLive(admin);
  await admin.getByRole("link", { name: "Index legal archive" }).first().click();
  await expect(admin.locator(".step-row a[aria-current]")).toBeInViewport();
  await expect.poll(() => covered(admin), "opened from the list").toEqual([]);
  const high = () => admin.locator(".steps-scroll").evaluate((it) => it.clientHeight);
  const before = await high();
  // Parallel steps get lanes: the list becomes lower.
  for (let n = 1; n <= 3; n++) await agent.begin(run, { key: `p${n}`, name: "in_parallel" });
  await expect.poll(high).toBeLessThan(before);
  await expect.poll(() => covered(admin), "with lanes above").toEqual([]);
  await admin.locator(".steps-scroll").evaluate((it) => it.scrollTo(0, it.scrollHeight));
  await expect.poll(() => covered(admin), "at its end").toEqual([]);
  for (const height of [977, 903, 850]) {
    await admin.setViewportSize({ width: 1440, height });
    await admin.locator(".steps-scroll").evaluate((it) => it.scrollTo(0, it.scrollHeight));
    await expect.poll(() => covered(admin), `at its end, ${height} px high`).toEqual([]);
  }
});

test("parallel steps, child runs, input and decisions leave the page as high as the window", async ({ admin, agent, server }) => {
  const id = await agent.create({ agent: "researcher", title: "Crowded", input: { order: "A-1" } });
  const run = await agent.lease(id);
  for (let n = 1; n <= 8; n++) await agent.begin(run, { key: `p${n}`, name: `part_${n}` });
  for (let n = 1; n <= 9; n++) {
    const held = await agent.lease(await agent.create({ agent: "child", title: `Child ${n}`, parent: { run: id, seq: 8 } }));
    await agent.finish(held, n === 9 ? "failed" : "done");
  }
  await admin.goto(`${server.url}/runs/${id}`);
  await expectLive(admin);
  await expect(admin.getByRole("list", { name: "Child runs" })).toBeVisible();
  await expect.poll(() => over(admin)).toBeLessThanOrEqual(0);
  await expectNamed(admin);
});

test("a run's page fits the window, and its list begins with a whole row", async ({ admin, agent, server }) => {
  const long = await runningRun(agent, "Index legal archive", 130);
  const crashed = await crashedRun(agent);
  for (const [width, height] of [[1440, 900], [1280, 800]] as const) {
    await admin.setViewportSize({ width, height });
    for (const path of [`/runs/${crashed}`, `/runs/${long.id}`, `/runs/${long.id}?step=60`]) {
      await admin.goto(server.url + path);
      await expectLive(admin);
      expect(await over(admin), `${path} at ${width} × ${height} is too high`).toBeLessThanOrEqual(0);
      await expect.poll(() => covered(admin), `${path}: rows half under the head`).toEqual([]);
    }
  }
});
