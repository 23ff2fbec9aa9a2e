// The links of a page: which there are, what kind of link each is, and a press on one as a reader does it.
import type { ElementHandle, Page } from "@playwright/test";

export interface Link {
  href: string;
  /** Where it is and what it looks like: links of one list look alike. */
  looks: string;
  /** The bar is the same on every page. */
  bar: boolean;
  /** What the timeline shows, folds and names follows the clock. */
  timeline: boolean;
}

/** Parameters whose values are few, and each another page. */
const TELLING = ["ask", "tab", "view", "by"];

const parsed = (address: string) => new URL(address, "http://any");
const pathOf = (address: string) =>
  parsed(address)
    .pathname.replace(/^\/runs\/[^/]+/, "/runs/ID")
    .replace(/\d+/g, "N");

/** The kind of a page: its path, and what its address asks for first. */
export function kindOfPage(address: string): string {
  const params = parsed(address).searchParams;
  const name = TELLING.find((name) => params.has(name));
  return name ? `${pathOf(address)} ${name}=${params.get(name)}` : pathOf(address);
}

/** What following it changes: the path, and which parameters. */
export function kindOfLink(from: string, link: Link): string {
  const [a, b] = [parsed(from), parsed(link.href)];
  const same = pathOf(from) === pathOf(link.href);
  const names = [...new Set([...a.searchParams.keys(), ...b.searchParams.keys()])].sort();
  const changed = names
    .filter((name) => (same ? a.searchParams.get(name) !== b.searchParams.get(name) : b.searchParams.has(name)))
    .map((name) => (TELLING.includes(name) ? `${name}=${b.searchParams.get(name)}` : name));
  const place = link.bar ? "bar" : `${pathOf(from)} ${link.looks}`;
  return `${place} → ${[pathOf(link.href), ...changed].join(" ")}`;
}

/** Opens what is folded, so that what is in it can be found. */
export async function unfold(page: Page): Promise<void> {
  await page.evaluate(() => {
    const scope = document.querySelector("dialog:modal") ?? document;
    scope.querySelectorAll("details:not([open])").forEach((it) => it.setAttribute("open", ""));
  });
}

/** The links that a reader can press, also in menus, and that stay within the console. */
export async function links(page: Page): Promise<Link[]> {
  await unfold(page);
  return page.evaluate(() => {
    const scope = document.querySelector("dialog:modal") ?? document;
    const pressable = [...scope.querySelectorAll("a[href]")].filter((it) => {
      const { width, height } = it.getBoundingClientRect();
      const elsewhere = it.getAttribute("rel")?.includes("external") || it.hasAttribute("download") || it.hasAttribute("target");
      return width > 0 && height > 0 && it.checkVisibility({ visibilityProperty: true }) && !elsewhere;
    });
    const name = (it: Element | null) => (it ? `${it.tagName.toLowerCase()}.${it.classList[0] ?? ""}` : "");
    return pressable
      .map((it) => ({
        href: it.getAttribute("href")!,
        looks: `${name(it.closest("dialog, details, nav, table, article, section, aside, .timeline"))} ${name(it)}`,
        bar: it.closest("header.topbar") !== null,
        timeline: it.closest(".timeline") !== null,
      }))
      .filter((it) => it.href.startsWith("/") && !it.href.startsWith("/signin"))
      // The timeline's zoom names moments, and these follow the clock.
      .filter((it) => !/[?&](from|to)=\d{9,}/.test(it.href));
  });
}

/** Presses the link, in its menu if it is in one; server and browser may escape an address differently. No if it is gone meanwhile. */
export async function press(page: Page, link: Link): Promise<boolean> {
  const wanted = { href: decodeURIComponent(link.href), bar: link.bar, timeline: link.timeline };
  const found = await page
    .waitForFunction(
      ({ href, bar, timeline }) => {
        const scope = document.querySelector("dialog:modal") ?? document;
        return [...scope.querySelectorAll("a[href]")].find((it) => {
          const same = decodeURIComponent(it.getAttribute("href")!) === href;
          const place = (it.closest("header.topbar") !== null) === bar && (it.closest(".timeline") !== null) === timeline;
          const folded = it.closest("details:not([open])") !== null;
          const shown = it.checkVisibility({ visibilityProperty: true }) && it.getBoundingClientRect().height > 0;
          return same && place && (folded || shown);
        });
      },
      wanted,
      { timeout: 10_000 },
    )
    .catch(() => undefined);
  const element = found?.asElement();
  if (!element) return false;
  const menu = await element.evaluateHandle((it) => (it as Element).closest("details:not([open])")?.querySelector("summary") ?? null);
  await menu.asElement()?.click({ timeout: 10_000 });
  await (element as ElementHandle).click({ timeout: 10_000 });
  return true;
}
