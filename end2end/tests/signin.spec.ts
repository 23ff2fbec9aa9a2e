// The way in: one-time links that only a press of the button spends, and the way out.
import { expect, expectAccessible, signIn, test } from "../support/test.ts";

test("looking at the link does not spend it", async ({ page, server }) => {
  await page.goto(server.signInLink);
  await page.goto(server.signInLink);
  await expectAccessible(page);
  await signIn(page, server.signInLink);
  await expect(page.getByRole("heading", { level: 1, name: "Runs" })).toBeVisible();
});

test("a used link says so, and how to get another", async ({ admin, browser, server }) => {
  await expect(admin.getByRole("heading", { level: 1, name: "Runs" })).toBeVisible();
  const stranger = await browser.newPage();
  await stranger.goto(server.signInLink);
  await expect(stranger.getByRole("heading", { name: "This link no longer works" })).toBeVisible();
  await expect(stranger.getByText("step47 user add NAME --role operator")).toBeVisible();
  await stranger.close();
});

test("signing out ends the session", async ({ admin, server }) => {
  await admin.getByText(/· admin$/).click();
  await admin.getByRole("button", { name: "Sign out" }).click();
  await expect(admin).toHaveURL(/\/signin/);
  await admin.goto(server.url);
  await expect(admin).toHaveURL(/\/signin/);
});

test("the chosen theme holds over a reload, before the first paint", async ({ admin }) => {
  await admin.emulateMedia({ colorScheme: "light" });
  await admin.getByText(/· admin$/).click();
  await admin.getByRole("button", { name: "Dark" }).click();
  const background = () => admin.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  expect(await background()).toBe("rgb(13, 16, 20)");
  await admin.reload({ waitUntil: "commit" });
  await admin.waitForSelector("html[data-theme=dark]", { state: "attached" });
  expect(await background()).toBe("rgb(13, 16, 20)");
});
