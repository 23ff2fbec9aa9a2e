// The buttons of a page: which there are, what kind of button each is, and a press on one with its form filled.
import type { Locator, Page } from "@playwright/test";

export interface Button {
  /** The same for all buttons of one kind. */
  kind: string;
  submits: boolean;
}

/** The dialog above the page hides the rest. */
async function all(page: Page): Promise<Locator> {
  const above = await page.locator("dialog:modal").count();
  return page.locator(above > 0 ? "dialog:modal button" : "button");
}

/** In the order of the page; null where a reader cannot press. */
async function kinds(page: Page): Promise<(Button | null)[]> {
  return (await all(page)).evaluateAll((buttons) =>
    buttons.map((it) => {
      const button = it as HTMLButtonElement;
      const { width, height } = button.getBoundingClientRect();
      if (width === 0 || height === 0 || !button.checkVisibility({ visibilityProperty: true })) return null;
      const named = /\b(button|menu-item|segment)\b/.test(button.className);
      const words = (button.getAttribute("aria-label") ?? button.innerText).replace(/\s+/g, " ").replace(/\d+/g, "N").trim();
      const around = button.closest("dialog, details, form, nav, table, section, aside");
      const place = around ? `${around.tagName.toLowerCase()}.${around.classList[0] ?? ""}` : "";
      const bar = button.closest("header.topbar") ? "bar " : "";
      return { kind: `${bar}${place} ${button.classList[0] ?? ""} ${named ? words : ""}`, submits: button.type === "submit" };
    }),
  );
}

/** Each kind of button once. */
export async function buttons(page: Page): Promise<Button[]> {
  const found = (await kinds(page)).filter((it) => it !== null);
  return [...new Map(found.map((it) => [it.kind, it])).values()];
}

/** The first button of this kind. */
export async function buttonOf(page: Page, kind: string): Promise<Locator | undefined> {
  const index = (await kinds(page)).findIndex((it) => it?.kind === kind);
  return index < 0 ? undefined : (await all(page)).nth(index);
}

/** Fills the form around the button as somebody would who wants to send it. */
export async function fill(button: Locator): Promise<void> {
  const form = button.locator("xpath=ancestor::form");
  if ((await form.count()) === 0) return;
  const choices = form.locator("fieldset:has(input[type=radio]:enabled)");
  for (let n = 0; n < (await choices.count()); n++) await choices.nth(n).locator("input[type=radio]:enabled").first().check();
  const boxes = form.locator("input[type=checkbox][data-choice]:visible:enabled");
  for (let n = 0; n < (await boxes.count()); n++) await boxes.nth(n).check();
  const fields = form.locator("input:visible:enabled, textarea:visible:enabled");
  for (let n = 0; n < (await fields.count()); n++) {
    const field = fields.nth(n);
    const [empty, text] = await field.evaluate((it) => {
      const field = it as HTMLInputElement | HTMLTextAreaElement;
      const typed = field instanceof HTMLTextAreaElement || ["text", "search"].includes(field.type);
      const result = field instanceof HTMLTextAreaElement && field.name !== "reason";
      // A change of the state may be left out; a path alone is none.
      const optional = field.closest(".plan-edit") !== null;
      return [typed && !optional && !field.readOnly && field.value === "", result ? "{}" : "by test"] as const;
    });
    if (empty) await field.fill(text);
  }
}
