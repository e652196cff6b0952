// A new configuration: blank, from a file, or from a flow of the gallery.
import { Api, ApiError } from "../lib/api";
import { byId, h } from "../lib/dom";
import { given, page } from "../lib/page";
import { field, mark, Notice, options } from "../lib/ui";

interface Flow {
  slug: string;
  name: string;
  summary: string;
  collector_distribution: string;
}

interface FlowTest {
  name: string;
  target_pipeline: string;
  [field: string]: unknown;
}

const BLANK = `receivers:
  otlp:
    protocols:
      grpc:
        endpoint: localhost:4317

exporters:
  debug:

service:
  pipelines:
    logs:
      receivers: [otlp]
      exporters: [debug]
`;
const MOST_BYTES = 1_000_000;

const card = byId("new", HTMLElement);
const home = given(card, "home");
const api = new Api(page());
const notice = new Notice();
const name = h("input", { id: "name", required: true, maxlength: 200, spellcheck: "false" });
const description = h("input", { id: "description", maxlength: 2_000 });
const yaml = h("textarea", { id: "yaml", rows: 16, required: true, spellcheck: "false" }, BLANK);
const file = h("input", { id: "file", type: "file", accept: ".yaml,.yml,text/yaml" });
const withTests = h("input", { id: "with-tests", type: "checkbox", checked: true });
const testsLine = h("label", { class: "check", hidden: true }, withTests, " Bring its tests along");
const flow = h("select", { id: "flow" }, ...options([["", "None: as below"]], ""));

file.addEventListener("change", () => void fromFile(file.files?.[0]));
flow.addEventListener("change", () => void fromFlow(flow.value));
let exact = "";
// Those of the flow that is chosen.
let tests: FlowTest[] = [];
let chosen = "";
// What the last flow filled in: the next one replaces it. What was typed as the text before comes back without one.
const filled = { name: "", description: "", yaml: "" };
let typed = "";
card.replaceChildren(
  notice.element,
  h(
    "form",
    { submit: (event) => void create(event) },
    field("Name", name),
    field("Description", description),
    h("div", { class: "two" }, field("From a file", file), field("From a flow", flow)),
    testsLine,
    field("Configuration, YAML", yaml),
    h("button", {}, "Create and edit"),
  ),
);
const wanted = new URLSearchParams(location.search).get("flow") ?? "";
void listFlows().then(() => (wanted ? fromFlow(wanted) : undefined));

async function listFlows(): Promise<void> {
  try {
    const flows = await api.all<Flow>("/flows");
    flow.append(
      ...options(
        flows.filter((one) => one.collector_distribution === "otelcol-contrib").map((one) => [one.slug, one.name]),
        wanted,
      ),
    );
  } catch (error) {
    notice.failed(error);
  }
}

function bring(found: FlowTest[]): void {
  tests = found;
  const what = found.length === 1 ? "its test" : `its ${found.length} tests`;
  testsLine.lastChild?.replaceWith(` Bring ${what} along: ${found.map(({ name }) => name).join(", ")}`);
  testsLine.hidden = found.length === 0;
}

async function fromFlow(slug: string): Promise<void> {
  chosen = slug;
  bring([]);
  if (slug === "") {
    if (yaml.value === filled.yaml) yaml.value = typed;
    return;
  }
  try {
    const found = await api.get<Flow & { yaml: string; tests: FlowTest[] }>(`/flows/${encodeURIComponent(slug)}`);
    if (chosen !== slug) return;
    bring(found.tests);
    if (yaml.value !== filled.yaml) typed = yaml.value;
    yaml.value = found.yaml;
    if (["", filled.name].includes(name.value)) name.value = found.name;
    if (["", filled.description].includes(description.value)) description.value = found.summary;
    Object.assign(filled, { name: found.name, description: found.summary, yaml: yaml.value });
  } catch (error) {
    notice.failed(error);
  }
}

async function fromFile(picked: File | undefined): Promise<void> {
  mark("file", "");
  if (!picked) return;
  if (picked.size > MOST_BYTES) {
    mark("file", "The file is over 1 MB, which is more than a configuration may have");
    return;
  }
  try {
    exact = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await picked.arrayBuffer());
    flow.value = "";
    void fromFlow("");
    yaml.value = exact;
  } catch {
    mark("file", "The file is not UTF-8 text: save it as UTF-8 first");
    return;
  }
  if (name.value === "") name.value = picked.name.replace(/\.ya?ml$/, "");
}

async function create(event: Event): Promise<void> {
  event.preventDefault();
  for (const id of ["name", "yaml", "description"]) mark(id, "");
  try {
    // A text area changes the ends of lines; a file that was not edited keeps its own.
    const text = exact.replace(/\r\n?/g, "\n") === yaml.value ? exact : yaml.value;
    const body = { name: name.value, yaml: text, description: description.value.trim() || null };
    const created = await api.request<{ id: string }>("POST", "/configurations", {
      body,
      headers: { "Idempotency-Key": key() },
    });
    if (await savesTests(created.body.id)) location.assign(`${home}/configurations/${created.body.id}/edit`);
  } catch (error) {
    const errors = error instanceof ApiError ? (error.problem.errors ?? []) : [];
    const own = errors.find(({ loc }) => ["name", "yaml", "description"].includes(String(loc.at(-1))));
    if (own) mark(String(own.loc.at(-1)), own.message);
    else notice.failed(error);
  }
}

/**
 * Saves the flow's tests with the new draft, as `headgate flow use` does. If one cannot be saved, it is told instead of
 * the form: the draft is there, and must not be created again.
 */
async function savesTests(id: string): Promise<boolean> {
  for (const { name: test, ...fields } of withTests.checked ? tests : []) {
    const body = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
    try {
      await api.request("PUT", `/configurations/${id}/versions/1/tests/${encodeURIComponent(test)}`, { body });
    } catch (error) {
      const why = error instanceof ApiError ? error.problem.detail : "the service did not answer";
      const on = h("a", { href: `${home}/configurations/${id}/edit` }, "Edit it without that test");
      card.replaceChildren(notice.element);
      notice.warn(`The draft is created, but its test ${test} could not be saved: ${why}. `, on);
      return false;
    }
  }
  return true;
}

// The same for the same content, so that a second click creates nothing more.
let last = { content: "", key: "" };
function key(): string {
  const content = JSON.stringify([name.value, yaml.value, description.value]);
  if (last.content !== content) last = { content, key: crypto.randomUUID() };
  return last.key;
}
