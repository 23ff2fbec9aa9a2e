// Playwright's `test` with what every test here needs: a server, a signed-in page, and no error in the console.
import { AxeBuilder } from "@axe-core/playwright";
import { expect, type Page, test as base } from "@playwright/test";

import { Agent } from "./agent.ts";
import { type Made, makeBeginning } from "./beginning.ts";
import { type Server, startServer } from "./server.ts";

interface Fixtures {
  /** A server on a store without runs, for this test alone. */
  server: Server;
  /** A page signed in as the first admin. */
  admin: Page;
  /** A program that records runs over /v1. */
  agent: Agent;
  /** Errors of the page so far. A test that expects one empties the list; what is left at the end fails the test. */
  consoleErrors: string[];
}

interface WorkerFixtures {
  /** What the store of each test is copied from. */
  beginning: Made;
}

export const test = base.extend<Fixtures, WorkerFixtures>({
  beginning: [
    async ({}, use) => {
      const made = await makeBeginning();
      await use(made);
      await made.remove();
    },
    { scope: "worker" },
  ],

  server: async ({ beginning }, use) => {
    const server = await startServer([], beginning);
    await use(server);
    await server.stop();
  },

  consoleErrors: [
    // Needs the server only to be looked at before it stops: a page that loses its server says so in the console.
    async ({ page, server }, use) => {
      void server;
      const errors: string[] = [];
      page.on("console", (message) => {
        const ours = message.type() === "warning" && /hydrat|reactive|resource/i.test(message.text());
        if (message.type() === "error" || ours) errors.push(`${message.text()} (${message.location().url})`);
      });
      page.on("pageerror", (error) => errors.push(error.stack ?? error.message));
      await use(errors);
      expect(errors, "errors in the browser's console").toEqual([]);
    },
    { auto: true },
  ],

  // Signed in by the form's own request: the page with the button is what signin.spec.ts and smoke.spec.ts look at.
  admin: async ({ page, server }, use) => {
    const token = new URL(server.signInLink).searchParams.get("token") ?? "";
    const form = { form: { token }, headers: { origin: server.url }, maxRedirects: 0 };
    const answer = await page.request.post(`${server.url}/signin`, form);
    expect(answer.headers().location, "where signing in leads to").toBe("/");
    await page.goto(server.url, { waitUntil: "domcontentloaded" });
    await use(page);
  },

  agent: async ({ server }, use) => {
    await use(await Agent.with(server));
  },
});

/** Follows the one-time link and presses the button that spends it. */
export async function signIn(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await page.getByRole("button", { name: /^Sign in as / }).click();
}

/** The page is hydrated and hears of what happens. */
export async function expectLive(page: Page): Promise<void> {
  await expect(page.getByRole("banner").getByRole("status")).toHaveText("live");
}

/** Nothing that axe knows to be wrong for someone with a screen reader, a keyboard or low vision. */
export async function expectAccessible(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page })
    .withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"])
    .analyze();
  const found = violations.map((it) => `${it.id}: ${it.help}\n  ${it.nodes.map((node) => node.html).join("\n  ")}`);
  expect(found, "violations that axe found").toEqual([]);
}

export { expect };
