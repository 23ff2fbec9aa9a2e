// Forms made from a gate's JSON Schema: in the schema's order, with their limits, and with errors where they belong.
import type { Locator } from "@playwright/test";

import type { Agent } from "../support/agent.ts";
import { ask, REFUND } from "../support/question.ts";
import { expect, expectAccessible, expectLive, test } from "../support/test.ts";
import { viewer } from "../support/viewer.ts";

const stepOf = async (agent: Agent, id: string) =>
  (await agent.get<{ step: { status: string; result: unknown; gate: { schema: unknown } } }>(`/runs/${id}/steps/1`)).step;

/** What stands around a field. */
const around = (field: Locator) => field.locator("xpath=ancestor::*[contains(concat(' ', @class, ' '), ' field ')][1]");

test("fields stand in the schema's order with their limits beside them, and what no form can show is JSON, that part alone", async ({
  admin,
  agent,
  server,
}) => {
  const id = await ask(agent, "How is it paid back?", REFUND);
  const sent = Object.keys(REFUND.properties);
  expect(Object.keys((await stepOf(agent, id)).gate.schema as { properties: object }), "the schema's words, as they were sent").toEqual(
    Object.keys(REFUND),
  );
  for (const path of ["/inbox", `/runs/${id}`]) {
    await admin.goto(server.url + path);
    await expectLive(admin);
    const form = admin.locator("form.answer");
    const shown = await form.locator(".form-fields > * > :is(label:not(:has(input)), legend, .field-title)").allTextContents();
    expect(shown.map((it) => it.replace(" (optional)", ""))).toEqual([
      "Day of the refund",
      "Amount in cents",
      "Not before",
      "Contact",
      "note",
      "Tone",
      "Address",
      "Lines",
      "Pay by",
      "Anything else",
    ]);
    expect(shown.length).toBe(sent.length);
    const question = admin.locator(".question");
    const above = (await question.getByRole("heading", { name: "How is it paid back?" }).boundingBox())!;
    const below = (await form.boundingBox())!;
    expect(above.y + above.height, "the question stands above the form").toBeLessThanOrEqual(below.y);
    await expect(around(form.getByLabel("Amount in cents"))).toContainText("1 to 500");
    await expect(around(form.getByLabel("note"))).toContainText("at most 80 characters");
    await expect(around(form.getByLabel("note"))).toContainText("Printed on the receipt");
    await expect(form.getByRole("group", { name: "Lines" })).toContainText("1 to 3 items");
    await expect(form.locator(".field-json")).toHaveCount(1);
    await expect(form.locator(".field-json")).toContainText("A form cannot show this part: it may be anything. Type it as JSON.");
  }
});

test("a form is filled in and sent by keys alone", async ({ admin, agent, server }) => {
  const id = await ask(agent, "How is it paid back?", REFUND);
  await admin.goto(`${server.url}/inbox`);
  await expectLive(admin);
  const form = admin.locator("form.answer");
  const keys = admin.keyboard;
  await form.getByLabel("Day of the refund").focus();
  await keys.type("11182026");
  await expect(form.getByLabel("Day of the refund")).toHaveValue("2026-11-18");
  await form.getByLabel("Amount in cents").focus();
  await keys.type("120");
  await form.getByLabel("Not before").fill("2026-11-18T09:30");
  await form.getByLabel("Contact").focus();
  await keys.type("a@b.example");
  await form.getByRole("radio", { name: "Formal" }).focus();
  await keys.press("ArrowDown");
  await expect(form.getByRole("radio", { name: "Friendly" })).toBeChecked();
  await form.getByLabel("street").focus();
  await keys.type("High Street 1");
  await keys.press("Tab");
  await expect(form.getByLabel("city"), "Tab goes on in the order of the schema").toBeFocused();
  await keys.type("Bonn");
  await keys.press("Tab");
  await expect(form.getByLabel("Name").first(), "a list begins with what it must have").toBeFocused();
  await keys.type("Shoes");
  await keys.press("Tab");
  await keys.type("100");
  const add = form.getByRole("button", { name: "Add to Lines" });
  await add.focus();
  await keys.press("Enter");
  await expect(form.getByLabel("Name").nth(1), "the new item has the focus").toBeFocused();
  await keys.type("Wrong");
  await add.focus();
  await keys.press("Enter");
  await expect(form.getByLabel("Name").nth(2), "the next one, too").toBeFocused();
  await keys.type("Laces");
  await keys.press("Tab");
  await keys.type("20");
  await expect(add, "the list is full").toBeDisabled();
  await form.getByRole("button", { name: "Remove item 2 of Lines" }).focus();
  await keys.press("Enter");
  await expect(form.getByLabel("Name")).toHaveCount(2);
  await expect(add, "the focus is not lost").toBeFocused();
  await form.getByRole("radio", { name: "Card" }).focus();
  await keys.press("Space");
  await form.getByLabel("Last four digits").focus();
  await keys.type("4242");
  await form.getByLabel("Reason").focus();
  await keys.type("policy");
  await keys.press("Control+Enter");
  await expect(admin.getByRole("status").filter({ hasText: "You answered" })).toBeVisible();
  expect((await stepOf(agent, id)).result).toEqual({
    when: "2026-11-18",
    cents: 120,
    at: "2026-11-18T09:30:00Z",
    contact: "a@b.example",
    tone: "Friendly",
    address: { street: "High Street 1", city: "Bonn" },
    lines: [
      { name: "Shoes", cents: 100 },
      { name: "Laces", cents: 20 },
    ],
    pay: { kind: "card", last4: "4242" },
  });
});

