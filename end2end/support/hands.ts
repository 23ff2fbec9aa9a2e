// The operator's hands: every click and key is counted, typed text aside. The page itself counts, by the events that the browser
// vouches for, so a click that goes past the hands counts too, and text that goes past them fails the test.
import { expect, type Locator, type Page, test } from "@playwright/test";

type Seen = "click" | "key" | "text" | "wheel";

/** What the page tells of what was done to it; runs in the page, before anything else does. */
function watch(): void {
  const tell = (seen: Seen) => void (window as unknown as { handsDid(seen: Seen): void }).handsDid(seen);
  const told = (type: string, seen: (event: Event) => Seen | undefined) =>
    window.addEventListener(
      type,
      (event) => {
        const what = event.isTrusted ? seen(event) : undefined;
        if (what) tell(what);
      },
      { capture: true, passive: true },
    );
  const modifiers = ["Alt", "Control", "Meta", "Shift"];
  told("pointerdown", () => "click");
  told("keydown", (event) => (modifiers.includes((event as KeyboardEvent).key) ? undefined : "key"));
  told("wheel", () => "wheel");
  // A key that changes text (cut, delete) is counted as a key.
  told("input", (event) => ((event as InputEvent).inputType === "insertText" ? "text" : undefined));
}

/** What a task may take: clicks, and clicks and keys together. */
interface Most {
  clicks: number;
  all: number;
}

export class Hands {
  readonly page: Page;
  most: Most;
  readonly #seen: Record<Seen, number> = { click: 0, key: 0, text: 0, wheel: 0 };
  #typed = 0;
  #started = false;

  private constructor(page: Page, most: Most) {
    this.page = page;
    this.most = most;
  }

  /** Hands on a page, from the next address on that it is sent to. */
  static async on(page: Page, most: Most): Promise<Hands> {
    const hands = new Hands(page, most);
    await page.exposeBinding("handsDid", (_, seen: Seen) => void hands.#seen[seen]++);
    await page.addInitScript(watch);
    return hands;
  }

  async click(target: Locator): Promise<void> {
    await target.click();
  }

  /** One key after the other; a chord ("Control+Enter") is one. */
  async press(...keys: string[]): Promise<void> {
    for (const key of keys) await this.page.keyboard.press(key);
  }

  /** Types into the field that has the focus: getting there was a click or a key, unless the console did it. */
  async type(text: string): Promise<void> {
    const typing = () => {
      let it = document.activeElement;
      // The editor keeps its field in a shadow of its own.
      while (it?.shadowRoot?.activeElement) it = it.shadowRoot.activeElement;
      return it instanceof HTMLElement && (it.isContentEditable || it.matches("textarea, input:not([type=radio], [type=checkbox])"));
    };
    await expect.poll(() => this.page.evaluate(typing), { message: "a field for text has the focus" }).toBe(true);
    await this.page.keyboard.insertText(text);
    this.#typed++;
  }

  /** The task begins, on the list of runs. */
  async start(): Promise<void> {
    await this.page.goto(new URL("/", this.page.url()).href);
    await expect(this.page.getByRole("banner").getByRole("status")).toHaveText("live");
    Object.assign(this.#seen, { click: 0, key: 0, text: 0, wheel: 0 });
    this.#started = true;
  }

  /** The task is done: what was done fits into what it may take. */
  async expectWithin(): Promise<void> {
    expect(this.#started, "the task began on the list of runs").toBe(true);
    // Whatever the page told comes before its answer.
    await this.page.evaluate(() => undefined);
    const { click, key, text } = this.#seen;
    const done = `${click} clicks, ${key} keys`;
    test.info().annotations.push({ type: "hands", description: done });
    // The editor takes text in without telling the page.
    expect(text, "all text was typed by the hands").toBeLessThanOrEqual(this.#typed);
    expect(click, done).toBeLessThanOrEqual(this.most.clicks);
    expect(click + key, done).toBeLessThanOrEqual(this.most.all);
  }

  /** All of it is in view, and neither the window nor anything around it was scrolled. */
  async expectSeenInPlace(target: Locator): Promise<void> {
    await expect(target).toBeInViewport({ ratio: 1 });
    const scrolled = await target.evaluate((element) => {
      const around = [];
      for (let it = element.parentElement; it; it = it.parentElement) around.push(it);
      return around.filter((it) => it.scrollTop !== 0).map((it) => it.className || it.tagName);
    });
    expect(scrolled, "nothing around it was scrolled").toEqual([]);
    expect(this.#seen.wheel, "no wheel was turned").toBe(0);
  }
}
