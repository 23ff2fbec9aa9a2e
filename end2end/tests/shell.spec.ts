// What every page shares, and the pages beside the runs: workers, settings, errors, keys, times, the badge.
import type { Browser, Page } from "@playwright/test";

import type { Agent } from "../support/agent.ts";
import { crashedRun, runningRun, waitingRun } from "../support/sample.ts";
import { expect, expectAccessible, expectLive, signIn, test } from "../support/test.ts";

const workers = (page: Page) => page.getByRole("table", { name: "Workers" });
const people = (page: Page) => page.getByRole("region", { name: "People" });
const tokens = (page: Page) => page.getByRole("region", { name: "Tokens" });

/** Adds a person and gives the link that signs them in. */
async function add(page: Page, name: string, role: string): Promise<string> {
  await page.getByLabel("Name of the person").fill(name);
  await people(page).getByLabel("Role").selectOption(role);
  await page.getByRole("button", { name: "Add person" }).click();
  await expect(people(page).getByText(`A sign-in link for ${name}`)).toBeVisible();
  return page.getByLabel("Sign-in link").inputValue();
}

/** A worker that waits at the server for work, as the SDK's do, until it has waited a minute or the server stops. */
function waits(agent: Agent, worker: string, agents = ["crm-sync"]): void {
  agent.post("/claims", { worker, agents, version: "2.0.4", wait_ms: 60_000 }).catch(() => {});
}

/** A page of another person, or of the same one with other settings of the browser. */
async function elsewhere(browser: Browser, options: object = {}): Promise<Page> {
  const context = await browser.newContext(options);
  return context.newPage();
}

test("the bar leads to every page, and so do keys", async ({ admin, server }) => {
  await expectLive(admin);
  const pages = admin.getByRole("navigation", { name: "Pages", exact: true });
  await pages.getByRole("link", { name: "Workers" }).click();
  await expect(admin).toHaveURL(`${server.url}/workers`);
  await expect(admin.getByRole("heading", { level: 1, name: "Workers" })).toBeVisible();
  await expect(pages.getByRole("link", { name: "Workers" })).toHaveAttribute("aria-current", "page");
  await admin.keyboard.press("g");
  await admin.keyboard.press("s");
  await expect(admin).toHaveURL(`${server.url}/settings`);
  await expect(admin).toHaveTitle("Settings · Step47");
  await admin.keyboard.press("g");
  await admin.keyboard.press("r");
  await expect(admin).toHaveURL(`${server.url}/`);
  await admin.keyboard.press("g");
  await admin.keyboard.press("w");
  await expect(admin).toHaveURL(`${server.url}/workers`);
});

test("a run's crumbs lead to its agent's runs", async ({ admin, agent, server }) => {
  const id = await crashedRun(agent);
  await admin.goto(`${server.url}/runs/${id}`);
  const crumbs = admin.getByRole("navigation", { name: "Breadcrumb" });
  await expect(crumbs).toContainText(id.slice(-10));
  await crumbs.getByRole("link", { name: "invoice-reconciler" }).click();
  await expect.poll(() => decodeURIComponent(admin.url())).toBe(`${server.url}/?agent=invoice-reconciler`);
});

