// Every link and button of every page, on a store with a run of every kind. A link that is followed by a click leads to the same
// as its address; a button does something or says why not. Those of one kind are pressed once from each kind of page, those of
// the bar once in all; with `STEP47_CRAWL=1000` all of them from the pages of every kind of run.
import type { Page } from "@playwright/test";

import type { Agent } from "../support/agent.ts";
import { buttonOf, buttons, fill } from "../support/buttons.ts";
import { chargedRun, everyKind, heldRun, liveRun } from "../support/kinds.ts";
import { kindOfLink, kindOfPage, type Link, links, press, unfold } from "../support/links.ts";
import { crashedRun, doneRun, failedRun, readyRun, waitingRun } from "../support/sample.ts";
import { type Label, labels, seen, type Seen, settled, unlike } from "../support/seen.ts";
import { expect, expectLive, test } from "../support/test.ts";

/** How many are pressed; without it, one of each kind. */
const MOST = Number(process.env.STEP47_CRAWL ?? 0);

test.describe.configure({ timeout: MOST > 0 ? 3_600_000 : 480_000 });

async function open(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await expectLive(page);
}

interface Shown {
  seen: Seen;
  labels: Label[];
}

/** What is not the same; nothing if all of it is. */
function difference(expected: Shown, found: Shown, by: Link): string | undefined {
  // A list whose row is pressed stays where it is, so that other rows may be in it than where the address puts it.
  const compared = ({ seen }: Shown) => (by.looks.startsWith("table.steps") ? { ...seen, steps: "", text: seen.text.replace(seen.steps, "") } : seen);
  try {
    expect(compared(found)).toEqual(compared(expected));
  } catch (error) {
    return (error as Error).message;
  }
  const sizes = unlike(found.labels, expected.labels);
  return sizes.length > 0 ? `sizes in the timeline: ${sizes.join("; ")}` : undefined;
}

interface Part {
  /** Where the crawl starts, each with the kind of run that it is about. */
  start: Map<string, string>;
  /** Pages that are looked at; links to others are followed, but no further. */
  within: (path: string) => boolean;
}

async function compared(page: Page, server: string, consoleErrors: string[], { start, within }: Part): Promise<string[]> {
  const other = await page.context().newPage();
  const byAddress = new Map<string, Shown>();
  const followed = new Set<string>();
  const looked = new Set<string>();
  const different: string[] = [];
  const queue = [...start].map(([address, about]) => ({ address, about }));
  const firsts = queue.length;
  for (let n = 0; n < queue.length && !(MOST > 0 && followed.size >= MOST); n++) {
    const { address: from, about } = queue[n]!;
    const every = MOST > 0 ? `${about}: ` : "";
    const kind = every + kindOfPage(from);
    if (n >= firsts && looked.has(kind)) continue;
    looked.add(kind);
    await open(page, server + from);
    const wanted = (link: Link) => {
      const key = (link.bar ? "" : every) + kindOfLink(from, link);
      if (decodeURIComponent(link.href) === decodeURIComponent(from) || followed.has(key)) return false;
      followed.add(key);
      return true;
    };
    for (const link of (await links(page)).filter(wanted)) {
      const { href } = link;
      const way = `${from} (${about}) → ${href} (${link.looks})`;
      const look = async (): Promise<Shown> => {
        await open(other, server + href);
        return { seen: await settled(other), labels: await labels(other) };
      };
      // A fresh page each time: what an earlier click left behind explains no difference.
      const [expected] = await Promise.all([byAddress.get(href) ?? look(), open(page, server + from)]);
      byAddress.set(href, expected);
      if (!(await press(page, link))) {
        // What the timeline folds moves with the clock, and its links with it.
        if (!link.timeline) different.push(`${way}: the link is gone`);
        continue;
      }
      const end = Date.now() + 10_000;
      let wrong: string | undefined;
      do {
        if (wrong !== undefined) await page.waitForTimeout(100);
        wrong = difference(expected, { seen: await seen(page), labels: await labels(page) }, link);
      } while (wrong !== undefined && Date.now() < end);
      if (wrong !== undefined) different.push(`${way}: by a click\n${wrong}`);
      different.push(...consoleErrors.splice(0).map((it) => `${way}: ${it}`));
      if (within(new URL(href, server).pathname)) queue.push({ address: href, about });
    }
  }
  await other.close();
  console.log(`${followed.size} links of ${looked.size} kinds of pages`);
  return different;
}

