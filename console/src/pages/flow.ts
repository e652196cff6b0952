// A flow of the gallery: use it for a new configuration, or try it with its sample.
import { picture } from "../graph/draw";
import { Api } from "../lib/api";
import { byId, h } from "../lib/dom";
import { given, page } from "../lib/page";
import type { Graph } from "../lib/types";
import { button, Notice } from "../lib/ui";

interface Flow {
  name: string;
  summary: string;
  yaml: string;
  tests: { name: string; [field: string]: unknown }[];
}

const root = byId("use", HTMLElement);
const [slug, home] = [given(root, "slug"), given(root, "home")];
const api = new Api(page());
const notice = new Notice();
// A second click creates nothing more.
const key = crypto.randomUUID();

if (given(root, "usable") === "yes")
  root.replaceChildren(
    notice.element,
    h(
      "div",
      { class: "buttons" },
      button("Use it for a configuration", () => use()),
      button("Try it with its sample", () => tryIt(), { class: "plain" }),
    ),
    h(
      "p",
      { class: "hint" },
      "Either makes a draft that only you and Admins see, with this flow's text; used, it has the flow's tests as well. ",
      h("a", { href: `${home}/configurations/new?flow=${slug}` }, "Name it first"),
    ),
  );

const drawn = byId("pipelines", HTMLElement);
const graph = JSON.parse(given(drawn, "graph")) as Graph;
if (graph.pipelines.length > 0) {
  const facts = { tests: new Map<string, number>(), health: null, rates: new Map<string, number>() };
  drawn.replaceChildren(
    picture({ graph, problems: [], facts, chosen: "", words: "" }, () => {
      const text = document.querySelector<HTMLDetailsElement>("details.card");
      if (text) text.open = true;
      text?.scrollIntoView({ block: "start" });
    }),
  );
}

async function tryIt(): Promise<void> {
  await made((id) => Promise.resolve(`${id}/versions/1/run?flow=${slug}`));
}

/** Makes a draft of the flow with its tests, as `headgate flow use` does, and opens it. */
async function use(): Promise<void> {
  await made(async (id, { tests }) => {
    for (const { name, ...fields } of tests) {
      const body = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
      const path = `/configurations/${id}/versions/1/tests/${encodeURIComponent(name)}`;
      await api.request("PUT", path, { body });
    }
    return `${id}/edit`;
  });
}

async function made(then: (id: string, flow: Flow) => Promise<string>): Promise<void> {
  notice.tell("");
  try {
    const flow = await api.get<Flow>(`/flows/${slug}`);
    const { name, summary, yaml } = flow;
    const { body } = await api.request<{ id: string }>("POST", "/configurations", {
      body: { name, yaml, description: summary },
      headers: { "Idempotency-Key": key },
    });
    location.assign(`${home}/configurations/${await then(body.id, flow)}`);
  } catch (error) {
    notice.failed(error);
  }
}
