// Two versions of a configuration: their texts side by side, and what both put out for the same sample.
import { compare } from "../editor/compare";
import { Session } from "../editor/session";
import { Api } from "../lib/api";
import { byId, h } from "../lib/dom";
import { given, page } from "../lib/page";
import { field, Notice, options } from "../lib/ui";
import { compared } from "../testing/outputs";
import { Samples } from "../testing/samples";

const root = byId("compare", HTMLElement);
const api = new Api(page());
const notice = new Notice();
const configuration = given(root, "configuration");
const numbers = ["from", "to"].map((name) => Number(given(root, name)));
const [from = 1, to = 1] = numbers;
try {
  const [before, after] = await Promise.all(numbers.map((n) => Session.read(api, configuration, n)));
  if (before && after) {
    const host = h("div", { class: "code-host" });
    const label = (n: number): string => `Version ${n}`;
    root.replaceChildren(
      notice.element,
      h("div", { class: "two" }, h("h2", {}, label(before.version.n)), h("h2", {}, label(after.version.n))),
      host,
    );
    compare(
      host,
      { label: label(before.version.n), text: before.version.yaml },
      { label: label(after.version.n), text: after.version.yaml },
    );
    if (before.version.yaml === after.version.yaml) notice.tell("Both texts are the same.");
    if (from !== to) outputs(byId("outputs", HTMLElement));
  }
} catch (error) {
  root.prepend(notice.element);
  notice.failed(error);
}

function outputs(card: HTMLElement): void {
  const told = new Notice();
  const pipelines = JSON.parse(given(card, "pipelines")) as string[];
  const pipeline = h(
    "select",
    { id: "pipeline" },
    ...options(
      pipelines.map((id) => [id, id]),
      "",
    ),
  );
  const signal = (): string => pipeline.value.split("/")[0]?.trim() ?? "logs";
  const samples = new Samples(api, { configuration, version: to, signal }, told, (taken) => {
    if (pipelines.includes(taken.pipeline)) pipeline.value = taken.pipeline;
  });
  const results = h("div", { "aria-live": "polite" });
  const all = h("button", { type: "button", class: "plain", click: () => void run(null) }, "With all tests");
  const own = h("button", {}, "With this sample");
  const run = async (sample: string | null): Promise<void> => {
    told.tell("");
    for (const one of [all, own]) one.disabled = true;
    try {
      const side = (n: number) => ({ configuration_id: configuration, version_number: n });
      const tests = [{ name: "sample", target_pipeline: pipeline.value, sample: sample ?? "" }];
      const found = await compared(
        api,
        { left: side(from), right: side(to), ...(sample !== null && { tests }) },
        (status) => results.replaceChildren(h("p", {}, `${status} …`)),
      );
      results.replaceChildren(h("h3", {}, `Outputs of version ${from} (left) and ${to} (right)`), found);
    } catch (error) {
      results.replaceChildren();
      told.failed(error);
    } finally {
      for (const one of [all, own]) one.disabled = false;
    }
  };
  card.replaceChildren(
    h(
      "details",
      { toggle: () => void begin() },
      h("summary", {}, "Compare what they put out"),
      told.element,
      h(
        "form",
        {
          submit: (event) => {
            event.preventDefault();
            void run(samples.value);
          },
        },
        field("Pipeline", pipeline),
        samples.element,
        h("div", { class: "buttons" }, own, all),
      ),
      results,
    ),
  );
  card.hidden = false;
  // Its choices are asked for when somebody looks at them.
  let isFilled = false;
  const begin = async (): Promise<void> => {
    if (isFilled) return;
    isFilled = true;
    await samples.begin();
  };
}
