// How long a run's page takes until it is usable, how large it is, and how it scrolls.
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "@playwright/test";

import { PLACES } from "./places.ts";

export interface Load {
  /** From the start of the navigation until the page shows what it is for and is live. */
  usable_ms: number;
  /** Until the document is parsed: all of it, before any script. */
  html_ms: number;
  elements: number;
  /** With text and comments. */
  nodes: number;
  bytes: number;
  /** The document and what the page asked for after it, without scripts, styles and fonts. */
  data_bytes: number;
  /** The scripts and WASM that the page asked for. */
  code: string[];
}

type State = BrowserContextOptions["storageState"];

/** Loads a page in a browser that has cached nothing, until all of `shown` is there and live. */
export async function load(
  browser: Browser,
  storageState: State,
  url: string,
  shown: string[] = [PLACES.timeline, PLACES.step],
): Promise<Load> {
  const context = await browser.newContext({ storageState, viewport: { width: 1440, height: 900 } });
  try {
    const page = await context.newPage();
    const sizes = await transferred(context, page);
    await page.addInitScript(awaitUsable, { connection: PLACES.connection, shown });
    await page.goto(url, { waitUntil: "commit" });
    await page.waitForFunction(() => "usableAt" in window, undefined, { polling: 50, timeout: 60_000 });
    const seen = await page.evaluate(() => {
      const walker = document.createTreeWalker(document, NodeFilter.SHOW_ALL);
      let nodes = 1;
      while (walker.nextNode()) nodes += 1;
      const [navigation] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
      const usable_ms = (window as unknown as { usableAt: number }).usableAt;
      return { usable_ms, html_ms: navigation!.responseEnd, elements: document.querySelectorAll("*").length, nodes };
    });
    return { ...seen, ...sizes() };
  } finally {
    await context.close();
  }
}

/** Runs in the page from its first moment: notes when everything is there. */
function awaitUsable(places: { connection: string; shown: string[] }): void {
  const visible = (selector: string) => {
    const box = document.querySelector(selector)?.getBoundingClientRect();
    return !!box && box.width > 0 && box.height > 0;
  };
  const look = () => {
    const live = document.querySelector(places.connection)?.textContent?.trim() === "live";
    if (live && places.shown.every(visible)) {
      (window as unknown as { usableAt: number }).usableAt = performance.now();
    } else {
      requestAnimationFrame(look);
    }
  };
  look();
}

async function transferred(context: BrowserContext, page: Page): Promise<() => Pick<Load, "bytes" | "data_bytes" | "code">> {
  const cdp = await context.newCDPSession(page);
  await cdp.send("Network.enable");
  const data = new Set<string>();
  const code = new Set<string>();
  let bytes = 0;
  let data_bytes = 0;
  cdp.on("Network.responseReceived", ({ requestId, response }) => {
    const path = new URL(response.url).pathname;
    if (path.startsWith("/runs/") || path.startsWith("/api/")) data.add(requestId);
    if (/\.(js|wasm)$/.test(path)) code.add(path);
  });
  cdp.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    bytes += encodedDataLength;
    if (data.has(requestId)) data_bytes += encodedDataLength;
  });
  return () => ({ bytes, data_bytes, code: [...code] });
}

export interface Frames {
  frames: number;
  /** Frames that came with the next refresh of the screen. */
  on_time: number;
  p99_ms: number;
}

/** One refresh at 60 Hz is 16.7 ms; timestamps are rounded. */
const REFRESH_MS = 16.7 + 0.3;

/** Counts frames while `act` goes on. */
export async function frames(page: Page, act: () => Promise<void>): Promise<Frames> {
  await page.evaluate(() => {
    const seen: number[] = [];
    Object.assign(window, { frameTimes: seen, counting: true });
    let last: number | undefined;
    const next = (time: number) => {
      if (last !== undefined) seen.push(time - last);
      last = time;
      if ((window as unknown as { counting: boolean }).counting) requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  });
  await act();
  const times = await page.evaluate(() => {
    Object.assign(window, { counting: false });
    return (window as unknown as { frameTimes: number[] }).frameTimes;
  });
  const sorted = [...times].sort((a, b) => a - b);
  return {
    frames: times.length,
    on_time: times.filter((time) => time <= REFRESH_MS).length / times.length,
    p99_ms: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
  };
}

/** A notch of a wheel, in pixels. */
const NOTCH = 120;

/** Turns the wheel down, a notch at a time, as fast as the browser takes it. */
export async function wheel(page: Page, notches = 300): Promise<void> {
  await page.locator(PLACES.scroller).hover();
  for (let n = 0; n < notches; n++) await page.mouse.wheel(0, NOTCH);
}

/** Flies from the first step to the last in as many turns. */
export async function fly(page: Page, turns = 150): Promise<void> {
  const height = await scrollHeight(page);
  await page.locator(PLACES.scroller).hover();
  for (let n = 0; n < turns; n++) await page.mouse.wheel(0, height / turns);
}

/** Jumps to places all over the run. */
export async function jump(page: Page, jumps = 30): Promise<void> {
  const height = await scrollHeight(page);
  for (let n = 0; n < jumps; n++) {
    await page.evaluate(
      ([selector, top]) => {
        const scroller = document.querySelector(selector) ?? document.scrollingElement!;
        return new Promise((shown) => {
          scroller.scrollTop = top;
          requestAnimationFrame(() => requestAnimationFrame(shown));
        });
      },
      [PLACES.scroller, ((n * 7919) % 100) * 0.01 * height] as [string, number],
    );
  }
}

function scrollHeight(page: Page): Promise<number> {
  return page.evaluate((selector) => {
    const scroller = document.querySelector(selector) ?? document.scrollingElement!;
    return scroller.scrollHeight;
  }, PLACES.scroller as string);
}
