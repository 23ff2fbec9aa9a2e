// Someone who may look and decides nothing.
import { type Browser, expect, type Page } from "@playwright/test";

import type { Server } from "./server.ts";

/** Lets a viewer in, as an admin does it; the page is theirs. */
export async function viewer(admin: Page, server: Server, browser: Browser): Promise<Page> {
  await admin.goto(`${server.url}/settings`);
  await admin.getByLabel("Name of the person").fill("vera");
  await admin.getByRole("region", { name: "People" }).getByLabel("Role").selectOption("viewer");
  await admin.getByRole("button", { name: "Add person" }).click();
  const link = await admin.getByLabel("Sign-in link").inputValue();
  const page = await (await browser.newContext()).newPage();
  await page.goto(link);
  await page.getByRole("button", { name: /^Sign in as / }).click();
  await expect(page).toHaveURL(`${server.url}/`);
  return page;
}