const ofRun = (path: string) => path.startsWith("/runs/");

test("a click and its address lead to the same, from the list and the other pages", async ({ admin, agent, server, consoleErrors }) => {
  await everyKind(admin, server, agent);
  const start = new Map(["/", "/inbox", "/workers", "/audit", "/settings"].map((path) => [path, "no run"]));
  expect(await compared(admin, server.url, consoleErrors, { start, within: (path) => !ofRun(path) })).toEqual([]);
});

test("a click and its address lead to the same, from runs of every kind", async ({ admin, agent, server, consoleErrors }) => {
  const kinds = await everyKind(admin, server, agent);
  const start = new Map([...kinds].map(([kind, id]) => [`/runs/${id}`, kind]));
  expect(await compared(admin, server.url, consoleErrors, { start, within: ofRun })).toEqual([]);
});

interface Place {
  name: string;
  /** The page's address; with a new run where a button is sent. */
  make: () => Promise<string>;
  /** What is done on the page before its buttons are looked at. */
  prepare?: (page: Page) => Promise<void>;
}

/** A reason and a change: the buttons of an edit wait for both. */
async function changeState(page: Page): Promise<void> {
  await page.locator("json-editor[data-ready]").waitFor();
  await page.getByRole("textbox", { name: "State as JSON" }).click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText('{ "by": "hand" }');
}

async function selectAll(page: Page): Promise<void> {
  await page.locator("tr[data-run] input[type=checkbox]").first().check();
}

function places(agent: Agent): Place[] {
  const path = (make: (agent: Agent) => Promise<string>, rest = "") => async () => `/runs/${await make(agent)}${rest}`;
  const charged = (agent: Agent) => chargedRun(agent, "Order 19");
  const asks: [(agent: Agent) => Promise<string>, string][] = [
    [crashedRun, "ask=resume"],
    [crashedRun, "ask=retry&step=47"],
    [crashedRun, "ask=skip&step=47"],
    [failedRun, "ask=retry&step=9"],
    [failedRun, "ask=acknowledge"],
    [failedRun, "ask=rewind&step=3"],
    [charged, "ask=rewind&step=2"],
    [charged, "ask=fork&step=2"],
    [liveRun, "ask=pause"],
    [liveRun, "ask=cancel"],
    [readyRun, "ask=cancel"],
    [readyRun, "ask=note"],
    [readyRun, "ask=claim"],
    [readyRun, "ask=pin"],
    [waitingRun, "ask=skip&step=13"],
  ];
  const runs = [crashedRun, waitingRun, failedRun, readyRun, liveRun, heldRun, (agent: Agent) => doneRun(agent, "Board pack", "proposal-writer", 6)];
  const always = (path: string) => async () => path;
  return [
    { name: "/", make: async () => (await readyRun(agent), "/") },
    { name: "/ picked", make: async () => (await readyRun(agent), "/"), prepare: selectAll },
    { name: "/ held, picked", make: async () => (await heldRun(agent), "/?status=crashed"), prepare: selectAll },
    { name: "/inbox", make: async () => (await waitingRun(agent), "/inbox") },
    { name: "/audit", make: always("/audit") },
    { name: "/workers", make: always("/workers") },
    { name: "/settings", make: always("/settings") },
    ...runs.map((make) => ({ name: "a run", make: path(make) })),
    { name: "a run's state", make: path(crashedRun, "?step=3&tab=state") },
    { name: "a run's diff", make: path(crashedRun, "/diff?from=0&to=46") },
    { name: "an edit", make: path(heldRun, "/edit"), prepare: changeState },
    { name: "a plan", make: path(crashedRun, "/resume") },
    ...asks.map(([make, ask]) => ({ name: ask, make: path(make, `?${ask}`) })),
  ];
}

