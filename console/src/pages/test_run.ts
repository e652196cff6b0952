// A test run of a version's pipeline: sample and rules in, results and steps out.
import { Api, type List } from "../lib/api";
import { byId, h } from "../lib/dom";
import { given, page } from "../lib/page";
import { button, dialog, field, mark, messageOf, Notice, options } from "../lib/ui";
import { followed, isFinal, results } from "../testing/results";
import { Rules } from "../testing/rules";
import { Samples } from "../testing/samples";
import type { Listed, Run } from "../testing/types";

const SIGNALS = ["logs", "metrics", "traces", "profiles"];
const DURATIONS = [1, 5, 10, 20, 40, 60];

const root = byId("test", HTMLElement);
const api = new Api(page());
const notice = new Notice();
const [configuration, version] = [given(root, "configuration"), Number(given(root, "version"))];
const pipelines = JSON.parse(given(root, "pipelines")) as string[];
const lines = (document.querySelector("#text code")?.textContent ?? "").split("\n");

const pipeline = h(
  "select",
  { id: "pipeline" },
  ...options(
    pipelines.map((id) => [id, id]),
    new URLSearchParams(location.search).get("pipeline") ?? "",
  ),
);
const seconds = h(
  "select",
  { id: "seconds" },
  ...options(
    DURATIONS.map((n) => [String(n), n === 1 ? "1 second" : `${n} seconds`]),
    "5",
  ),
);
const saved = h("input", { id: "saved", type: "checkbox" });
const rules = new Rules(api, signal);
const start = h("button", {}, "Run");
const place = h("div", { "aria-live": "polite" });
const textOf = (line: number): string => (lines[line - 1] ?? "").trim();
const samples = new Samples(api, { configuration, version, signal }, notice, (taken) => {
  if (pipelines.includes(taken.pipeline)) pipeline.value = taken.pipeline;
  if (taken.seconds !== null)
    seconds.value = String(DURATIONS.find((one) => one >= (taken.seconds ?? 0)) ?? DURATIONS.at(-1));
  rules.refit();
  if (taken.rules.length > 0) rules.all = taken.rules;
});

pipeline.addEventListener("change", () => rules.refit());
root.replaceChildren(
  notice.element,
  h(
    "form",
    { class: "card", submit: (event) => void begin(event) },
    h("div", { class: "two" }, field("Pipeline", pipeline), field("How long the collector runs", seconds)),
    samples.element,
    rules.element,
    h("div", { class: "check" }, saved, h("label", { for: "saved" }, "Use the rules that are saved with the version")),
    h(
      "div",
      { class: "buttons" },
      start,
      button("Save as a test …", () => keep(), { class: "plain" }),
    ),
  ),
  place,
);
void samples.begin();
void showNamed();

function signal(): string {
  const named = pipeline.value.split("/")[0]?.trim() ?? "";
  return SIGNALS.includes(named) ? named : "logs";
}

async function begin(event: Event): Promise<void> {
  event.preventDefault();
  for (const id of ["sample", "pipeline"]) mark(id, "");
  const own = rules.all;
  const body = {
    configuration_id: configuration,
    version_number: version,
    sample: samples.value,
    signal_type: signal(),
    target_pipeline: pipeline.value,
    duration_seconds: Number(seconds.value),
    trace: true,
    ...(saved.checked ? { use_saved_rules: true } : own.length > 0 && { rules: own }),
  };
  start.disabled = true;
  notice.tell("");
  try {
    const { body: run } = await api.request<Run>("POST", "/testing/runs", {
      body,
      headers: { "Idempotency-Key": crypto.randomUUID() },
    });
    const ended = await followed(api, run, Number(seconds.value), place);
    place.replaceChildren(await results(api, ended, textOf));
  } catch (error) {
    notice.failed(error);
  } finally {
    start.disabled = false;
  }
}

/** A run that the page's address names is shown as it ended. */
async function showNamed(): Promise<void> {
  const id = new URLSearchParams(location.search).get("run") ?? "";
  if (!/^run_[0-9a-z]{26}$/.test(id)) return;
  try {
    const run = await api.get<Run>(`/testing/runs/${id}`);
    if (isFinal(run)) place.replaceChildren(await results(api, run, textOf));
  } catch (error) {
    notice.failed(error);
  }
}

function keep(): void {
  const name = h("input", { id: "test-name", required: true, maxlength: 80, pattern: "[A-Za-z0-9][A-Za-z0-9._\\-]*" });
  const problem = h("p", { class: "error", role: "alert" });
  let replaces = "";
  const act = async (): Promise<void> => {
    if (!name.reportValidity()) return;
    const body = {
      target_pipeline: pipeline.value,
      signal_type: signal(),
      sample: samples.value,
      duration_seconds: Number(seconds.value),
      rules: rules.all,
    };
    try {
      const tests = `/configurations/${configuration}/versions/${version}/tests`;
      const { items } = await api.get<List<Listed>>(tests);
      if (replaces !== name.value && items.some((test) => test.name === name.value)) {
        replaces = name.value;
        problem.textContent = `A test ${replaces} is there already: save again to replace it, or take another name`;
        return;
      }
      await api.request("PUT", `${tests}/${name.value}`, { body });
      shown.close();
      notice.tell(`The test ${name.value} is saved with version ${version}.`);
    } catch (error) {
      problem.textContent = messageOf(error);
    }
  };
  const shown = dialog(
    "Save as a test",
    h("p", {}, "The sample and the rules above. The next version begins with the tests of this one."),
    field("Name of the test", name, "Letters, digits, dots, dashes and underscores: a test can be a file of this name"),
    problem,
    h(
      "div",
      { class: "buttons" },
      button("Save the test", act),
      button("Cancel", () => shown.close(), { class: "plain" }),
    ),
  );
}
