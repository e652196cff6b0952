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
      h("a", { class: "button", href: `${home}/configurations/new?flow=${slug}` }, "Use it for a configuration"),
      button("Try it with its sample", () => tryIt(), { class: "plain" }),
    ),
    h("p", { class: "hint" }, "To try it, a draft is made that only you and Admins see, with this flow's text."),
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
  notice.tell("");
  try {
    const { name, summary, yaml } = await api.get<Flow>(`/flows/${slug}`);
    const { body } = await api.request<{ id: string }>("POST", "/configurations", {
      body: { name, yaml, description: summary },
      headers: { "Idempotency-Key": key },
    });
    location.assign(`${home}/configurations/${body.id}/versions/1/run?flow=${slug}`);
  } catch (error) {
    notice.failed(error);
  }
}
