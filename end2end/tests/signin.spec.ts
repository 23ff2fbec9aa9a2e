// The way in: one-time links that only a press of the button spends, and the way out.
import { person } from "../support/people.ts";
import { doneRun } from "../support/sample.ts";
import { expect, expectAccessible, expectLive, signIn, test } from "../support/test.ts";

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

test("after signing out, Back shows nothing of any run", async ({ admin, agent, server }) => {
  const id = await doneRun(agent, "Board pack for the merger", "proposal-writer", 3);
  const answer = await admin.goto(`${server.url}/runs/${id}`);
  expect(answer?.headers()["cache-control"], "no browser keeps the page").toBe("no-store");
  await expectLive(admin);
  await admin.getByRole("link", { name: "Runs", exact: true }).first().click();
  await expect(admin.locator("tr[data-run]")).toContainText("Board pack for the merger");
  await admin.getByText(/· admin$/).click();
  await admin.getByRole("button", { name: "Sign out" }).click();
  await expect(admin).toHaveURL(/\/signin/);
  for (const page of ["the list", "the run's page"]) {
    await admin.goBack();
    await expect(admin, `Back to ${page}`).toHaveURL(/\/signin/);
    expect(await admin.content(), `Back to ${page}`).not.toContain("Board pack for the merger");
  }
});

test("signing out everywhere ends the other browsers' sessions too", async ({ admin, browser, server }) => {
  const other = await person(browser, server, "ana");
  const own = await (await browser.newContext({ storageState: await other.context().storageState() })).newPage();
  await other.goto(`${server.url}/settings`);
  await other.getByRole("button", { name: "Sign out everywhere" }).click();
  await expect(other).toHaveURL(/\/signin/);
  await own.goto(server.url);
  await expect(own).toHaveURL(/\/signin/);
  await admin.reload();
  await expect(admin.getByRole("heading", { level: 1, name: "Runs" }), "another person stays").toBeVisible();
  await other.context().close();
  await own.context().close();
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
