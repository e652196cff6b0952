// Publishing: what stands against it (against.ts), the notes, and the answer.
import type { Api } from "../lib/api";
import { h } from "../lib/dom";
import type { Check } from "../lib/types";
import { button, dialog, field, messageOf } from "../lib/ui";
import { type Against, ofPolicies, ofStart, ofTests, ofVerdict } from "./against";
import { Overtaken, type Session } from "./session";

/** How the dialog leads to a place. */
export interface Places {
  goTo(line: number): void;
  open(panel: string): void;
}

/** Asks for notes and publishes. True if it was published. */
export async function publish(api: Api, session: Session, check: Check, places: Places): Promise<boolean> {
  const requires = (await api.get<{ settings: { publish_requires: string[] } }>("/policies")).settings.publish_requires;
  const against = h(
    "ul",
    {},
    ...[...ofVerdict(check), ...ofPolicies(check, requires), ...(await ofTests(api, session, requires))].map(entry),
  );
  function entry({ text, line = null, panel }: Against): HTMLElement {
    const go = (): void => {
      before.closest("dialog")?.close();
      if (line !== null) places.goTo(line);
      else places.open(panel ?? "Problems");
    };
    return h("li", {}, text, " ", (line !== null || panel !== undefined) && button("Go there", go, { class: "link" }));
  }
  const before = h("div", { hidden: against.children.length === 0 }, h("p", {}, "Before you publish:"), against);
  const starting = h("p", { role: "status" }, "Starting the processors and connectors in a sandbox…");
  void ofStart(api, session).then((found) => {
    starting.remove();
    against.append(...found.map(entry));
    before.hidden = against.children.length === 0;
  });
  const notes = h("textarea", { id: "notes", rows: 3, maxlength: 2_000 }, session.saved.version.description ?? "");
  const problem = h("p", { class: "error", role: "alert" });
  return new Promise((done) => {
    let published = false;
    const act = async (): Promise<void> => {
      problem.textContent = "";
      try {
        const text = notes.value.trim();
        if (text !== (session.saved.version.description ?? "")) await session.describe(text);
        await session.publish();
        published = true;
        shown.close();
      } catch (error) {
        problem.textContent =
          error instanceof Overtaken ? `${error.message}: close this and save again` : messageOf(error);
      }
    };
    const shown = dialog(
      `Publish version ${session.n}`,
      h("p", {}, "A published version does not change any more. Groups run it once it is assigned to them."),
      before,
      starting,
      field("Notes", notes, "What changed and why; shown with the version"),
      problem,
      h(
        "div",
        { class: "buttons" },
        button("Publish", act),
        button("Cancel", () => shown.close(), { class: "plain" }),
      ),
    );
    shown.addEventListener("close", () => done(published));
  });
}
