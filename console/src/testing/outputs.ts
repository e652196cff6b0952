// What two versions put out for the same samples, record by record.
import type { Api } from "../lib/api";
import { h } from "../lib/dom";
import { poll } from "../lib/poll";
import { ofSides } from "./complaints";
import type { ComparedTest, ComparisonResult, Job } from "./types";

const STATUS = {
  equal: ["= the same", "good"],
  differs: ["≠ differs", "bad"],
  not_compared: ["! not compared", "bad"],
} as const;
const CHANGE = { added: "+ only on the right", missing: "− only on the left", changed: "~ changed" };
const FIELD = { added: "+ added", missing: "− missing", changed: "~ changed" };
// More would not be read, and each is an element.
const MOST = 100;

export interface Asked {
  left: { configuration_id: string; version_number: number };
  right: { configuration_id: string; version_number: number };
  tests?: { name: string; target_pipeline: string; sample: string }[];
}

/** Starts a comparison and returns what it found. `told` is called with its status meanwhile. */
export async function compared(api: Api, asked: Asked, told: (status: string) => void): Promise<HTMLElement> {
  const { body } = await api.request<Job<ComparisonResult>>("POST", "/testing/comparisons", {
    body: asked,
    headers: { "Idempotency-Key": crypto.randomUUID() },
  });
  told(body.status);
  const ended = await poll(
    () => api.get<Job<ComparisonResult>>(`/testing/comparisons/${body.id}`),
    ({ status }) => status === "Done" || status === "Error",
    ({ status }) => told(status),
  );
  if (!ended.result) return h("p", { class: "error" }, ended.reason || "The comparison did not come to an end");
  return h("div", {}, ...ended.result.tests.map(result));
}

function result(test: ComparedTest): HTMLElement {
  const [label, kind] = STATUS[test.status];
  const found = test.differences?.differences ?? [];
  const left = (test.differences?.left_out ?? 0) + Math.max(0, found.length - MOST);
  const complaints = ofSides(test.left, test.right);
  return h(
    "section",
    { class: "record" },
    h(
      "p",
      {},
      h("span", { class: `tag ${kind}` }, label),
      ` ${test.name} `,
      h("span", { class: "soft small" }, `pipeline ${test.target_pipeline}`),
    ),
    test.reason !== "" && h("p", { class: "soft small" }, test.reason),
    !!test.saving && h("p", { class: "small" }, test.saving.words),
    ...(test.saving?.services ?? []).map((one) => h("p", { class: "soft small" }, `${one.service}: ${one.words}`)),
    ...found
      .slice(0, MOST)
      .map(({ change, signal, name, fields, fields_left_out }) =>
        h(
          "details",
          { open: found.length <= 5 },
          h("summary", {}, `${CHANGE[change]}: ${signal} `, h("code", {}, name)),
          h(
            "ul",
            { class: "names" },
            ...fields.map((one) =>
              h(
                "li",
                { class: "change" },
                h("strong", {}, FIELD[one.change]),
                h("code", {}, one.path),
                one.change !== "added" && h("del", {}, plain(one.left)),
                one.change !== "missing" && h("ins", {}, plain(one.right)),
              ),
            ),
          ),
          fields_left_out > 0 && h("p", { class: "soft small" }, `${fields_left_out} more fields`),
        ),
      ),
    left > 0 && h("p", { class: "soft small" }, `${left} more differences`),
    complaints.length > 0 && h("ul", { class: "small" }, ...complaints.map((line) => h("li", {}, line))),
  );
}

/** A value of OTLP without its type; `{"stringValue": "a"}` is `a`. */
function plain(value: unknown): string {
  const [entry, ...more] = value !== null && typeof value === "object" ? Object.entries(value) : [];
  const inner = entry && more.length === 0 && entry[0].endsWith("Value") ? (entry[1] as unknown) : value;
  return typeof inner === "string" ? inner : JSON.stringify(inner);
}
