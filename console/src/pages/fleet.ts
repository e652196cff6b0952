// A fleet: the command that installs a collector, as a form.
import { Api } from "../lib/api";
import { copyable } from "../lib/copy";
import { byId, h } from "../lib/dom";
import { complete } from "../lib/live";
import { given, page } from "../lib/page";
import { pairs } from "../lib/pairs";
import { field, Notice, options } from "../lib/ui";

interface Install {
  command: string;
  expires_at: string;
  notes: string[];
}

const root = byId("install", HTMLElement);
const api = new Api(page());
const notice = new Notice();
const fleet = given(root, "fleet");
const isKubernetes = given(root, "type") === "kubernetes-supervisor";
const platform = h(
  "select",
  { id: "platform" },
  ...options(
    isKubernetes
      ? [["kubernetes", "Kubernetes (Helm)"]]
      : [
          ["linux", "Linux"],
          ["docker", "Docker"],
          ["windows", "Windows"],
          ["macos", "macOS"],
        ],
    isKubernetes ? "kubernetes" : "linux",
  ),
);
const group = h("select", { id: "group" });
const arch = h(
  "select",
  { id: "arch" },
  ...options(
    [
      ["amd64", "amd64 (x86)"],
      ["arm64", "arm64"],
    ],
    "amd64",
  ),
);
const systemd = h("input", { id: "systemd", type: "checkbox", checked: true });
const takeover = h("input", { id: "takeover", type: "checkbox" });
const env = h("textarea", { id: "env", rows: 3, spellcheck: "false", placeholder: "NAME=value" });
const labels = h("input", { id: "labels", spellcheck: "false", placeholder: "site=berlin, ring=1" });
const result = h("div", { "aria-live": "polite" });
const arrival = h("p", { role: "status", class: "soft" });
// The install link expires by then.
const LONGEST_WAIT = 60 * 60_000;
let waiting = 0;
const onLinux = [
  h("div", {}, field("Processor", arch)),
  h("div", { class: "check" }, systemd, h("label", { for: "systemd" }, "Start it with systemd")),
  h("div", { class: "check" }, takeover, h("label", { for: "takeover" }, "Take the official supervisor's place")),
];
platform.addEventListener("change", fit);
root.append(
  h(
    "div",
    { class: "card" },
    h("h2", {}, "Install a collector"),
    notice.element,
    h(
      "form",
      { submit: (event) => void compose(event) },
      h(
        "div",
        { class: "row" },
        h("div", {}, field("Platform", platform)),
        h("div", {}, field("Group", group)),
        ...onLinux,
      ),
      field("Environment", env, "What the configuration's ${env:NAME} need, a line each"),
      field("Labels", labels, "They select the host in rollouts and lists"),
      h("button", {}, "Show the command"),
    ),
    result,
  ),
);
fit();
// A fleet that was just created needs its command first.
void listGroups().then(() => {
  if (location.hash !== "#install") return;
  history.replaceState(null, "", location.pathname);
  root.querySelector("form")?.requestSubmit();
});
void complete();

function fit(): void {
  for (const element of onLinux) element.hidden = platform.value !== "linux";
}

async function listGroups(): Promise<void> {
  try {
    const groups = await api.all<{ id: string; name: string; is_default: boolean }>(`/fleets/${fleet}/deployments`);
    group.replaceChildren(
      ...options(
        groups.map(({ id, name }) => [id, name]),
        groups.find(({ is_default }) => is_default)?.id ?? "",
      ),
    );
  } catch (error) {
    notice.failed(error);
  }
}

async function compose(event: Event): Promise<void> {
  event.preventDefault();
  notice.tell("");
  const [variables, selecting] = [pairs(env.value, /\n/), pairs(labels.value, /,/)];
  const body = {
    platform: platform.value,
    ...(group.value && { deployment_id: group.value }),
    ...(platform.value === "linux" && {
      arch: arch.value,
      systemd: systemd.checked,
      from_official: takeover.checked,
    }),
    ...(Object.keys(variables).length > 0 && { env: variables }),
    ...(Object.keys(selecting).length > 0 && { labels: selecting }),
  };
  try {
    const { body: install } = await api.request<Install>("POST", `/fleets/${fleet}/install`, { body });
    const before = new Set((await hosts()).map(({ id }) => id));
    const until = new Date(install.expires_at).toLocaleTimeString();
    result.replaceChildren(
      h("h3", {}, "Run this on the host"),
      copyable("Install command", install.command),
      h("p", { class: "hint" }, `It works until ${until}, and holds the fleet's token: treat it like a password.`),
      ...install.notes.map((note) => h("p", { class: "hint" }, note)),
      arrival,
    );
    arrival.textContent = "Waiting for the host to report …";
    void awaitHost(before);
  } catch (error) {
    result.replaceChildren();
    notice.failed(error);
  }
}

interface Host {
  id: string;
  name: string | null;
  host_name: string | null;
}

async function hosts(): Promise<Host[]> {
  return (await api.get<{ items: Host[] }>(`/fleets/${fleet}/instances?limit=100`)).items;
}

/** Says when a host reports that did not before the command was composed; the newest command waits alone. */
async function awaitHost(before: Set<string>): Promise<void> {
  waiting += 1;
  const [own, ends] = [waiting, Date.now() + LONGEST_WAIT];
  while (own === waiting && Date.now() < ends) {
    await new Promise((resolve) => setTimeout(resolve, 10_000));
    if (document.hidden) continue;
    const arrived = (await hosts().catch(() => [])).find(({ id }) => !before.has(id));
    if (!arrived || own !== waiting) continue;
    const path = `${location.pathname}/collectors/${arrived.id}`;
    arrival.replaceChildren(
      "✓ ",
      h("a", { href: path }, arrived.name ?? arrived.host_name ?? arrived.id),
      " has reported.",
    );
    return;
  }
}
