// The resume plan of a page.
import type { Page } from "@playwright/test";

export const plan = (page: Page) => page.getByRole("form", { name: /^Resume/ });

/** Keeps the plan that the page shows as it is until let go, so that someone decides on a plan that is outdated by then. */
export async function holdPlan(page: Page): Promise<() => void> {
  let letGo = () => {};
  const free = new Promise<void>((done) => (letGo = done));
  await page.route("**/api/plan/read", async (route) => {
    await free;
    await route.continue();
  });
  return letGo;
}