/** What a press on a button did that it must not do. */
async function pressed(page: Page, place: Place, path: string, kind: string, submits: boolean): Promise<string | undefined> {
  const button = await buttonOf(page, kind);
  if (!button) return "the button is gone";
  if (submits) await fill(button);
  // Where a dialog asked, it is the dialog that answers: the page below may change by itself.
  const words = ({ address, text, dialog }: Seen) => JSON.stringify([address, dialog ?? text]);
  const before = words(await seen(page));
  try {
    await button.click({ timeout: 5_000 });
  } catch (error) {
    return `it cannot be pressed: ${(error as Error).message.split("\n")[0]}; the page says “${(await page.locator(".missing:visible").allInnerTexts()).join(" ")}”`;
  }
  if (!submits) return undefined;
  // While another page is loaded, there is none to look at.
  const now = () => seen(page).then(words, () => before);
  const answered = await expect.poll(now, { timeout: 10_000 }).not.toBe(before).then(() => true, () => false);
  return answered ? undefined : "the page says nothing afterwards";
}

test("every button does something or says why not", async ({ admin, agent, server, consoleErrors }) => {
  await admin.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const failed: string[] = [];
  admin.on("requestfailed", (it) => {
    const why = it.failure()?.errorText ?? "";
    // A page that is left stops what it asked for.
    if (why !== "net::ERR_ABORTED") failed.push(`${it.method()} ${it.url()}: ${why}`);
  });
  admin.on("response", (it) => {
    if (it.status() >= 400) failed.push(`${it.request().method()} ${it.url()}: ${it.status()}`);
  });
  admin.context().on("page", (it) => void it.close());
  const enter = async (place: Place, path: string) => {
    await open(admin, server.url + path);
    await place.prepare?.(admin);
    await unfold(admin);
  };
  const wrong: string[] = [];
  const done = new Set<string>();
  const queue = places(agent);
  for (const place of queue) {
    let path = await place.make();
    await enter(place, path);
    for (const { kind, submits } of await buttons(admin)) {
      const key = `${kind.startsWith("bar ") ? "" : MOST > 0 ? place.name : kindOfPage(path)} ${kind}`;
      // Signing out is what signin.spec.ts looks at: nothing could be pressed after it.
      if (done.has(key) || /Sign out/.test(kind)) continue;
      done.add(key);
      if (submits) path = await place.make();
      await enter(place, path);
      const dialogs = await admin.locator("dialog:modal").count();
      const why = await pressed(admin, place, path, kind, submits);
      if (why) wrong.push(`${place.name}, ${path}, ${kind}: ${why}`);
      if ((await admin.locator("dialog[open]:not(:modal)").count()) > 0) wrong.push(`${place.name}, ${kind}: a dialog that is not above the page`);
      const refused = submits && (await admin.getByRole("alert").count()) > 0 && failed.every((it) => /^POST .*: 4\d\d$/.test(it));
      if (!refused) wrong.push(...failed.map((it) => `${place.name}, ${kind}: ${it}`));
      const errors = consoleErrors.filter((it) => !(refused && it.startsWith("Failed to load resource")));
      wrong.push(...errors.map((it) => `${place.name}, ${kind}: ${it}`));
      failed.length = 0;
      consoleErrors.length = 0;
      if (dialogs === 0 && !submits && (await admin.locator("dialog:modal").count()) > 0) {
        const prepare = async (page: Page) => {
          await place.prepare?.(page);
          await unfold(page);
          await (await buttonOf(page, kind))?.click();
          await page.locator("dialog:modal").waitFor();
        };
        queue.push({ name: `${place.name}: ${kind}`, make: place.make, prepare });
      }
    }
  }
  console.log(`${done.size} kinds of buttons of ${queue.length} pages`);
  expect(wrong).toEqual([]);
});