test("the first error is in view, has the focus, and is said at its field", async ({ admin, agent, server }) => {
  const id = await ask(agent, "How is it paid back?", REFUND);
  for (const width of [1440, 390]) {
    await admin.setViewportSize({ width, height: 700 });
    await admin.goto(`${server.url}/runs/${id}`);
    await expectLive(admin);
    const form = admin.locator("form.answer");
    const send = form.getByRole("button", { name: "Send answer" });
    await form.getByLabel("Day of the refund").fill("2026-11-18");
    await form.getByLabel("Amount in cents").fill("501");
    await form.getByLabel("Contact").fill("nobody");
    await send.click();
    const cents = form.getByLabel("Amount in cents");
    await expect(cents).toBeFocused();
    await expect(cents).toBeInViewport();
    await expect(form.getByRole("alert"), "one is announced").toHaveText("Amount in cents must be 1 to 500");
    await expect(form.getByRole("alert")).toBeInViewport();
    await expect(around(cents)).toContainText("Amount in cents must be 1 to 500");
    await expect(around(form.getByLabel("Contact")), "the others are said at theirs").toContainText("must be an e-mail address");
    await expect(cents).toHaveAttribute("aria-invalid", "true");
    await cents.fill("12");
    await form.getByLabel("Contact").fill("a@b.example");
    await send.click();
    await expect(form.getByLabel("street")).toBeFocused();
    await expect(form.getByRole("alert")).toHaveText("street is missing");
    await form.getByLabel("street").fill("High Street 1");
    await form.getByLabel("city").fill("Bonn");
    await form.getByLabel("Name").fill("Shoes");
    await form.getByLabel("Cents").last().fill("1");
    await send.click();
    await expect(form.getByRole("radio", { name: "Card" })).toBeFocused();
    await expect(form.getByRole("alert")).toHaveText("Pay by is missing: choose one");
    await form.getByRole("radio", { name: "Transfer" }).check();
    await form.getByLabel("IBAN").fill("DE02");
    await form.getByLabel("Not before").focus();
    await admin.keyboard.type("11");
    await send.click();
    await expect(form.getByRole("alert")).toHaveText("The date is not complete.");
    await expect(form.getByLabel("Not before")).toBeFocused();
    await form.getByLabel("Not before").fill("2026-11-18T09:30");
    await send.click();
    await expect(form.getByRole("alert")).toContainText("A reason is missing");
    await expect(form.getByLabel("Reason")).toBeFocused();
  }
  expect((await stepOf(agent, id)).status).toBe("waiting");
});

