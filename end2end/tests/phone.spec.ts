// 390 px and a thumb: what broke comes first, and everything that decides can be reached and pressed.
import { devices } from "@playwright/test";

import { crashedRun, waitingRun, workingDay } from "../support/sample.ts";
import { expect, expectAccessible, expectLive, test } from "../support/test.ts";

const { viewport: _, defaultBrowserType: __, ...touch } = devices["iPhone 13"];
test.use({ ...touch, viewport: { width: 390, height: 844 } });

test("the crash banner comes before facts and timeline", async ({ admin, agent, server }) => {
  const id = await crashedRun(agent);
  await admin.goto(`${server.url}/runs/${id}`);
  await expectLive(admin);
  const top = async (selector: string) => (await admin.locator(selector).boundingBox())!.y;
  const banner = await top(".banner");
  expect(banner).toBeLessThan(await top(".facts"));
  expect(banner).toBeLessThan(await top(".timeline"));
  expect(banner, "without scrolling").toBeLessThan(700);
  await expectAccessible(admin);
});

test("the inbox is one tap away, on every page", async ({ admin, agent, server }) => {
  const id = await waitingRun(agent);
  for (const path of ["/", `/runs/${id}`, "/workers"]) {
    await admin.goto(server.url + path);
    await expectLive(admin);
    await admin.getByRole("banner").getByRole("link", { name: "Inbox", exact: true }).tap();
    await expect(admin).toHaveURL(`${server.url}/inbox`);
  }
});

test("no keys are shown to a thumb", async ({ admin, agent, server }) => {
  const { crashed } = await workingDay(agent);
  for (const path of ["/", "/inbox", `/runs/${crashed}`, `/runs/${crashed}?ask=resume`]) {
    await admin.goto(server.url + path);
    await expectLive(admin);
    expect(await admin.locator("kbd:visible").count(), path).toBe(0);
  }
});

test("nothing is wider than the screen, also with many links", async ({ admin, agent, server }) => {
  const links = Array.from({ length: 12 }, (_, n) => ({ label: `Dashboard of service ${n}`, url: `https://example.com/${n}` }));
  const id = await agent.create({ agent: "researcher", title: "Many links", links, labels: { team: "billing", "a-long-label": "x".repeat(60) } });
  const run = await agent.lease(id);
  await agent.begin(run, { name: "look_around", links });
  await admin.goto(`${server.url}/runs/${id}`);
  await expectLive(admin);
  const wide = await admin.evaluate(() =>
    [...document.querySelectorAll("main *, header *")]
      .filter((it) => it.checkVisibility() && it.getBoundingClientRect().right > 391)
      // What scrolls sideways by itself may be wider inside.
      .filter((it) => !it.closest(".sidebar, .tabs, .steps-scroll, .timeline-picture, .excerpt, pre"))
      .map((it) => `${it.tagName} ${it.className} ${Math.round(it.getBoundingClientRect().right)}`),
  );
  expect(wide).toEqual([]);
});

test("what is pressed is 44 px high", async ({ admin, agent, server }) => {
  const { crashed } = await workingDay(agent);
  const waiting = await waitingRun(agent);
  for (const path of ["/", "/inbox", `/runs/${crashed}`, `/runs/${crashed}?ask=resume`, `/runs/${waiting}`]) {
    await admin.goto(server.url + path);
    await expectLive(admin);
    const small = await admin.evaluate(() => {
      const scope = document.querySelector("dialog:modal") ?? document;
      return [...scope.querySelectorAll("a.button, button, summary, .tab, .segment, .filter, .needs-link, .inbox-link, .menu-item, .zoom a")]
        .filter((it) => it.checkVisibility({ visibilityProperty: true }) && !it.closest(".timeline-svg, .copy, .hidden, details:not([open]) > :not(summary)"))
        .filter((it) => it.getBoundingClientRect().height > 0 && it.getBoundingClientRect().height < 43.5)
        .map((it) => `${it.className || it.tagName}: ${it.textContent?.trim()} ${Math.round(it.getBoundingClientRect().height)}`);
    });
    expect(small, path).toEqual([]);
  }
});
