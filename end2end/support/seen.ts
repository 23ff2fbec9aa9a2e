// What a reader sees of a page, in a form that two ways to the same page can be compared by.
import type { Page } from "@playwright/test";

export interface Seen {
  address: string;
  title: string;
  /** The words of the page, without what ticks and without the timeline, which ends now. */
  text: string;
  /** Those of them that are in the list of steps, which has rows beyond its view. */
  steps: string;
  /** The words of the dialog above it, if one is open and modal. */
  dialog: string | null;
  /** An open dialog that lets the rest of the page be used is one that failed to open. */
  flat: number;
  /** Whether the selected step is in view; absent where no step is selected. */
  selectedInView: boolean | null;
  /** Words of the timeline that have no size. */
  unseen: string[];
}

export async function seen(page: Page): Promise<Seen> {
  return page.evaluate(() => {
    const words = (element: Element | null) =>
      ((element as HTMLElement | null)?.innerText ?? "")
        .replace(/\s+/g, " ")
        .replace(/\b\d+(?:\.\d+)? ?(?:ms|s|min|h|d)\b( \d+ ?(?:s|min|h)\b)?/g, "…")
        .replace(/… ago|\bnow\b/g, "…")
        .trim();
    const modal = document.querySelector("dialog:modal");
    const selected = document.querySelector(".step-row a[aria-current]");
    const list = selected?.closest(".steps-scroll");
    // All of it, below the head that stays on top.
    const inView = (element: Element, box: Element) => {
      const [a, b] = [element.getBoundingClientRect(), box.getBoundingClientRect()];
      const head = box.querySelector("thead")?.getBoundingClientRect().height ?? 0;
      return a.height > 0 && a.top >= b.top + head - 1 && a.bottom <= b.bottom + 1;
    };
    const labels = [...document.querySelectorAll(".timeline-svg text")];
    return {
      address: decodeURIComponent(location.pathname + location.search),
      title: document.title,
      // The timeline's words follow the clock.
      text: words(document.querySelector("#main")).replace(words(document.querySelector("#main .timeline")), ""),
      steps: words(document.querySelector("#main .steps-column")),
      dialog: modal ? words(modal) : null,
      flat: document.querySelectorAll("dialog[open]:not(:modal)").length,
      selectedInView: selected && list ? inView(selected.closest("tr") ?? selected, list) : null,
      unseen: labels
        .filter((it) => {
          const { width, height } = it.getBoundingClientRect();
          return (it.textContent ?? "").trim() !== "" && (width === 0 || height === 0);
        })
        .map((it) => it.textContent ?? ""),
    };
  });
}

/** What is seen once nothing changes any more. */
export async function settled(page: Page): Promise<Seen> {
  let last = await seen(page);
  for (let same = 0, looks = 0; same < 2 && looks < 50; looks++) {
    await page.waitForTimeout(100);
    const now = await seen(page);
    same = JSON.stringify(now) === JSON.stringify(last) ? same + 1 : 0;
    last = now;
  }
  return last;
}

/** A word of the timeline, and how big it is drawn. */
export interface Label {
  text: string;
  width: number;
  height: number;
}

export async function labels(page: Page): Promise<Label[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll(".timeline-svg text")]
      .map((it) => {
        const { width, height } = it.getBoundingClientRect();
        return { text: (it.textContent ?? "").trim(), width, height };
      })
      .filter((it) => it.text !== ""),
  );
}

/** The words that both timelines have and that are not drawn in one size. Which words there are follows the clock. */
export function unlike(some: Label[], others: Label[]): string[] {
  const near = (a: number, b: number) => Math.abs(a - b) <= 2;
  const wrong = some.filter((it) => {
    const same = others.filter((other) => other.text === it.text);
    return same.length > 0 && !same.some((other) => near(it.width, other.width) && near(it.height, other.height));
  });
  const said = wrong.map((it) => `“${it.text}” is ${it.width.toFixed(0)} × ${it.height.toFixed(0)} px`);
  const lost = some.length > 0 !== others.length > 0 ? [`${some.length} words in one timeline, ${others.length} in the other`] : [];
  return [...said, ...lost];
}
