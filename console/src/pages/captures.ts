// The captures of a fleet: a click on a component in the graph of a group fills the form for a sample.
import { drawWhenOpened } from "../graph/of_group";
import { Api } from "../lib/api";
import { byId } from "../lib/dom";
import { given, page } from "../lib/page";
import { Notice } from "../lib/ui";

const api = new Api(page());
const notice = new Notice();
const where = byId("where", HTMLSelectElement);
const pipeline = byId("pipeline", HTMLInputElement);
const component = byId("component", HTMLInputElement);

for (const graph of document.querySelectorAll<HTMLDetailsElement>("details[data-deployment]")) {
  const deployment = given(graph, "deployment");
  drawWhenOpened(api, graph, { fleet: given(graph, "fleet"), deployment }, (_, place) => {
    if (!place) return;
    notice.tell("");
    if (place.isLast) {
      graph.querySelector("summary")?.after(notice.element);
      notice.tell(`Nothing comes after ${place.id} in ${place.pipeline}: choose a receiver or a processor.`);
      return;
    }
    // A host that was chosen stays; what it does not run is refused.
    if (!where.value.startsWith("ins_")) where.value = deployment;
    pipeline.value = place.pipeline;
    component.value = place.id;
    component.focus();
  });
}
