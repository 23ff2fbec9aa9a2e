// Playwright's `test` with what every test here needs: a server, a signed-in page, and no error in the console.
import { AxeBuilder } from "@axe-core/playwright";
import { expect, type Page, test as base } from "@playwright/test";

import { Agent } from "./agent.ts";
import { type Made, makeBeginning } from "./beginning.ts";
import { Hands } from "./hands.ts";
import { spend } from "./people.ts";
import { workingDay } from "./sample.ts";
import { type Server, startServer } from "./server.ts";

interface Fixtures {
  /** What the store has in it: nothing, or one run in every state that matters. */
  begins: Begins;
  /** A server on a store of its own, for this test alone. */
  server: Server;
  /** A page signed in as the first admin. */
  admin: Page;
  /** A program that records runs over /v1. */
  agent: Agent;
  /** The admin's hands on the list of runs, with a mouse: at most 4 clicks, a key in place of one. */
  mouse: Hands;
  /** The same with the keyboard alone: at most 6 keys. */
  keyboard: Hands;
  /** Errors of the page so far. A test that expects one empties the list; what is left at the end fails the test. */
  consoleErrors: string[];
}

type Begins = "empty" | "working day";

interface WorkerFixtures {
  /** What the store of each test is copied from; made when it is first asked for. */
  beginning: (begins: Begins) => Promise<Made>;
}

export const test = base.extend<Fixtures, WorkerFixtures>({
  beginning: [
    async ({}, use) => {
      const made = new Map<Begins, Promise<Made>>();
      await use((begins) => {
        const kept = made.get(begins) ?? makeBeginning(begins === "empty" ? undefined : workingDay);
        made.set(begins, kept);
        return kept;
      });
      for (const it of made.values()) await (await it).remove();
    },
    { scope: "worker" },
  ],

  begins: ["empty", { option: true }],

  server: async ({ begins, beginning }, use, testInfo) => {
    const server = await startServer([], await beginning(begins));
    await use(server);
    await server.stop();
    const found = server.found(testInfo.titlePath.join(" › "));
    expect(found, "panics and answers of 500 in the server's log").toEqual([]);
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
    await spend(page, server, server.signInLink);
    await page.goto(server.url, { waitUntil: "domcontentloaded" });
    await use(page);
  },

  agent: async ({ server }, use) => {
    await use(await Agent.with(server));
  },

  mouse: async ({ admin }, use) => {
    const hands = await Hands.on(admin, { clicks: 4, all: 4 });
    await use(hands);
    await hands.expectWithin();
  },

  keyboard: async ({ admin }, use) => {
    const hands = await Hands.on(admin, { clicks: 0, all: 6 });
    await use(hands);
    await hands.expectWithin();
  },
});

/** A test that begins with a working day in its store. */
export const onWorkingDay = test.extend({ begins: "working day" });

/** Follows the one-time link and presses the button that spends it. */
export async function signIn(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await page.getByRole("button", { name: /^Sign in as / }).click();
}

/** The page is hydrated and hears of what happens. */
export async function expectLive(page: Page): Promise<void> {
  await expect(page.getByRole("banner").getByRole("status")).toHaveText("live");
}

/** Rules whose outcome a theme can change; all others see the same page in both. */
const OF_COLOURS = ["color-contrast", "link-in-text-block"];

/** Nothing that axe knows to be wrong for someone with a screen reader, a keyboard or low vision. A test that looks at a page in both
 * themes says which one it is: the second is looked at for its colours. */
export async function expectAccessible(page: Page, colorScheme: "light" | "dark" = "light"): Promise<void> {
  const axe = new AxeBuilder({ page });
  const { violations } = await (colorScheme === "dark"
    ? axe.withRules(OF_COLOURS)
    : axe.withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"])
  ).analyze();
  const found = violations.map((it) => `${it.id}: ${it.help}\n  ${it.nodes.map((node) => node.html).join("\n  ")}`);
  expect(found, "violations that axe found").toEqual([]);
}

export { expect };