test("workers: one at work, one that waits, one that was refused", async ({ admin, agent, server }) => {
  const run = await runningRun(agent, "Weekly market brief", 3);
  waits(agent, "w-idle");
  const other = await agent.create({ agent: "db-migrator", title: "Migrate" });
  const zombie = await agent.post<{ epoch: number }>(`/runs/${other}/lease`, { worker: "w-zombie" });
  await agent.post(`/runs/${other}/release`, { epoch: zombie.epoch });
  const late = agent.post(`/runs/${other}/heartbeat`, { epoch: zombie.epoch });
  await expect(late).rejects.toThrow("lease_lost");

  await admin.goto(`${server.url}/workers`);
  await expectLive(admin);
  const at = (name: string) => workers(admin).getByRole("row", { name });
  await expect(at("w-7f3a")).toContainText("Weekly market brief");
  await expect(at("w-7f3a")).toContainText("4 · summarise_source");
  await expect(at("w-7f3a")).toContainText(`epoch ${run.epoch}`);
  await expect(at("w-7f3a").getByRole("img", { name: "Working on runs" })).toBeVisible();
  await expect(at("w-idle")).toContainText("for crm-sync");
  await expect(at("w-idle").getByRole("img", { name: "Polling for work" })).toBeVisible();
  await expect(at("w-zombie")).toContainText("heartbeat: lease_lost");

  // It is read again by itself.
  await agent.post("/claims", { worker: "w-later", agents: ["crm-sync"] });
  await expect(at("w-later")).toBeVisible();
  await at("w-7f3a").getByRole("link", { name: "Weekly market brief" }).click();
  await expect(admin).toHaveURL(`${server.url}/runs/${run.id}`);
});

test("without workers the page says how one appears", async ({ admin, server }) => {
  await admin.goto(`${server.url}/workers`);
  await expect(admin.getByRole("heading", { name: "No workers yet" })).toBeVisible();
});

test("an admin adds a person, whose link signs in; a viewer is told to ask an admin", async ({
  admin,
  browser,
  server,
}) => {
  test.slow();
  await admin.goto(`${server.url}/settings`);
  await expectLive(admin);
  const link = await add(admin, "vera", "viewer");
  expect(link).toContain(`${server.url}/signin?token=`);
  await expect(people(admin).getByRole("row", { name: /^vera/ })).toContainText("viewer");

  const vera = await elsewhere(browser);
  await signIn(vera, link);
  await vera.goto(`${server.url}/settings`);
  await expect(vera.getByText(/does not manage people and tokens\. Ask an admin: admin/)).toBeVisible();
  await expect(vera.getByRole("button", { name: "Add person" })).toHaveCount(0);
  await expectAccessible(vera);

  await people(admin).getByRole("link", { name: "Disable… vera" }).click();
  const question = admin.getByRole("dialog", { name: "Disable vera" });
  await expect(question).toContainText("Their sessions, streams and tokens end within two seconds");
  await expectAccessible(admin);
  await question.getByRole("link", { name: "Back" }).click();
  await expect(question).toHaveCount(0);
  await people(admin).getByRole("link", { name: "Disable… vera" }).click();
  await question.getByRole("button", { name: "Disable vera" }).click();
  await expect(admin.getByText("vera is disabled").first()).toBeVisible();
  await expect(question).toHaveCount(0);
  await expect(async () => {
    await vera.goto(server.url);
    await expect(vera).toHaveURL(/\/signin/, { timeout: 2_000 });
  }).toPass();
  await vera.context().close();
});

test("the last admin cannot be lost", async ({ admin, server, consoleErrors }) => {
  await admin.goto(`${server.url}/settings`);
  await expectLive(admin);
  await expect(people(admin).getByRole("link", { name: "Disable… admin" })).toHaveCount(0);
  await admin.getByLabel("Name of the person").fill("admin");
  await people(admin).getByLabel("Role").selectOption("viewer");
  await admin.getByRole("button", { name: "Add person" }).click();
  await expect(people(admin).getByRole("alert")).toContainText("This is the last admin");
  consoleErrors.length = 0; // Chromium reports a refusal as an error
});

