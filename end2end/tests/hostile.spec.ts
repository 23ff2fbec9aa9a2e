// Agent output is hostile: whatever titles, names, errors and states hold, it is text, it stays in its place, and
// nothing of it runs.
import type { Page } from "@playwright/test";

import type { Agent } from "../support/agent.ts";
import { expect, expectLive, test } from "../support/test.ts";

const SCRIPT = `<script>document.title='pwned'</script>`;
const IMAGE = `<img src=x onerror="document.title='pwned'">`;
const LINK = `<a href="javascript:document.title='pwned'">click</a>`;
const TURNED = "\u202Etxt.exe\u202C \u2067rtl\u2069 \u200F";
const EMOJI = "👩‍👩‍👧‍👦🏴‍☠️🇪🇺 Z̷̢̛͚a̷l̸g̵o̶";
const UNBROKEN = "W".repeat(180);
const LONG = "long ".repeat(200_000); // 1 MB
const ONE_WORD = "x".repeat(1_000_000);

/** 100 levels, as deep as a sane agent never goes. */
function deep(): unknown {
  let value: unknown = { html: IMAGE };
  for (let n = 0; n < 100; n++) value = n % 2 ? [value] : { [`k${n}`]: value };
  return value;
}

/** A run in which everything that an agent may write is hostile; it waits for a person. */
async function hostileRun(agent: Agent): Promise<string> {
  const id = await agent.create({
    agent: `${SCRIPT}${TURNED}`.slice(0, 150),
    title: `${IMAGE}${TURNED}${EMOJI} ${"word ".repeat(10)}`.slice(0, 195),
    version: "<b>1</b>",
    model: `"><svg onload=alert(1)>`,
    labels: { [`<i>key</i>`]: UNBROKEN },
    input: { html: SCRIPT, long: LONG },
    state: { html: SCRIPT, deep: deep(), word: ONE_WORD, [IMAGE]: TURNED },
    plan: [{ name: UNBROKEN }],
    on_crash: "hold",
  });
  const run = await agent.lease(id);
  const first = await agent.begin(run, { key: `${IMAGE}-1`, name: UNBROKEN, kind: "llm", input: { html: IMAGE, deep: deep() } });
  const patch = [{ op: "add", path: "/more", value: { html: LINK, list: Array.from({ length: 500 }, () => EMOJI) } }];
  await agent.commit(run, first, { result: { html: LINK, long: LONG }, patch });
  const second = await agent.begin(run, { key: "fails", name: `${LINK}${TURNED}`, retry: { max_attempts: 1, backoff_ms: 0 } });
  const error = { kind: SCRIPT, message: `${IMAGE} ${"y".repeat(5_000)}`, stack: `${TURNED}\n`.repeat(200) };
  const at = { epoch: run.epoch, attempt: second.attempt };
  await agent.post(`/runs/${id}/steps/${second.seq}/fail`, { ...at, error, retryable: false });
  const third = await agent.begin(run, {
    key: "effect",
    name: `${EMOJI} ${IMAGE}`,
    tool: UNBROKEN,
    input: [ONE_WORD],
    effect: { target: `${SCRIPT}${UNBROKEN}`, description: `${TURNED}${LINK}` },
  });
  await agent.post(`/runs/${id}/steps/${third.seq}/progress`, {
    epoch: run.epoch,
    attempt: third.attempt,
    log: [{ level: "info", message: `${IMAGE}${UNBROKEN}` }],
  });
  await agent.die(run);
  return id;
}

/** Nothing ran, nothing came in as markup, and the page does not scroll sideways. */
async function expectHarmless(page: Page, where: string): Promise<void> {
  const found = await page.evaluate(() => ({
    over: document.documentElement.scrollWidth - window.innerWidth,
    wide: [...document.querySelectorAll("body *")]
      .filter((element) => element.getBoundingClientRect().right > window.innerWidth && !element.closest(".sidebar"))
      .slice(0, 8)
      .map((element) => `${element.tagName}.${element.getAttribute("class")}`),
    title: document.title,
    foreign: document.querySelectorAll("main img, main script, main [onerror], main [onload], a[href^='javascript']").length,
  }));
  expect(found.over, `${where} does not scroll sideways: ${found.wide.join(" ")}`).toBeLessThanOrEqual(0);
  expect(found.title, where).toContain("Step47");
  expect(found.title.startsWith("pwned"), where).toBe(false);
  expect(found.foreign, `${where} holds only its own elements`).toBe(0);
}

for (const width of [1440, 390]) {
  test(`hostile output breaks nothing and runs nothing, ${width} px wide`, async ({ admin, agent, server }) => {
    test.slow();
    const id = await hostileRun(agent);
    await admin.setViewportSize({ width, height: 900 });
    await admin.goto(server.url);
    await expectLive(admin);
    await expect(admin.locator(`tr[data-run="${id}"]`)).toBeVisible();
    await expectHarmless(admin, "the list");
    const row = await admin.locator(`tr[data-run="${id}"]`).boundingBox();
    expect(row!.height, "a row keeps its height").toBeLessThan(width > 720 ? 60 : 440);
    await admin.goto(`${server.url}/?q=${encodeURIComponent(IMAGE)}`);
    await expectHarmless(admin, "the search");

    for (const step of [1, 2, 3]) {
      await admin.goto(`${server.url}/runs/${id}?step=${step}`);
      await expectLive(admin);
      await expectHarmless(admin, `step ${step}`);
      // The tabs that the page has, whichever they are.
      const tabs = admin.getByRole("navigation", { name: "Parts of the step" }).getByRole("link");
      const hrefs = await tabs.evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).href));
      expect(hrefs.length, "tabs of the step").toBeGreaterThan(1);
      for (const href of hrefs) {
        await admin.goto(href);
        await expectLive(admin);
        await expectHarmless(admin, href.replace(server.url, ""));
      }
    }
  });
}
