// The overview of a configuration: its graph, with what hosts report of the version.
import { verdictOf } from "../editor/problems";
import { followHosts } from "../graph/health";
import { drawVersion } from "../graph/of_version";
import { GraphPanel } from "../graph/panel";
import { Api } from "../lib/api";
import { byId, h } from "../lib/dom";
import { given, page } from "../lib/page";
import { messageOf, notChecked } from "../lib/ui";

const card = byId("graph", HTMLElement);
const api = new Api(page());
const [configuration, n] = [given(card, "configuration"), Number(given(card, "version"))];
const panel = new GraphPanel((line) => location.assign(`${given(card, "path")}/edit?version=${n}&line=${line}`));
card.append(panel.element);
card.hidden = false;
panel.open("Graph");
void draw();

async function draw(): Promise<void> {
  try {
    const { version, check } = await drawVersion(api, panel, configuration, n);
    const { short, kind } = verdictOf(check);
    byId("validity", HTMLElement).replaceChildren(h("span", { class: `tag ${kind}` }, short));
    if (version.status !== "published") return;
  } catch (error) {
    return panel.show(undefined, [], notChecked(error)[0]);
  }
  try {
    await followHosts(
      api,
      configuration,
      n,
      (health) => panel.reported(health),
      () => true,
    );
  } catch (error) {
    panel.reported(null, `What hosts report could not be read: ${messageOf(error)}`);
  }
}