test("a token is shown once, works, and is refused when revoked", async ({ admin, server, request }) => {
  await admin.goto(`${server.url}/settings`);
  await expectLive(admin);
  await admin.getByLabel("Name of the token").fill("ci-agent");
  await admin.getByRole("button", { name: "Create token" }).click();
  const token = await admin.getByLabel("Token", { exact: true }).inputValue();
  const used = () => request.get(`${server.url}/v1/runs`, { headers: { authorization: `Bearer ${token}` } });
  expect((await used()).status()).toBe(200);
  await admin.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await admin.locator(".given").getByRole("button", { name: "Copy" }).click();
  expect(await admin.evaluate(() => navigator.clipboard.readText())).toBe(token);
  await admin.reload();
  await expect(admin.getByText(token)).toHaveCount(0);

  await tokens(admin).getByRole("link", { name: "Revoke… ci-agent" }).click();
  const question = admin.getByRole("dialog", { name: "Revoke token ci-agent" });
  await expect(question).toContainText("refused within two seconds");
  await question.press("Escape");
  await expect(question).toHaveCount(0);
  await tokens(admin).getByRole("link", { name: "Revoke… ci-agent" }).click();
  await question.getByRole("button", { name: "Revoke ci-agent" }).click();
  await expect(tokens(admin).getByRole("row", { name: /^ci-agent/ })).toContainText("revoked");
  await expect.poll(async () => (await used()).status()).toBe(401);
});

test("everything is verified from the settings, and what was found stays for who comes later", async ({ admin, agent, server }) => {
  await runningRun(agent, "Weekly market brief", 3);
  await admin.goto(`${server.url}/settings`);
  await expectLive(admin);
  const found = admin.getByRole("region", { name: "Integrity" }).getByText(/^Verified to event \d+, head [0-9a-f]{12}…$/);
  await expect(found).toHaveCount(0);
  await admin.getByRole("button", { name: "Verify everything" }).click();
  await expect(found).toBeVisible();
  await admin.reload();
  await expect(found).toBeVisible();
});

test("people and tokens are managed without JavaScript", async ({ admin, browser, server }) => {
  test.slow();
  const storageState = await admin.context().storageState();
  const plain = await elsewhere(browser, { javaScriptEnabled: false, storageState });
  await plain.goto(`${server.url}/settings`);
  const link = await add(plain, "otto", "operator");
  await plain.getByLabel("Name of the token").fill("plain");
  await plain.getByRole("button", { name: "Create token" }).click();
  await expect(plain.getByLabel("Token", { exact: true })).toHaveValue(/^s47_/);
  await plain.goto(`${server.url}/settings`);
  await tokens(plain).getByRole("link", { name: "Revoke… plain" }).click();
  await plain.getByRole("button", { name: "Revoke plain" }).click();
  await expect(tokens(plain).getByRole("row", { name: /^plain/ })).toContainText("revoked");
  await plain.context().close();

  const otto = await elsewhere(browser, { javaScriptEnabled: false });
  await signIn(otto, link);
  await expect(otto.getByRole("heading", { level: 1, name: "Runs" })).toBeVisible();
  await otto.context().close();
});

test("every page is readable without JavaScript", async ({ admin, agent, browser, server }) => {
  test.slow();
  await runningRun(agent, "Weekly market brief", 3);
  waits(agent, "w-idle");
  const storageState = await admin.context().storageState();
  const plain = await elsewhere(browser, { javaScriptEnabled: false, storageState });
  await expect(async () => {
    await plain.goto(`${server.url}/workers`);
    await expect(workers(plain).getByRole("row", { name: "w-idle" })).toContainText("polling for work", { timeout: 2_000 });
  }).toPass();
  await expect(workers(plain).getByRole("row", { name: "w-7f3a" })).toContainText("Weekly market brief");
  await plain.goto(`${server.url}/settings`);
  await expect(plain.getByText(/^Head [0-9a-f]{8}… at event \d+/)).toBeVisible();
  await plain.goto(`${server.url}/nothing`);
  await expect(plain.getByRole("heading", { name: "There is no such page" })).toBeVisible();
  await plain.getByText("admin · admin").click();
  await expect(plain.getByRole("button", { name: "Sign out" })).toBeVisible();
  await plain.context().close();
});

