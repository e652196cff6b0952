// The editor of a version.
import { Checks } from "../editor/checks";
import { resolve } from "../editor/compare";
import { Editor } from "../editor/editor";
import { documentLines } from "../editor/assist";
import { Panels } from "../editor/panels";
import { outline } from "../editor/place";
import { shown, verdictOf } from "../editor/problems";
import { publish } from "../editor/publishing";
import { Reference } from "../editor/reference";
import { gates, question } from "../editor/question";
import { Overtaken, Session } from "../editor/session";
import { changes, details, summary } from "../editor/switching";
import { choose } from "../editor/go_to";
import { markCoverage } from "../editor/marks";
import { followHosts } from "../graph/health";
import { Api } from "../lib/api";
import { byId, h } from "../lib/dom";
import { given, page } from "../lib/page";
import type { Check, CollectorVersion } from "../lib/types";
import { list } from "../lib/shortcuts";
import { UnsavedTexts } from "../lib/unsaved";
import { Beside } from "../testing/beside";
import { Tests } from "../testing/version_tests";
import { button, messageOf, notChecked, Notice, options } from "../lib/ui";

const root = byId("editor", HTMLElement);
const api = new Api(page());
const notice = new Notice();
const CHECKING = "Checking …";
// How soon the list of collectors is asked for again while one is being built, in milliseconds.
const BUILDING = 15_000;
const verdict = h("p", { id: "verdict", role: "status" }, CHECKING);
const collector = h("select", { id: "collector", "aria-label": "Collector version" });
const saveButton = button("Save", () => save(), { id: "save", class: "plain" });
const publishButton = button("Publish …", () => begin(), { id: "publish" });
const goTo = (line: number, column?: number): void => editor.goTo(line, column);
const tests = new Tests(
  api,
  () => ({
    configuration: session.configuration,
    n: session.n,
    run: `${given(root, "path")}/versions/${session.n}/run`,
    isSaved: !isChanged(),
  }),
  ({ items }) => {
    const counts = new Map<string, number>();
    for (const { target_pipeline: id } of items) counts.set(id, (counts.get(id) ?? 0) + 1);
    panels.graph.tested(counts);
  },
  (mutants) => markCoverage(editor.view, mutants),
  goTo,
);
const changeable = given(root, "changeable") === "yes";
const unsaved = new UnsavedTexts(page().person, localStorage);
const run = new Beside(
  api,
  () => ({
    yaml: editor.text,
    collector_version: collector.value,
    ...gates(session.saved.version),
    isValid: latest?.valid ?? false,
  }),
  (line) => editor.text.split("\n")[line - 1]?.trim() ?? "",
  unsaved,
  `${given(root, "configuration")}/sample`,
  given(root, "quick") === "yes",
);
const panels = new Panels(
  goTo,
  tests.element,
  (name) => void opened(name),
  changeable ? { mend: (fix) => editor.mend(fix), takeOut: (yaml) => (editor.text = yaml) } : null,
  run.element,
);

const session = new Session(
  api,
  given(root, "configuration"),
  unsaved,
  await Session.read(api, given(root, "configuration"), Number(given(root, "version"))),
);
// Somebody may type and save before the list of installed versions is there.
const own = session.saved.version.collector_version;
collector.append(...options([[own, own]], own));
let reference = new Reference(api, session.saved.version.collector_version);
let latest: Check | null = null;
let store: ReturnType<typeof setTimeout> | undefined;
// The version of which tests are shown, and the one of which hosts are followed; 0 for none.
let tested = 0;
let reported = 0;

const checks = new Checks<Check>(
  ask,
  (check) => {
    latest = check;
    const problems = shown(check);
    const items = check.lint && "items" in check.lint ? check.lint.items : [];
    editor.show(problems, items);
    panels.show(check, problems);
    if (check.graph && "pipelines" in check.graph) run.pipelines = check.graph.pipelines.map(({ id }) => id);
    const others = problems.filter(({ severity }) => severity !== "error").length;
    const { text, kind } = verdictOf(check);
    tell(text, kind, others ? ` · ${others} more ${others === 1 ? "finding" : "findings"}` : "");
  },
  (error) => {
    latest = null;
    const [why, kind] = notChecked(error);
    tell(why, kind);
    panels.notChecked(why, kind);
  },
);