test("a box that nobody touched is left out of the answer", async ({ admin, agent, server }) => {
  const schema = {
    type: "object",
    required: ["cents"],
    properties: {
      cents: { type: "integer", title: "Amount in cents" },
      notify: { type: "boolean", title: "Tell the customer" },
      refund: { type: "boolean", title: "Refund", default: true },
    },
  };
  for (const touched of [false, true]) {
    const id = await ask(agent, touched ? "And now?" : "How much?", schema);
    await admin.goto(`${server.url}/runs/${id}`);
    await expectLive(admin);
    const form = admin.locator("form.answer");
    await form.getByLabel("Amount in cents").fill("120");
    if (touched) {
      await form.getByLabel("Tell the customer").check();
      await form.getByLabel("Tell the customer").uncheck();
    }
    await form.getByLabel("Reason").fill("policy");
    await form.getByRole("button", { name: "Send answer" }).click();
    await expect.poll(async () => (await stepOf(agent, id)).status).not.toBe("waiting");
    const said = touched ? { notify: false } : {};
    expect((await stepOf(agent, id)).result).toEqual({ cents: 120, refund: true, ...said });
  }
});

test("what the server says against an answer stands at its field", async ({ admin, agent, server, consoleErrors }) => {
  const schema = {
    type: "object",
    required: ["codes"],
    properties: { codes: { type: "array", title: "Codes", items: { type: "string", title: "Code", maxLength: 9, pattern: "^[A-Z]{3}$" } } },
  };
  const id = await ask(agent, "Which codes?", schema);
  await admin.goto(`${server.url}/inbox`);
  await expectLive(admin);
  const form = admin.locator("form.answer");
  const add = form.getByRole("button", { name: "Add to Codes" });
  await add.click();
  await form.getByLabel("Code", { exact: true }).fill("ABC");
  await add.click();
  await form.getByLabel("Code", { exact: true }).nth(1).fill("abc");
  await form.getByLabel("Reason").fill("policy");
  await form.getByRole("button", { name: "Send answer" }).click();
  const second = form.getByLabel("Code", { exact: true }).nth(1);
  await expect(second).toBeFocused();
  await expect(around(second).getByRole("alert")).toContainText("The agent's schema refuses this");
  await expect(around(form.getByLabel("Code", { exact: true }).first()).getByRole("alert")).toHaveCount(0);
  expect((await stepOf(agent, id)).status).toBe("waiting");
  await second.fill("DEF");
  await form.getByRole("button", { name: "Send answer" }).click();
  await expect(admin.getByRole("status").filter({ hasText: "You answered" })).toBeVisible();
  expect((await stepOf(agent, id)).result).toEqual({ codes: ["ABC", "DEF"] });
  consoleErrors.length = 0; // Chromium reports a refusal as an error
});

test("a form is accessible in both themes, wide and narrow, and a thumb can press what it has", async ({ admin, agent, server }) => {
  test.slow();
  const id = await ask(agent, "How is it paid back?", REFUND);
  for (const colorScheme of ["light", "dark"] as const) {
    for (const width of [1440, 390]) {
      for (const path of ["/inbox", `/runs/${id}`]) {
        await admin.emulateMedia({ colorScheme });
        await admin.setViewportSize({ width, height: 844 });
        await admin.goto(server.url + path);
        await expectLive(admin);
        const form = admin.locator("form.answer");
        await form.getByRole("radio", { name: "Card" }).check();
        await form.getByRole("button", { name: "Send answer" }).click();
        await expect(form.getByRole("alert")).toHaveText("Day of the refund is missing");
        await expectAccessible(admin);
        const over = await admin.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        expect(over, `no sideways scrolling at ${width} px`).toBeLessThanOrEqual(0);
        if (width > 720) continue;
        const small = await form.evaluate((form) =>
          [...form.querySelectorAll("button, input:not([type=radio], [type=checkbox]), select, .choice")]
            .filter((it) => it.getBoundingClientRect().height < 43.5)
            .map((it) => `${it.id} ${it.textContent} ${it.getBoundingClientRect().height}`),
        );
        expect(small).toEqual([]);
      }
    }
  }
});

test("a viewer reads the question on the run's page, and why there is no form", async ({ admin, agent, server, browser }) => {
  const id = await ask(agent, "How is it paid back?", REFUND);
  const vera = await viewer(admin, server, browser);
  await vera.goto(`${server.url}/runs/${id}`);
  const question = vera.getByRole("region", { name: "Question" });
  await expect(question).toContainText("How is it paid back?");
  await expect(question).toContainText("View only. Ask an operator to decide.");
  await expect(vera.locator("form.answer")).toHaveCount(0);
  await vera.context().close();
});
