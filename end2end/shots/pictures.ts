// Takes pictures of what is looked at: both themes, three widths, and what of it is wider than the screen.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { type Browser, type BrowserContextOptions, devices, expect, type Page } from "@playwright/test";

/** `cargo xtask shots --all` names it. */
const FOLDER = process.env.STEP47_SHOTS ?? fileURLToPath(new URL("../../target/shots", import.meta.url));

const { viewport: _, defaultBrowserType: __, ...thumb } = devices["iPhone 13"];
const SCREENS: BrowserContextOptions[] = [
  { viewport: { width: 1440, height: 900 } },
  { viewport: { width: 1280, height: 800 } },
  { ...thumb, viewport: { width: 390, height: 844 }, deviceScaleFactor: 2 },
];

/** A page in one state. */
export interface Look {
  name: string;
  /** Leads there; "absent" where this server does not have it. */
  open(page: Page): Promise<"absent" | void>;
  /** What stands above the page is pictured with what is in view, not with all that can be scrolled to. */
  above?: boolean;
}

export type Session = BrowserContextOptions["storageState"];

/** Pictures of all of them, as the person whose session it is. Answers what is wider than its screen. */
export async function pictures(browser: Browser, baseURL: string, session: Session, looks: Look[]): Promise<string[]> {
  await mkdir(FOLDER, { recursive: true });
  const wide: string[] = [];
  const contexts = await Promise.all(
    SCREENS.map((screen) => browser.newContext({ ...screen, baseURL, storageState: session, timezoneId: "UTC" })),
  );
  for (const look of looks) {
    for (const context of contexts) {
      // Nothing of one state is left in the next: no draft, no scroll, no theme.
      const page = await context.newPage();
      if ((await look.open(page)) !== "absent") wide.push(...(await picturesOf(page, look)));
      await context.setOffline(false);
      await page.close();
    }
  }
  for (const context of contexts) await context.close();
  return wide;
}

async function picturesOf(page: Page, { name, above }: Look): Promise<string[]> {
  await expect(page.locator(".loading, .skeleton")).toHaveCount(0);
  const { width } = page.viewportSize()!;
  // In a picture that goes beyond its window, what sticks to the window's end would stand in the middle: the window grows.
  if (!above && (await page.locator(".plan-foot, .edit-foot").count()) > 0) {
    const height = await page.evaluate(() => document.documentElement.scrollHeight);
    await page.setViewportSize({ width, height });
  }
  const wide: string[] = [];
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.evaluate(() => document.fonts.ready);
    const picture = `${name}-${colorScheme}-${width}`;
    await page.screenshot({ path: join(FOLDER, `${picture}.png`), fullPage: !above, animations: "disabled", caret: "hide" });
    // Not the window's own width: a phone zooms out, and its window grows with what is too wide.
    const over = (await page.evaluate(() => document.documentElement.scrollWidth)) - width;
    if (over > 0) wide.push(`${picture}: ${over} px wider than the screen`);
  }
  return wide;
}
