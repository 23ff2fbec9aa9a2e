// 390 px and a thumb: what broke comes first, and everything that decides can be reached and pressed.
import { devices } from "@playwright/test";

import { crashedRun, failedRun, waitingRun, workingDay } from "../support/sample.ts";
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

test("cards are not headed by the name of a column", async ({ admin, agent, server }) => {
  await waitingRun(agent);
  await admin.goto(server.url);
  await expectLive(admin);
  const word = admin.getByRole("table", { name: "Runs", exact: true }).locator("thead .col-run > span").first();
  await expect(word).toHaveText("Run");
  expect((await word.boundingBox())!.height, "only heard, not seen").toBeLessThan(2);
});

test("a step's events fit the screen, with what they say", async ({ admin, agent, server }) => {
  const id = await crashedRun(agent);
  await admin.goto(`${server.url}/runs/${id}?step=47&tab=events`);
  await expectLive(admin);
  const events = admin.getByRole("region", { name: "Events" });
  await expect(events.locator(".event-data").first()).toBeVisible();
  const beyond = await events.evaluate((it) => it.scrollWidth - it.clientWidth);
  expect(beyond, "nothing to scroll sideways").toBeLessThanOrEqual(0);
  await expectAccessible(admin);
});

test("what is pressed is 44 px high", async ({ admin, agent, server }) => {
  const { crashed } = await workingDay(agent);
  const waiting = await waitingRun(agent);
  const pages = ["/", "/inbox", "/settings", "/audit", `/runs/${crashed}`, `/runs/${crashed}?ask=resume`, `/runs/${waiting}`, `/runs/${crashed}/edit`];
  for (const path of pages) {
    await admin.goto(server.url + path);
    await expectLive(admin);
    if (path === "/settings") {
      // A link that is shown once stands in a field with a button of its own.
      await admin.getByLabel("Name of the person").fill("vera");
      await admin.getByRole("button", { name: "Add person" }).tap();
      await expect(admin.locator(".copy").getByRole("button")).toBeVisible();
    }
    const small = await admin.evaluate(() => {
      const scope = document.querySelector("dialog:modal") ?? document;
      const targets = [
        "a.button, button, summary, .tab, .segment, .filter, .needs-link, .inbox-link, .menu-item, .zoom a",
        "input:not([type=hidden]), select, textarea, .step-row, .run-title",
      ];
      /** What a thumb hits: a box is pressed by its label, a row by its link. */
      const hit = (it: Element) => {
        const label = it.matches("[type=checkbox], [type=radio]") ? it.closest("label") : null;
        const around = (label ?? it).getBoundingClientRect();
        // A title's link may be taller than its line: what lies around it leads there too.
        const below = getComputedStyle(it, "::after");
        return below.position === "absolute" && below.content !== "none" ? Math.max(around.height, parseFloat(below.height) || 0) : around.height;
      };
      return [...scope.querySelectorAll(targets.join(", "))]
        .filter((it) => it.checkVisibility({ visibilityProperty: true }) && !it.closest(".timeline-svg, .hidden, .is-hidden, .cm-editor, details:not([open]) > :not(summary)"))
        .filter((it) => hit(it) > 0 && hit(it) < 43.5)
        .map((it) => `${it.className || it.tagName}: ${it.textContent?.trim()} ${Math.round(hit(it))}`);
    });
    expect(small, path).toEqual([]);
  }
});

test("a card says which effect is unknown, and leads to what may be done", async ({ admin, agent, server }) => {
  const id = await crashedRun(agent);
  await admin.goto(server.url);
  await expectLive(admin);
  const card = admin.getByRole("region", { name: /^Needs you/ }).locator(`[data-run="${id}"]`);
  await expect(card).toContainText(/charge €1,249\.00 to cus_R91 may have happened\. The worker released the run (now|.+ ago)\./);
  await expect(card.getByRole("link", { name: "Decide" })).toBeVisible();
  await card.getByRole("link", { name: "Review & resume" }).tap();
  await expect(admin.getByRole("dialog")).toBeVisible();
  await expect(admin).toHaveURL(`${server.url}/runs/${id}?ask=resume`);
});

test("a failed card says how often it was tried, and with which error", async ({ admin, agent, server }) => {
  const id = await failedRun(agent);
  await admin.goto(server.url);
  await expectLive(admin);
  const card = admin.getByRole("region", { name: /^Needs you/ }).locator(`[data-run="${id}"]`);
  await expect(card).toContainText("Failed at 9 · copy_table", { ignoreCase: true });
  await expect(card.locator(".run-about")).toHaveText("1 attempt · “disk quota exceeded on db-eu-2”");
  await expect(card.locator(".run-about")).toBeVisible();
});

test("a gate that only needs approval is approved from its card, with a reason", async ({ admin, agent, server }) => {
  const id = await waitingRun(agent);
  await admin.goto(server.url);
  await expectLive(admin);
  const card = admin.getByRole("region", { name: /^Needs you/ }).locator(`[data-run="${id}"]`);
  await expect(card).toContainText("Send €120.00 back to the customer?");
  await expect(card.getByRole("link", { name: "Reject…" })).toBeVisible();
  const approve = card.getByRole("link", { name: "Approve: Send €120.00 back to the customer" });
  const { width, height } = (await approve.boundingBox())!;
  expect(height, "a thumb's height").toBeGreaterThanOrEqual(43.5);
  expect(width).toBeLessThan(390);
  await approve.tap();
  const dialog = admin.getByRole("dialog", { name: "Approve: Send €120.00 back to the customer" });
  await expect(dialog).toContainText("The agent goes on, told that it was approved.");
  await expectAccessible(admin);
  await dialog.getByLabel("Reason").fill("neighbour confirmed");
  await dialog.getByRole("button", { name: "Approve: Send €120.00 back to the customer" }).tap();
  await expect(admin.locator(".run-head .pill")).toHaveText(/^Queued/);
  const { step } = await agent.get<{ step: { decision: string } }>(`/runs/${id}/steps/13`);
  expect(step.decision).toBe("approve");
});

test("a gate that asks for more than approval has no such button", async ({ admin, agent, server }) => {
  const id = await agent.create({ agent: "support-triage", title: "Pick a tone", state: {} });
  const run = await agent.lease(id);
  await agent.begin(run, { key: "ask", name: "ask", kind: "gate", gate: { title: "Which tone?", choices: ["Formal", "Short"] } });
  await agent.die(run);
  await admin.goto(server.url);
  await expectLive(admin);
  const card = admin.getByRole("region", { name: /^Needs you/ }).locator(`[data-run="${id}"]`);
  await expect(card).toContainText("Which tone?");
  await expect(card.getByRole("link", { name: /^Approve/ })).toHaveCount(0);
  // Nor is it asked above the page.
  await admin.goto(`${server.url}/runs/${id}?step=1&ask=approve`);
  await expectLive(admin);
  await expect(admin.getByRole("radio", { name: "Formal" })).toBeVisible();
  await expect(admin.getByRole("dialog")).toHaveCount(0);
});

test("nothing of the list, the inbox and a gate's page is wider than the screen", async ({ admin, agent, server }) => {
  await workingDay(agent);
  const id = await waitingRun(agent);
  for (const path of ["/", "/inbox", `/runs/${id}`, `/runs/${id}?ask=approve`, "/settings", "/audit"]) {
    await admin.goto(server.url + path);
    await expectLive(admin);
    const over = await admin.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    expect(over, path).toBeLessThanOrEqual(0);
  }
});
