// The JSON editor: a script of its own that takes a plain field over. A click on its way there may meet the field as it goes.
import { expect, type Page } from "@playwright/test";

/** Replaces all that the editor of this name holds. */
export async function writeJson(page: Page, name: string, text: string): Promise<void> {
  await expect(page.locator("json-editor[data-ready]")).toBeAttached();
  await page.getByRole("textbox", { name }).click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(text);
}
