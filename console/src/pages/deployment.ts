// A deployment group: what it is to run, with what speaks against it said first.
import { Api, ApiError } from "../lib/api";
import { byId, h } from "../lib/dom";
import { complete, follow } from "../lib/live";
import { given, page } from "../lib/page";
import type { Check, Version } from "../lib/types";
import { shown } from "../editor/problems";
import { OWN, StrategyForm } from "../fleets/strategy";
import { button, dialog, field, mark, messageOf, Notice, options } from "../lib/ui";

interface Warning {
  severity: "error" | "warning";
  message: string;
  line: number | null;
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
const way = h(
  "select",
  { id: "way" },
  ...options(
    [
      [AT_ONCE, "To all hosts at once"],
      ["canary", "In steps: a canary first"],
      ["careful", "In steps: carefully"],
      ["fast", "In steps: fast"],
      ["all_at_once", "To all at once, and judged by the gates"],
      [OWN, "In steps of your own"],
    ],
    AT_ONCE,
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
      h("button", {}, "Check and assign …"),
    ),
  ),
);
void listConfigurations();
void follow("rollouts");
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
        "",
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
    const [{ body }, hosts] = await Promise.all([
      api.request<Check>("POST", "/validate?lint=true&policies=true", {
        body: { yaml: chosen.yaml, version: chosen.collector_version },
      }),
      api.request<{ warnings: Warning[] }>("POST", `${path}/assignment-check`, {
        body: { configuration_id: id, version_number: n },
      }),
    ]);
    confirm(id, n, body, hosts.body.warnings);
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

function confirm(id: string, n: number, found: Check, warnings: Warning[]): void {
  const checked = shown(found).filter(({ severity }) => severity !== "info");
  // What the collector says is in both answers; what the group's hosts lack is in one.
  const ofHosts = warnings.filter(({ message }) => !checked.some((one) => one.message === message));
  const problems = [...checked, ...ofHosts];
  const needs = found.environment.filter(({ has_default }) => !has_default).map(({ name }) => name);
  const problem = h("p", { class: "error", role: "alert" });
  const act = async (): Promise<void> => {
    try {
      const asked = {
        configuration_id: id,
        version_number: n,
        ...(message.value.trim() && { message: message.value.trim() }),
      };
      if (way.value !== AT_ONCE) {
        const { body } = await api.request<{ id: string }>("POST", `${path}/rollouts`, {
          body: { ...asked, ...strategy.read(way.value) },
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
    `Assign version ${n}`,
    h(
      "p",
      {},
      found.valid
        ? `✓ Valid on collector ${found.version}.`
        : `✕ Collector ${found.version} does not accept it: hosts would refuse it.`,
    ),
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
    needs.length > 0 && h("p", {}, `It needs the variables ${needs.join(", ")} on each host.`),
    problem,
    h(
      "div",
      { class: "buttons" },
      button("Assign", act),
      button("Cancel", () => view.close(), { class: "plain" }),
    ),
  );
}
