// The list's main button: "Review" opens the plan above the run's page, by a click as by its address.
import { crashedRun } from "../support/sample.ts";
import { seen, settled } from "../support/seen.ts";
import { expect, expectLive, test } from "../support/test.ts";

test("Review in the list opens the plan, by a click as by its address", async ({ admin, agent, server }) => {
  const id = await crashedRun(agent);
  await admin.goto(`${server.url}/runs/${id}?ask=resume`);
  await expectLive(admin);
  await expect(admin.locator("dialog:modal")).toContainText("46 replayed");
  const expected = await settled(admin);
  expect(expected.dialog).toContain("charge €1,249.00 to cus_R91");
  expect(expected.unseen).toEqual([]);

  for (let n = 1; n <= 3; n++) {
    await admin.goto(server.url);
    await expectLive(admin);
    await admin.locator("a.button", { hasText: "Review" }).first().click();
    await expect(admin.locator("dialog:modal")).toBeVisible();
    await expect.poll(() => seen(admin), { message: `press ${n}` }).toEqual(expected);
  }
  await admin.keyboard.press("Escape");
  await expect(admin.locator("dialog:modal")).toHaveCount(0);
  await expect(admin).toHaveURL(`${server.url}/runs/${id}`);
});

test("a dialog that is asked for on the page opens each time", async ({ admin, agent, server }) => {
  const id = await crashedRun(agent);
  await admin.goto(`${server.url}/runs/${id}`);
  await expectLive(admin);
  for (let n = 1; n <= 3; n++) {
    await admin.getByRole("link", { name: "Review & resume" }).click();
    await expect(admin.locator("dialog:modal")).toContainText("46 replayed");
    await admin.goBack();
    await expect(admin.locator("dialog:modal")).toHaveCount(0);
  }
});
