// Heads of the chains: copied in full where they are shown in short, and compared with one that was noted down.
import { crashedRun } from "../support/sample.ts";
import { damage } from "../support/tamper.ts";
import { expect, expectAccessible, expectLive, test } from "../support/test.ts";

test("a hash that is shown in short is copied in full", async ({ admin, agent, server, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const id = await crashedRun(agent);
  const copied = () => admin.evaluate(() => navigator.clipboard.readText());
  await admin.goto(`${server.url}/audit`);
  await expectLive(admin);
  await admin.getByRole("button", { name: "Verify the chain" }).click();
  const verified = admin.getByText(/^Verified to entry/);
  const short = /head ([0-9a-f]{12})…/.exec((await verified.textContent()) ?? "")?.[1];
  await verified.getByRole("button", { name: "Copy the full hash" }).click();
  await expect(admin.getByText("Copied the full hash").first()).toBeVisible();
  const head = await copied();
  expect(head).toMatch(/^[0-9a-f]{64}$/);
  expect(head.startsWith(short!)).toBe(true);

  await admin.goto(`${server.url}/settings`);
  await expectLive(admin);
  const integrity = admin.getByRole("region", { name: "Integrity" });
  await integrity.getByRole("button", { name: "Copy the full hash" }).first().click();
  await expect.poll(copied).not.toBe(head);
  expect(await copied()).toMatch(/^[0-9a-f]{64}$/);

  await admin.goto(`${server.url}/runs/${id}`);
  await expectLive(admin);
  await admin.getByRole("button", { name: "Verify", exact: false }).first().click();
  const said = admin.locator(".verification-said").filter({ hasText: "Verified to event" });
  await said.getByRole("button", { name: "Copy the full hash" }).click();
  const begins = /head ([0-9a-f]{12})…/.exec((await said.textContent()) ?? "")?.[1];
  await expect.poll(copied).toMatch(new RegExp(`^${begins}[0-9a-f]{52}$`));
});

test("a noted head of the audit trail is compared with the chain", async ({ admin, server }) => {
  await admin.goto(`${server.url}/settings`);
  await expectLive(admin);
  const integrity = admin.getByRole("region", { name: "Integrity" });
  const trail = integrity.locator("dl > div").filter({ hasText: "Audit trail" });
  const [, entry, head] = /at entry (\d+).*?([0-9a-f]{64})/s.exec((await trail.textContent()) ?? "") ?? [];
  const field = integrity.getByLabel("Audit head you saved earlier");
  const answer = integrity.locator("#compared-audit");
  const compare = async (noted: string) => {
    await field.fill(noted);
    await integrity.getByRole("button", { name: "Compare audit head" }).click();
  };
  await compare(head!);
  await expect(answer).toHaveText(`The chain contains it at entry ${entry}: nothing up to there was cut or rewritten.`);
  await compare(`${entry}:${head}`);
  await expect(answer).toContainText(`at entry ${entry}`);
  await compare(`${entry}:${"0".repeat(64)}`);
  await expect(answer).toHaveText("The chain does not contain it: entries were cut or rewritten, or it is another store's head.");
  await compare("not a head");
  await expect(answer).toContainText("NUMBER:HASH");
  await expectAccessible(admin);
});

test("a noted head of the events is compared with the chain, and claims no more than that it is there", async ({ admin, agent, server }) => {
  await crashedRun(agent);
  await admin.goto(`${server.url}/settings`);
  await expectLive(admin);
  const integrity = admin.getByRole("region", { name: "Integrity" });
  const events = integrity.locator("dl > div").filter({ hasText: "at event" });
  const [, event, head] = /at event ([\d,]+).*?([0-9a-f]{64})/s.exec((await events.textContent()) ?? "") ?? [];
  const answer = integrity.locator("#compared-event");
  const compare = async (noted: string) => {
    await integrity.getByLabel("Event head you saved earlier").fill(noted);
    await integrity.getByRole("button", { name: "Compare event head" }).click();
  };
  const there = `The chain contains it at event ${event!.replaceAll(",", "")}: it was not cut before there. “Verify everything” checks each event.`;
  await compare(head!);
  await expect(answer).toHaveText(there);
  await compare(`${event!.replaceAll(",", "")}:${"0".repeat(64)}`);
  await expect(answer).toHaveText("The chain does not contain it: events were cut or rewritten, or it is another store's head.");
  // What lies half under the top bar would count as too small a target.
  await admin.evaluate(() => window.scrollTo(0, 0));
  await expectAccessible(admin);
});

test("the hash of a state is copied in full", async ({ admin, agent, server, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const id = await crashedRun(agent);
  await admin.goto(`${server.url}/runs/${id}?step=3&tab=state`);
  await expectLive(admin);
  const stands = admin.locator("p").filter({ hasText: /^snapshot / });
  const short = /hash ([0-9a-f]{16})…/.exec((await stands.textContent()) ?? "")?.[1];
  await stands.getByRole("button", { name: "Copy the full hash" }).click();
  await expect.poll(() => admin.evaluate(() => navigator.clipboard.readText())).toMatch(new RegExp(`^${short}[0-9a-f]{48}$`));
});

test("a head is in the chain no longer where the chain was rewritten", async ({ admin, agent, server, consoleErrors }) => {
  const id = await crashedRun(agent);
  const reason = "rewrittenlater";
  await admin.goto(`${server.url}/runs/${id}?ask=cancel`);
  await expectLive(admin);
  const dialog = admin.getByRole("dialog");
  await dialog.getByLabel("Reason").fill(reason);
  await dialog.getByRole("button", { name: "Cancel run" }).click();
  await expect(dialog).toHaveCount(0);
  await admin.goto(`${server.url}/settings`);
  const integrity = admin.getByRole("region", { name: "Integrity" });
  const trail = integrity.locator("dl > div").filter({ hasText: "Audit trail" });
  const [, entry, head] = /at entry (\d+).*?([0-9a-f]{64})/s.exec((await trail.textContent()) ?? "") ?? [];
  await damage(admin, server, [reason]);
  await admin.goto(`${server.url}/settings`);
  await expectLive(admin);
  await integrity.getByLabel("Audit head you saved earlier").fill(`${entry}:${head}`);
  await integrity.getByRole("button", { name: "Compare audit head" }).click();
  await expect(integrity.locator("#compared-audit")).toContainText("entries were rewritten");
  consoleErrors.length = 0; // what is damaged is refused elsewhere on the page
});