test("times are the reader's own, or UTC by choice, and hydrate cleanly", async ({ admin, agent, browser, server }) => {
  waits(agent, "w-idle");
  const storageState = await admin.context().storageState();
  const reader = await elsewhere(browser, { timezoneId: "Asia/Kolkata", storageState });
  const said: string[] = [];
  reader.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) said.push(message.text());
  });
  await expect(async () => {
    await reader.goto(`${server.url}/workers`);
    await expect(workers(reader).getByRole("row", { name: "w-idle" })).toBeVisible({ timeout: 2_000 });
  }).toPass();
  const since = workers(reader).getByText("Idle since").locator("time");
  const utc = new Date((await since.getAttribute("datetime"))!);
  const clock = (minutes: number) => new Date(utc.getTime() + minutes * 60_000).toISOString().slice(11, 16);
  await expect(since).toContainText(clock(330));
  await expect(since).toHaveAttribute("title", /UTC\+5:30$/);

  await reader.goto(`${server.url}/settings`);
  await reader.getByRole("main").getByRole("button", { name: "UTC" }).click();
  await reader.goto(`${server.url}/workers`);
  await expectLive(reader);
  await expect(since).toContainText(clock(0));
  await expect(since).toHaveAttribute("title", /UTC$/);
  expect(said, "no error or hydration warning").toEqual([]);
  await reader.context().close();
});

test("the tab's title and icon say how many runs need a person", async ({ admin, agent }) => {
  await expectLive(admin);
  const icon = admin.locator("link[rel=icon]");
  await expect(icon).toHaveAttribute("href", "/favicon.svg");
  await expect(admin).toHaveTitle("Runs · Step47");
  await waitingRun(agent);
  await expect(admin).toHaveTitle("(1) Runs · Step47");
  await expect(icon).toHaveAttribute("href", /^data:image\/svg\+xml,.*%3E1%3C/);
  await admin.keyboard.press("g");
  await admin.keyboard.press("s");
  await expect(admin).toHaveTitle("(1) Settings · Step47");
});

/** In the page: notifications are allowed, and kept in `window.shown`. */
function takeNotifications(): void {
  const shown: string[] = [];
  class Shown extends EventTarget {
    static permission = "granted";
    static requestPermission = async () => "granted";
    constructor(title: string, options: NotificationOptions) {
      super();
      shown.push(`${title}: ${options.body}`);
    }
  }
  Object.assign(window, { Notification: Shown, shown });
}

test("a run that comes to need a person notifies, where that was asked for", async ({ admin, agent, server }) => {
  await admin.context().grantPermissions(["notifications"]);
  await admin.addInitScript(takeNotifications);
  await admin.goto(`${server.url}/settings`);
  await expectLive(admin);
  const looked = admin.waitForResponse(/in_need/);
  await admin.getByLabel("Tell me when a run comes to need a person").check();
  await looked;
  await waitingRun(agent);
  const shown = () => admin.evaluate(() => (window as unknown as { shown: string[] }).shown);
  await expect.poll(shown, { timeout: 30_000 }).toEqual(["Refund dispute #88121: Waits for an answer at step 13"]);
});

test("a notification comes however many others wait, and whatever comes before it in the list", async ({ admin, agent, server }) => {
  test.slow();
  await admin.context().grantPermissions(["notifications"]);
  await admin.addInitScript(takeNotifications);
  // Effects unknown come first, and each of these stopped for a cause of its own.
  const stopped = async (n: number) => {
    const run = await agent.lease(await agent.create({ agent: `payer-${n}`, title: `Payment ${n}` }));
    await agent.begin(run, { name: "pay", effect: { target: "stripe.charges" } });
    await agent.die(run);
  };
  for (let n = 0; n < 210; n += 15) await Promise.all(Array.from({ length: 15 }, (_, m) => stopped(n + m)));
  await admin.goto(`${server.url}/settings`);
  await expectLive(admin);
  const looked = admin.waitForResponse(/in_need|needs_you/);
  await admin.getByLabel("Tell me when a run comes to need a person").check();
  await looked;
  await waitingRun(agent);
  const shown = () => admin.evaluate(() => (window as unknown as { shown: string[] }).shown);
  await expect.poll(shown, { timeout: 30_000 }).toEqual(["Refund dispute #88121: Waits for an answer at step 13"]);
});

