// A deployment group: what it is to run, with what speaks against it said first.
import { Api, ApiError } from "../lib/api";
import { byId, h } from "../lib/dom";
import { complete, fresh } from "../lib/live";
import { given, page } from "../lib/page";
import type { Check, Version } from "../lib/types";
import { shown, verdictForHosts } from "../editor/problems";
import { question } from "../editor/question";
import { OWN, StrategyForm } from "../fleets/strategy";
import { drawWhenOpened } from "../graph/of_group";
import { button, dialog, field, mark, messageOf, Notice, options } from "../lib/ui";

interface Warning {
  code: string;
  severity: "error" | "warning";
  message: string;
  line: number | null;
}

interface Stored {
  revision: number;
  items: { name: string }[];
}

interface OnHosts {
  newest: number;
  rolled_out: number | null;
  hosts: number;
  running: { revision: number | null; hosts: number }[];
  not_moved: { name: string; message: string }[];
  unreached: number;
}

interface Configuration {
  id: string;
  name: string;
  published_version: number | null;
}

const root = byId("assign", HTMLElement);
const api = new Api(page());
const notice = new Notice();
const path = `/fleets/${given(root, "fleet")}/deployments/${given(root, "deployment")}`;
const configuration = h("select", { id: "configuration", required: true }, ...options([["", "Choose one"]], ""));
const version = h("select", { id: "version", required: true });
const message = h("input", { id: "message", maxlength: 500 });
const AT_ONCE = "at_once";
// A first version that hosts do not run yet; a rollout of it is refused unless that is accepted.
const DIFFERS = "differs_from_running";
// From so many hosts on, a change of all at once is confirmed with the group's name.
const NAMED_FROM = 5;
const AT_ONCE_DOES =
  "Every host gets the version with its next heartbeat. Nothing stops it, and nothing goes back by itself.";
const IN_STEPS_DOES = "The hosts change step by step. If they do worse than before, it stops or goes back by itself.";
const way = h(
  "select",
  { id: "way" },
  ...options(
    [
      ["canary", "In steps: a canary first"],
      ["careful", "In steps: carefully"],
      ["fast", "In steps: fast"],
      ["all_at_once", "To all at once, and judged by the gates"],
      [OWN, "In steps of your own"],
      [AT_ONCE, "To all hosts at once"],
    ],
    // A group without hosts has nothing to go through in steps.
    given(root, "hosts") === "0" ? AT_ONCE : "canary",
  ),
);
const strategy = new StrategyForm();
way.addEventListener("change", fit);
configuration.addEventListener("change", () => void listVersions());
root.append(
  h(
    "div",
    { class: "card" },
    h("h2", {}, "Assign a version"),
    notice.element,
    h(
      "form",
      { submit: (event) => void check(event) },
      h("div", { class: "two" }, field("Configuration", configuration), field("Version", version)),
      h("div", { class: "two" }, field("How", way), field("Why", message, "Stands in the group's history")),
      strategy.element,
      h("button", {}, "Review and assign …"),
    ),
  ),
);
const graph = document.getElementById("graph");
if (graph instanceof HTMLDetailsElement)
  drawWhenOpened(api, graph, { fleet: given(root, "fleet"), deployment: given(root, "deployment") }, (line) =>
    location.assign(`${given(graph, "editor")}&line=${line}`),
  );
void listConfigurations();
void offerVariables();
void complete();
fit();

function fit(): void {
  strategy.element.hidden = way.value === AT_ONCE;
  strategy.fit(way.value);
}

async function listConfigurations(): Promise<void> {
  try {
    const all = (await api.all<Configuration>("/configurations", 2_000)).filter(
      ({ published_version }) => published_version !== null,
    );
    configuration.append(
      ...options(
        all.map(({ id, name }) => [id, name]),
        given(root, "assigned"),
      ),
    );
    if (configuration.value) await listVersions();
  } catch (error) {
    notice.failed(error);
  }
}

/** The group's settings link here with the revision to roll out: the form is for that then, with what is assigned. */
async function offerVariables(): Promise<void> {
  try {
    const { revision } = await api.get<Stored>(`${path}/env`);
    if (revision > 0) strategy.offer(revision, new URLSearchParams(location.search).has("variables"));
  } catch (error) {
    notice.failed(error);
  }
}

async function listVersions(): Promise<void> {
  version.replaceChildren();
  if (configuration.value === "") return;
  try {
    const all = (await api.all<Version>(`/configurations/${configuration.value}/versions`, 200)).filter(
      ({ status }) => status === "published",
    );
    version.append(
      ...options(
        all.map(({ n, description }) => [String(n), description ? `${n}: ${description.slice(0, 60)}` : String(n)]),
        configuration.value === given(root, "assigned") && new URLSearchParams(location.search).has("variables")
          ? given(root, "version")
          : "",
      ),
    );
  } catch (error) {
    notice.failed(error);
  }
}

async function check(event: Event): Promise<void> {
  event.preventDefault();
  notice.tell("");
  for (const one of root.querySelectorAll("[aria-invalid]")) mark(one.id, "");
  const [id, n] = [configuration.value, Number(version.value)];
  if (id === "" || n === 0) return;
  try {
    const chosen = await api.get<Version>(`/configurations/${id}/versions/${n}`);
    const brings = way.value !== AT_ONCE && strategy.bringsVariables;
    const [{ body }, hosts, stored, changes, onHosts] = await Promise.all([
      api.request<Check>("POST", "/validate?lint=true&policies=true", {
        body: question(chosen),
      }),
      api.request<{ warnings: Warning[] }>("POST", `${path}/assignment-check`, {
        body: { configuration_id: id, version_number: n },
      }),
      api.get<Stored>(`${path}/env`),
      fresh(`${location.pathname}/review?configuration_id=${id}&version_number=${n}`),
      brings ? api.get<OnHosts>(`${path}/env/hosts`) : undefined,
    ]);
    review(id, n, body, hosts.body.warnings, stored, changes, onHosts);
  } catch (error) {
    notice.failed(error);
  }
}

