// The pictures of the README, taken from the running demo: each page in both themes, some also on a phone.
import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, type Page, test } from "@playwright/test";

import { expectLive, signIn } from "../support/test.ts";
import { startDemo } from "./demo.ts";

const IMAGES = fileURLToPath(new URL("../../docs/images", import.meta.url));
/** A README loads quickly. */
const BYTES_MAX = 300_000;

const SIZES = [
  { suffix: "", viewport: { width: 1440, height: 900 } },
  { suffix: "-phone", viewport: { width: 390, height: 844 } },
];

interface Shot {
  name: string;
  phone?: boolean;
  open(page: Page): Promise<void>;
}

/** The address of the run that crashed inside step 47. */
async function crashed(page: Page): Promise<string> {
  await page.goto("/?agent=invoice-reconciler&status=crashed");
  return (await page.locator("a[href^='/runs/']").first().getAttribute("href"))!;
}

const SHOTS: Shot[] = [
  {
    name: "runs",
    phone: true,
    open: async (page) => {
      await page.goto("/");
      await expect(page.getByText("crashed at 47 · charge_card").first()).toBeVisible();
    },
  },
  {
    name: "crash",
    phone: true,
    open: async (page) => {
      await page.goto(await crashed(page));
      await expect(page.getByText("Lease lost between begin and commit.").first()).toBeVisible();
    },
  },
  {
    name: "diff",
    open: async (page) => {
      await page.goto(await crashed(page));
      await expectLive(page);
      await page.keyboard.press("d");
      await expect(page.getByRole("region", { name: "Change of state" })).toBeVisible();
    },
  },
  {
    name: "plan",
    phone: true,
    open: async (page) => {
      await page.goto(`${await crashed(page)}/resume`);
      await expect(page.getByRole("button", { name: "Resume run" })).toBeVisible();
    },
  },
  {
    name: "inbox",
    open: async (page) => {
      await page.goto("/inbox");
      await expect(page.getByRole("heading", { level: 1, name: "Inbox" })).toBeVisible();
    },
  },
  {
    name: "workers",
    open: async (page) => {
      await page.goto("/workers");
      await expect(page.getByText("polling for work").first()).toBeVisible();
    },
  },
  {
    name: "settings",
    open: async (page) => {
      await page.goto("/settings");
      await expect(page.getByRole("heading", { name: "Integrity" })).toBeVisible();
    },
  },
];

test("pictures of the demo", async ({ browser }) => {
  await mkdir(IMAGES, { recursive: true });
  const demo = await startDemo();
  try {
    const baseURL = new URL(demo.signInLink).origin;
    const first = await browser.newContext({ baseURL });
    await signIn(await first.newPage(), demo.signInLink);
    const storageState = await first.storageState();
    await first.close();
    for (const colorScheme of ["light", "dark"] as const) {
      for (const { suffix, viewport } of SIZES) {
        const context = await browser.newContext({ baseURL, storageState, colorScheme, viewport, timezoneId: "UTC" });
        const page = await context.newPage();
        for (const { name, phone, open } of SHOTS) {
          if (suffix && !phone) continue;
          await open(page);
          await expectLive(page);
          await page.evaluate(() => document.fonts.ready);
          const path = join(IMAGES, `${name}${suffix}-${colorScheme}.png`);
          await page.screenshot({ path, animations: "disabled", caret: "hide" });
          expect((await stat(path)).size, `${path} is small`).toBeLessThan(BYTES_MAX);
        }
        await context.close();
      }
    }
  } finally {
    await demo.stop();
  }
});