const host = h("div", { class: "code-host" });
const restored = changeable ? session.restore() : null;
const editor = new Editor(host, {
  text: restored ?? session.saved.version.yaml,
  label: "Configuration, YAML",
  readOnly: !changeable,
  reference: () => reference,
  changed,
});

root.replaceChildren(
  notice.element,
  h(
    "div",
    { class: "toolbar" },
    h("label", { for: "collector" }, "Collector"),
    collector,
    verdict,
    saveButton,
    publishButton,
  ),
  h("div", { class: "editing" }, host, panels.element),
);
root.classList.add("ready");
if (restored !== null)
  notice.tell("This is what you typed before and did not save. ", button("Discard it", discard, { class: "link" }));
if (!changeable) notice.tell("Only the owner and Admins can change this configuration; you can read it here.");
collector.addEventListener("change", () => {
  reference = new Reference(api, collector.value);
  changed(editor.text);
  void tellSwitch(collector.value);
});
changed(editor.text);
void listCollectors();
const line = Number(new URLSearchParams(location.search).get("line"));
if (line > 0) editor.goTo(line);

async function ask(yaml: string): Promise<Check> {
  // After a save this asks again, and the list shows that verdict.
  const path = `/validate?lint=true&policies=true&graph=true&remember=${!isChanged()}`;
  const body = question({ ...session.saved.version, yaml, collector_version: collector.value });
  return (await api.request<Check>("POST", path, { body })).body;
}

function tell(text: string, kind: string, more = ""): void {
  verdict.replaceChildren(h("span", { class: `verdict ${kind}` }, text), more);
}

function isChanged(): boolean {
  return editor.text !== session.base.text || collector.value !== session.saved.version.collector_version;
}

function changed(text: string): void {
  const isOther = isChanged();
  saveButton.disabled = !changeable || !isOther;
  publishButton.disabled = !changeable || (!session.isDraft && !isOther);
  if (isOther && reported) {
    reported = 0;
    panels.graph.reported(null, "Hosts run published versions, and not this text.");
  }
  latest = null;
  panels.graph.isStale = true;
  // The verdict was about another text.
  if (verdict.textContent !== CHECKING) verdict.textContent = CHECKING;
  checks.typed(text);
  run.typed();
  clearTimeout(store);
  store = setTimeout(() => {
    panels.outlined(outline(documentLines(editor.view.state.doc)));
    if (changeable && !session.typed(text))
      notice.warn("This browser has no room to keep what you type: save it before you leave this page.");
  }, 500);
}

async function listCollectors(wasBuilding = false): Promise<void> {
  let installed: CollectorVersion[] = [];
  try {
    installed = await api.all<CollectorVersion>("/collector-versions");
  } catch {
    // The editor is whole without the list: its own version stays chosen.
    setTimeout(() => void listCollectors(wasBuilding), BUILDING);
    return;
  }
  const listed = installed
    .filter(({ unusable }) => unusable === null)
    .map((installed): [string, string] => [installed.version, labelOf(installed)]);
  if (!listed.some(([version]) => version === own)) listed.unshift([own, `${own} (not installed)`]);
  collector.replaceChildren(...options(listed, collector.value));
  collector.disabled = !changeable;
  const isBuilding = installed.some(({ whole_in_seconds }) => whole_in_seconds !== null);
  // What the first program told of its components is not all.
  if (wasBuilding && !isBuilding) reference = new Reference(api, collector.value);
  if (isBuilding) setTimeout(() => void listCollectors(true), BUILDING);
}

function labelOf({ version, reduced, whole_in_seconds: seconds }: CollectorVersion): string {
  if (seconds !== null) return `${version} (whole in about ${Math.max(1, Math.round(seconds / 60))} min)`;
  return reduced ? `${version} (reduced build)` : version;
}

async function tellSwitch(to: string): Promise<void> {
  const from = session.saved.version.collector_version;
  notice.tell("");
  if (to === from) return;
  try {
    const report = await changes(api, { yaml: editor.text, from, to, ...gates(session.saved.version) });
    if (collector.value !== to) return;
    const more = details(report, goTo);
    notice.tell(summary(from, to, report), ...(more ? [more] : []));
  } catch (error) {
    notice.failed(error);
  }
}