/** Shows what the API says at the fields that it names; whether each of its errors has one. */
function refused(error: unknown): boolean {
  const places = error instanceof ApiError ? (error.problem.errors ?? []) : [];
  const ids = places.map(({ loc }) => loc.slice(1).join("-"));
  for (const [at, { message }] of places.entries()) {
    const id = ids[at] ?? "";
    document.getElementById(id)?.closest("details")?.setAttribute("open", "");
    mark(id, message);
  }
  return ids.length > 0 && ids.every((id) => document.getElementById(`${id}-error`) !== null);
}

/** The sheet: on the left what changes and what speaks against it, on the right the way, and what each button does. */
function review(
  id: string,
  n: number,
  check: Check,
  warnings: Warning[],
  stored: Stored,
  changes: Document,
  onHosts?: OnHosts,
): void {
  const checked = shown(check).filter(({ severity }) => severity !== "info");
  // Both answers have the collector's findings; only this one has what the hosts lack, and the review has the differences.
  const ofHosts = warnings.filter(
    ({ code, message }) => code !== DIFFERS && !checked.some((one) => one.message === message),
  );
  const problems = [...checked, ...ofHosts];
  const here = new Set(stored.items.map(({ name }) => name));
  const needs = check.environment.filter(({ name, has_default }) => !has_default && !here.has(name));
  const names = needs.map(({ name }) => name).join(", ");
  const sheet = changes.getElementById("review");
  const [group, hosts] = [sheet?.dataset["group"] ?? "", Number(sheet?.dataset["hosts"] ?? "0")];
  const atOnce = way.value === AT_ONCE;
  const differs = !atOnce && warnings.some(({ code }) => code === DIFFERS);
  const isNamed = atOnce && hosts >= NAMED_FROM;
  const name = h("input", { id: "group-name", autocomplete: "off", spellcheck: "false" });
  const problem = h("p", { class: "error", role: "alert" });
  const act = async (): Promise<void> => {
    if (isNamed && name.value.trim() !== group) {
      mark(name.id, `Type ${group}: all ${hosts} hosts change at once`);
      return;
    }
    try {
      const asked = {
        configuration_id: id,
        version_number: n,
        ...(message.value.trim() && { message: message.value.trim() }),
      };
      if (!atOnce) {
        const { body } = await api.request<{ id: string }>("POST", `${path}/rollouts`, {
          body: { ...asked, ...strategy.read(way.value), ...(differs && { accept_differences: true }) },
          headers: { "Idempotency-Key": crypto.randomUUID() },
        });
        location.assign(`${location.pathname}/rollouts/${body.id}`);
        return;
      }
      await api.request("PATCH", path, { body: asked });
      view.close();
      notice.tell(
        `Version ${n} is assigned; collectors receive it with their next heartbeat.`,
        h("a", { href: location.pathname }, " Show the group"),
      );
    } catch (error) {
      if (refused(error)) view.close();
      else problem.textContent = messageOf(error);
    }
  };
  const view = dialog(
    `Review version ${n}`,
    h(
      "div",
      { class: "sheet" },
      h(
        "div",
        {},
        sheet && document.importNode(sheet, true),
        ...(onHosts ? ofVariables(onHosts) : []),
        h("h3", {}, "What speaks against it"),
        h("p", {}, verdictForHosts(check)),
        problems.length > 0 &&
          h(
            "ul",
            {},
            ...problems
              .slice(0, 20)
              .map((one) =>
                h(
                  "li",
                  {},
                  `${one.severity === "error" ? "✕" : "!"} ${one.message}${one.line === null ? "" : `, line ${one.line}`}`,
                ),
              ),
          ),
        needs.length > 0 &&
          h(
            "p",
            { class: "error" },
            `It needs the variables ${names}, which are not stored with this group. Hosts need them of their own.`,
          ),
      ),
      h(
        "div",
        { class: "way" },
        h("h3", {}, atOnce ? "All at once" : "In steps"),
        h("p", {}, atOnce ? AT_ONCE_DOES : IN_STEPS_DOES),
        isNamed && field("Name of the group", name, `Type ${group} to change all ${hosts} hosts at once`),
        problem,
        h(
          "div",
          { class: "buttons" },
          button(
            atOnce ? "Assign at once" : differs ? "Start all the same" : "Start the rollout",
            act,
            isNamed || differs ? { class: "danger" } : {},
          ),
          button("Cancel", () => view.close(), { class: "plain" }),
        ),
      ),
    ),
  );
  view.classList.add("wide");
}

/** What a rollout changes of the variables on hosts, and which hosts it cannot reach. */
function ofVariables({ newest, running, hosts, not_moved, unreached }: OnHosts): HTMLElement[] {
  const now = running.map(
    ({ revision, hosts: n }) =>
      `${n} of ${hosts} hosts with ${revision === null ? "those of the install" : `revision ${revision}`}`,
  );
  return [
    h("h3", {}, "Variables"),
    h("p", {}, `To revision ${newest}; now ${now.join(", ") || "no host says what it has"}.`),
    ...(unreached > 0
      ? [
          h("p", { class: "error" }, `${unreached} hosts cannot get them, and stay as they are:`),
          h("ul", {}, ...not_moved.map(({ name, message: why }) => h("li", {}, `${name}: ${why}`))),
        ]
      : []),
  ];
}
