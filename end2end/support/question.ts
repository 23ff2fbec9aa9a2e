// A question to a person whose answer has a shape: every kind of field that a form is made of.
import type { Agent } from "./agent.ts";

/** Its members are in no order that a program would give them. */
export const REFUND = {
  type: "object",
  required: ["when", "cents", "address", "lines", "pay"],
  properties: {
    when: { type: "string", format: "date", title: "Day of the refund" },
    cents: { type: "integer", title: "Amount in cents", minimum: 1, maximum: 500 },
    at: { type: "string", format: "date-time", title: "Not before" },
    contact: { type: "string", format: "email", title: "Contact" },
    note: { type: "string", maxLength: 80, description: "Printed on the receipt" },
    tone: { enum: ["Formal", "Friendly"], title: "Tone" },
    address: {
      type: "object",
      title: "Address",
      required: ["street", "city"],
      properties: { street: { type: "string", maxLength: 60 }, city: { type: "string", maxLength: 40 } },
    },
    lines: {
      type: "array",
      title: "Lines",
      minItems: 1,
      maxItems: 3,
      items: {
        type: "object",
        required: ["name", "cents"],
        properties: { name: { type: "string", maxLength: 20, title: "Name" }, cents: { type: "integer", minimum: 0, title: "Cents" } },
      },
    },
    pay: {
      title: "Pay by",
      oneOf: [
        {
          title: "Card",
          type: "object",
          required: ["kind", "last4"],
          properties: { kind: { const: "card" }, last4: { type: "string", minLength: 4, maxLength: 4, title: "Last four digits" } },
        },
        { title: "Transfer", type: "object", required: ["iban"], properties: { iban: { type: "string", maxLength: 34, title: "IBAN" } } },
      ],
    },
    extra: { title: "Anything else" },
  },
};

/** A run that asks this, and waits for an answer of this shape. */
export async function ask(agent: Agent, title: string, schema: unknown): Promise<string> {
  const id = await agent.create({ agent: "support-triage", title: "Refund #88121", state: {} });
  const run = await agent.lease(id);
  await agent.begin(run, { key: "ask", name: "ask_person", kind: "gate", gate: { title, schema, context: { order: "88121" } } });
  await agent.die(run);
  return id;
}
