// Every link of every page, followed once by a click and once by its address: both lead to the same. Links of one shape
// (`/runs/…?ask=resume`) are followed once from each kind of page; those of the bar once in all.
import type { Page } from "@playwright/test";

import { crashedRun, doneRun, failedRun, readyRun, waitingRun } from "../support/sample.ts";
import { seen, settled, type Seen } from "../support/seen.ts";
import { expect, expectLive, test } from "../support/test.ts";

test.describe.configure({ timeout: 240_000 });

/** The shape of an address: ids and numbers stand for any other. */
const shape = (address: string) =>
  address
    .replace(/\/runs\/[^/?]+/, "/runs/ID")
    .replace(/((?:step|row|from|to|after|before|cursor|window|at)=)[^&]*/g, "$1…")
    .replace(/((?:agent|q|model|label|version|cause|alike|key|find|path|other)=)[^&]*/g, "$1…");

interface Link {
  href: string;
  bar: boolean;
}

/** Links that one test follows: a dozen in each run of the suite, all of them with `STEP47_CRAWL=1000`. */
const MOST = Number(process.env.STEP47_CRAWL ?? 12);

/** The links that a reader can press and that stay within the console. */
async function links(page: Page): Promise<Link[]> {
  return page.evaluate(() => {
    const scope = document.querySelector("dialog:modal") ?? document;
    const pressable = [...scope.querySelectorAll("a[href]")].filter((it) => {
      const { width, height } = it.getBoundingClientRect();
      const elsewhere = it.getAttribute("rel")?.includes("external") || it.hasAttribute("download") || it.hasAttribute("target");
      // What lies in a closed menu has a size and cannot be pressed.
      return width > 0 && height > 0 && it.checkVisibility({ visibilityProperty: true }) && !elsewhere;
    });
    return pressable
      .map((it) => ({ href: it.getAttribute("href")!, bar: it.closest("header.topbar") !== null }))
      .filter((it) => it.href.startsWith("/") && !it.href.startsWith("/signin"))
      // The timeline's zoom names moments, and these follow the clock.
      .filter((it) => !/[?&](from|to)=\d{9,}/.test(it.href));
  });
}

/** Presses the link that leads to `href`; server and browser may escape an address differently. No if it is gone meanwhile. */
async function press(page: Page, href: string): Promise<boolean> {
  const found = await page.waitForFunction(
    (href) => {
      const scope = document.querySelector("dialog:modal") ?? document;
      const same = (it: Element) =>
        decodeURIComponent(it.getAttribute("href")!) === href && it.checkVisibility({ visibilityProperty: true });
      return [...scope.querySelectorAll("a[href]")].find((it) => same(it) && it.getBoundingClientRect().height > 0);
    },
    decodeURIComponent(href),
    { timeout: 15_000 },
  ).catch(() => undefined);
  await found?.asElement()?.click({ timeout: 10_000 });
  return found !== undefined;
}

async function open(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await expectLive(page);
}

async function compared(page: Page, server: string, start: string[], most: number): Promise<string[]> {
  const other = await page.context().newPage();
  const byAddress = new Map<string, Seen>();
  const followed = new Set<string>();
  const looked = new Set<string>();
  const queue = [...start];
  const different: string[] = [];
  const gone: string[] = [];
  while (queue.length > 0 && followed.size < most) {
    const from = queue.shift()!;
    if (looked.has(shape(from))) continue;
    looked.add(shape(from));
    await open(page, server + from);
    for (const { href, bar } of await links(page)) {
      const key = `${bar ? "bar" : shape(from)} → ${shape(href)}`;
      if (decodeURIComponent(href) === decodeURIComponent(from) || followed.has(key) || followed.size >= most) continue;
      followed.add(key);
      let expected = byAddress.get(href);
      if (!expected) {
        await open(other, server + href);
        expected = await settled(other);
        byAddress.set(href, expected);
      }
      if (!(await press(page, href))) {
        // What the timeline folds moves with the clock, and its links with it.
        gone.push(`${from} → ${href}`);
        continue;
      }
      let found = await seen(page);
      const end = Date.now() + 10_000;
      while (JSON.stringify(found) !== JSON.stringify(expected) && Date.now() < end) {
        await page.waitForTimeout(100);
        found = await seen(page);
      }
      try {
        expect(found, `${from} → ${href}: by a click`).toEqual(expected);
      } catch (error) {
        different.push((error as Error).message);
      }
      queue.push(href);
      // A fresh page each time: what an earlier click left behind explains no difference.
      await open(page, server + from);
    }
  }
  await other.close();
  expect(gone.length, gone.join("\n")).toBeLessThan(3);
  console.log(`${followed.size} links of ${looked.size} kinds of pages`);
  return different;
}

test("a click and its address lead to the same, from the list", async ({ admin, agent, server }) => {
  await Promise.all([crashedRun(agent), waitingRun(agent), failedRun(agent), readyRun(agent), doneRun(agent, "Board pack")]);
  expect(await compared(admin, server.url, ["/"], MOST)).toEqual([]);
});

test("a click and its address lead to the same, from runs of every kind", async ({ admin, agent, server }) => {
  const runs = await Promise.all([crashedRun(agent), waitingRun(agent), failedRun(agent)]);
  const [crashed, waiting, failed] = runs.map((id) => `/runs/${id}`);
  const start = [crashed!, `${crashed}?ask=resume`, `${waiting}?step=13`, `${failed}?ask=fork&step=3`, "/inbox", "/settings"];
  expect(await compared(admin, server.url, start, MOST)).toEqual([]);
});

test("no button of a page fails", async ({ admin, agent, server, consoleErrors }) => {
  const runs = await Promise.all([crashedRun(agent), waitingRun(agent), doneRun(agent, "Board pack")]);
  const pages = ["/", "/inbox", "/audit", "/workers", "/settings", ...runs.map((id) => `/runs/${id}`), `/runs/${runs[0]}?step=3&tab=state`];
  await admin.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  let pressed = 0;
  for (const path of pages) {
    await admin.goto(server.url + path);
    await expectLive(admin);
    const buttons = await admin.locator("button[type=button]:visible:enabled").count();
    for (let n = 0; n < Math.min(buttons, 12); n++) {
      const button = admin.locator("button[type=button]:visible:enabled").nth(n);
      if (!(await button.isVisible())) continue;
      await button.click({ timeout: 5_000 });
      pressed++;
      expect(consoleErrors, `${path}: button ${n}`).toEqual([]);
      await expect(admin.locator("dialog[open]:not(:modal)")).toHaveCount(0);
      if ((await admin.locator("dialog:modal").count()) > 0) await admin.keyboard.press("Escape");
    }
  }
  console.log(`${pressed} buttons of ${pages.length} pages`);
});
