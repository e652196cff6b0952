// The graph of what a group is assigned, with what flows through its collectors, drawn when somebody opens it.
import type { Api } from "../lib/api";
import { given } from "../lib/page";
import { messageOf, notChecked } from "../lib/ui";
import type { GoTo } from "./draw";
import { drawVersion } from "./of_version";
import { GraphPanel } from "./panel";
import { type Group, readRates } from "./rates";

export function drawWhenOpened(api: Api, element: HTMLDetailsElement, group: Group, goTo: GoTo): void {
  const [id, n] = [given(element, "configuration"), Number(given(element, "version"))];
  const panel = new GraphPanel(goTo);
  const draw = async (): Promise<void> => {
    element.append(panel.element);
    panel.open("Graph");
    try {
      await drawVersion(api, panel, id, n);
    } catch (error) {
      return panel.show(undefined, [], notChecked(error)[0]);
    }
    try {
      panel.flowing(await readRates(api, [group]));
    } catch (error) {
      panel.reported(null, `What flows could not be read: ${messageOf(error)}`);
    }
  };
  element.addEventListener("toggle", () => void draw(), { once: true });
}
