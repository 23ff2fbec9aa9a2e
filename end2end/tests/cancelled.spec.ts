// A run that is given up with an unknown effect: the console goes on saying so until someone acknowledges it.
import type { Page } from "@playwright/test";

import { crashedRun } from "../support/sample.ts";
import { expect, expectAccessible, expectLive, test } from "../support/test.ts";

const pill = (page: Page) => page.locator(".run-head .pill");
const crash = (page: Page) => page.getByRole("region", { name: "Crash" });
const unchecked = (page: Page) => page.getByRole("region", { name: "Nobody checked" });
const SAID = "may have happened; nobody checked";

async function cancelled(page: Page, url: string, id: string): Promise<void> {
  await page.goto(`${url}/runs/${id}?ask=cancel`);
  await expectLive(page);
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox").fill("the customer left");
  await dialog.getByRole("button", { name: "Cancel run" }).click();
  await expect(dialog).toHaveCount(0);
}

test("a cancelled run says who cancelled it and what nobody checked, until that is acknowledged", async ({ admin, agent, server }) => {
  const id = await crashedRun(agent);
  await cancelled(admin, server.url, id);
  await admin.goto(`${server.url}/runs/${id}?step=47`);
  await expectLive(admin);
  await expect(pill(admin)).toHaveText(`Cancelled by admin at step 47: an effect ${SAID}`);
  await expect(unchecked(admin)).toContainText(/May have happened; nobody checked/);
  await expect(unchecked(admin)).toContainText("charge €1,249.00 to cus_R91");
  await expect(unchecked(admin)).toContainText(`key ${id}:47`);
  await expect(crash(admin)).not.toContainText("a person must decide");
  await expect(crash(admin)).toContainText("acknowledge that the effect may have happened, or fork the run");
  await expectAccessible(admin);

  await admin.goto(server.url);
  await expectLive(admin);
  const row = admin.locator(`[data-run="${id}"]`);
  await expect(row).toContainText(SAID);
  await admin.goto(`${server.url}/audit?run=${id}`);
  const log = admin.getByRole("table", { name: "Audit log" });
  await expect(log).toContainText(`47 charge_card ${SAID}: charge €1,249.00 to cus_R91 (POST stripe /v1/charges), key ${id}:47`);

  await admin.goto(`${server.url}/runs/${id}?step=47`);
  await expectLive(admin);
  await unchecked(admin).getByRole("link", { name: "Acknowledge…" }).click();
  const dialog = admin.getByRole("dialog");
  await expect(dialog).toContainText("The run stays cancelled.");
  await dialog.getByRole("textbox").fill("Stripe has no such charge");
  await dialog.getByRole("button", { name: "Acknowledge" }).click();
  await expect(unchecked(admin)).toHaveCount(0);
  await expect(pill(admin)).toHaveText("Cancelled by admin at step 47");
  await expect(crash(admin)).toContainText("fork the run");
  await admin.goto(server.url);
  await expectLive(admin);
  await expect(row).toContainText("cancelled at 47");
  await expect(row).not.toContainText(SAID);
});

test("nobody cancels several runs before their unknown effects were shown", async ({ admin, agent, server }) => {
  const id = await crashedRun(agent);
  await admin.goto(server.url);
  await expectLive(admin);
  let answer = () => {};
  const looked = new Promise<void>((resolve) => (answer = resolve));
  await admin.route("**/api/groups/unknown_effects", async (route) => {
    await looked;
    await route.continue();
  });
  await admin.getByRole("checkbox", { name: "Select Reconcile October invoices" }).first().check();
  await admin.getByRole("region", { name: "Selected runs" }).getByRole("button", { name: "Cancel…" }).click();
  const dialog = admin.getByRole("dialog");
  const button = dialog.getByRole("button", { name: "Cancel 1 run" });
  await expect(dialog).toContainText("Reading the unknown effects");
  await expect(button).toBeDisabled();
  answer();
  const effects = dialog.getByRole("list", { name: "Unknown effects" });
  await expect(effects).toContainText(`47 charge_card · charge €1,249.00 to cus_R91 · POST stripe /v1/charges · key ${id}:47`);
  await expect(button).toBeEnabled();
  await expect(button).toHaveClass(/danger/);
  await expectAccessible(admin);
});