test("keys: the sheet lists them, a switch turns them off", async ({ admin, server }) => {
  await expectLive(admin);
  await admin.keyboard.press("?");
  const sheet = admin.getByRole("dialog", { name: "Keyboard" });
  for (const place of ["Everywhere", "Runs", "One run"]) {
    await expect(sheet.getByRole("heading", { name: place, exact: true })).toBeVisible();
  }
  await expectAccessible(admin);
  await sheet.getByLabel("Single keys are on").uncheck();
  await sheet.getByRole("button", { name: "Close" }).click();
  await admin.keyboard.press("g");
  await admin.keyboard.press("w");
  await admin.keyboard.press("/");
  await expect(admin.getByRole("searchbox")).not.toBeFocused();
  await expect(admin).toHaveURL(`${server.url}/`);
  await admin.reload();
  await expectLive(admin);
  await admin.keyboard.press("?");
  await expect(sheet).not.toBeVisible();
});

test("what is not there is a page with a 404, for programs a problem", async ({ admin, server, consoleErrors }) => {
  const page = await admin.goto(`${server.url}/nothing/here`);
  expect(page!.status()).toBe(404);
  await expect(admin.getByRole("heading", { name: "There is no such page" })).toBeVisible();
  await expectAccessible(admin);
  const problem = await admin.request.get(`${server.url}/v1/nothing`);
  expect(problem.status()).toBe(404);
  expect(problem.headers()["content-type"]).toContain("application/problem+json");
  consoleErrors.length = 0; // Chromium reports a 404 as an error
});

test("what is refused or broken is a page that needs neither store nor WASM", async ({
  admin,
  server,
  consoleErrors,
}) => {
  for (const colorScheme of ["light", "dark"] as const) {
    await admin.emulateMedia({ colorScheme });
    const page = await admin.goto(`${server.url}/signout`);
    expect(page!.status()).toBe(405);
    await expect(admin.getByRole("heading", { level: 1, name: "This was refused" })).toBeVisible();
    await expectAccessible(admin);
  }
  await admin.getByRole("link", { name: "Show all runs" }).click();
  await expectLive(admin);
  consoleErrors.length = 0; // Chromium reports a 405 as an error
});

test("a change from another site is a page that refuses it", async ({ admin, server }) => {
  const refused = await admin.request.post(`${server.url}/settings`, {
    headers: { accept: "text/html", origin: "https://evil.example" },
    form: { change: "add_user", name: "eve", role: "admin" },
  });
  expect(refused.status()).toBe(403);
  expect(refused.headers()["content-type"]).toContain("text/html");
  expect(await refused.text()).toContain("You may not do this");
});

test("every page is accessible in both themes, wide and narrow", async ({ admin, agent, server }) => {
  test.slow();
  await runningRun(agent, "Weekly market brief", 3);
  waits(agent, "w-idle", ["crm-sync", "db-migrator"]);
  for (const colorScheme of ["light", "dark"] as const) {
    for (const width of [1440, 390]) {
      await admin.emulateMedia({ colorScheme });
      await admin.setViewportSize({ width, height: 900 });
      for (const path of ["/workers", "/settings"]) {
        await admin.goto(server.url + path);
        await expectLive(admin);
        await expectAccessible(admin);
        const over = await admin.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        expect(over, `no sideways scrolling on ${path} at ${width} px`).toBeLessThanOrEqual(0);
      }
    }
  }
  // The phone's bar has no room for the pages: the menu has.
  await admin.getByRole("banner").getByText("admin", { exact: true }).click();
  await admin.getByRole("navigation", { name: "Pages of the menu" }).getByRole("link", { name: "Workers" }).click();
  await expect(admin).toHaveURL(`${server.url}/workers`);
});