/** Tests and hosts are asked for when somebody looks at them, of each version once. */
async function opened(name: string): Promise<void> {
  const { n } = session;
  if (["Graph", "Table", "Tests"].includes(name) && tested !== n) {
    tested = n;
    await tests.read();
  }
  if (name !== "Graph" && name !== "Table") return;
  if (session.isDraft || isChanged()) panels.graph.reported(null, "Hosts run published versions, and not this text.");
  else if (reported !== n) {
    reported = n;
    try {
      await followHosts(
        api,
        session.configuration,
        n,
        (health) => reported === n && panels.graph.reported(health),
        () => reported !== n,
      );
    } catch (error) {
      reported = 0;
      panels.graph.reported(null, `What hosts report could not be read: ${messageOf(error)}`);
    }
  }
}

/** True if everything that is typed is saved. */
async function save(): Promise<boolean> {
  const [text, n] = [editor.text, session.n];
  clearTimeout(store);
  session.typed(text);
  saveButton.disabled = true;
  try {
    await session.save(text, collector.value);
  } catch (error) {
    changed(editor.text);
    if (error instanceof Overtaken) return merge(text, error);
    notice.failed(error);
    return false;
  }
  notice.tell(
    session.n === n ? `Version ${n} is saved.` : `Version ${n} is published, so this is saved as version ${session.n}.`,
  );
  place();
  // Somebody may have typed on while it was saved.
  changed(editor.text);
  return editor.text === text;
}

async function merge(mine: string, { theirs }: Overtaken): Promise<boolean> {
  const text = await resolve(mine, session.base.text, theirs);
  if (text === null) {
    notice.warn("Not saved: somebody else changed this version meanwhile. What you typed is kept in this browser.");
    return false;
  }
  editor.text = text;
  session.merged(theirs);
  return save();
}

const places = { goTo, open: (name: string) => panels.open(name) };

async function begin(): Promise<void> {
  if (!saveButton.disabled && !(await save())) return;
  try {
    if (!(await publish(api, session, latest ?? (await ask(session.saved.version.yaml)), places))) return;
    const query = `configuration_id=${session.configuration}&version_number=${session.n}`;
    const rollOut = `/organizations/${page().organization}/fleets/roll-out?${query}`;
    notice.tell(
      `Version ${session.n} is published. `,
      h("a", { href: rollOut }, "Roll it out"),
      " · ",
      h("a", { href: `${given(root, "path")}/versions/${session.n}` }, "To the version"),
    );
    place();
    changed(editor.text);
  } catch (error) {
    notice.failed(error);
  }
}

function discard(): void {
  session.discard();
  editor.text = session.saved.version.yaml;
  notice.tell("");
}

/** The page's heading and address are those of the version that is edited. */
function place(): void {
  tested = 0;
  byId("which", HTMLElement).textContent = `version ${session.n}`;
  byId("status", HTMLElement).replaceChildren(
    h("span", { class: `tag${session.isDraft ? "" : " good"}` }, session.isDraft ? "draft" : "published"),
  );
  history.replaceState(null, "", `?version=${session.n}`);
}

// Before the editor, in which this key adds a line.
window.addEventListener(
  "keydown",
  (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key !== "Enter" || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    event.stopPropagation();
    panels.open("Run");
    void run.start();
  },
  { capture: true },
);
window.addEventListener("keydown", (event) => {
  if (!event.ctrlKey && !event.metaKey) return;
  if (event.key === "s") {
    event.preventDefault();
    if (!saveButton.disabled) void save();
  } else if (event.shiftKey && event.key.toLowerCase() === "o") {
    event.preventDefault();
    choose(outline(documentLines(editor.view.state.doc)), goTo);
  }
});
list(
  { keys: "Ctrl-S", does: "Save" },
  { keys: "Ctrl-Enter", does: "Run the sample through the text" },
  { keys: "Ctrl-Space", does: "Suggest what fits here" },
  { keys: "Ctrl-I", does: "Help about what is at the cursor" },
  { keys: "Ctrl-B, Ctrl-click", does: "To where the component is declared, and back to where it is used" },
  { keys: "Ctrl-Shift-O", does: "Go to a component or a pipeline" },
  { keys: "F8", does: "To the next problem" },
  { keys: "Ctrl-F", does: "Search in the text" },
  { keys: "Ctrl-] Ctrl-[", does: "Indent more or less" },
  { keys: "Tab", does: "Leave the editor" },
);
window.addEventListener("pagehide", () => {
  if (changeable) session.typed(editor.text);
});
