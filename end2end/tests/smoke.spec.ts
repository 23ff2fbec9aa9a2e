// The first things anyone does: sign in, see the runs, find the page alive.
import type { Page } from "@playwright/test";

import { expect, expectAccessible, expectLive, signIn, test } from "../support/test.ts";

const runs = (page: Page) => page.getByRole("heading", { level: 1, name: "Runs" });

test("the sign-in link leads to the runs", async ({ page, server }) => {
  await signIn(page, server.signInLink);
  await expect(page).toHaveURL(`${server.url}/`);
  await expect(page).toHaveTitle(/Step47/);
  await expect(runs(page)).toBeVisible();
});

test("a sign-in link works once", async ({ admin, browser, server }) => {
  await expect(runs(admin)).toBeVisible();
  const stranger = await browser.newPage();
  await stranger.goto(server.signInLink);
  await expect(runs(stranger)).toHaveCount(0);
  await stranger.close();
});

test("nobody sees the runs without signing in", async ({ page, server, consoleErrors }) => {
  await page.goto(server.url);
  await expect(runs(page)).toHaveCount(0);
  consoleErrors.length = 0; // Chromium reports a 401 as an error
});

test("the page loads its WASM and its style, and all it loads is the server's own", async ({ page, server }) => {
  const loaded: string[] = [];
  page.on("request", (request) => loaded.push(request.url()));
  const files = ["/pkg/step47.js", "/pkg/step47.wasm", "/pkg/step47.css"].map((path) =>
    page.waitForResponse(server.url + path),
  );
  await signIn(page, server.signInLink);
  for (const response of await Promise.all(files)) expect(response.status(), response.url()).toBe(200);
  await expectLive(page);
  expect(loaded.filter((url) => !url.startsWith(`${server.url}/`))).toEqual([]);
});

test("the first page is accessible in both themes", async ({ admin }) => {
  for (const colorScheme of ["light", "dark"] as const) {
    await admin.emulateMedia({ colorScheme });
    await expectAccessible(admin);
  }
});
