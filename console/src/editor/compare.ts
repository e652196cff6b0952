// Two texts side by side, and a text merged with somebody else's.
import { MergeView } from "@codemirror/merge";
import { history, defaultKeymap, historyKeymap } from "@codemirror/commands";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { h } from "../lib/dom";
import { button, dialog } from "../lib/ui";
import { common, shadowOf } from "./editor";
import type { Saved } from "./session";
import { merged } from "./three_way";

// A comparison of very different long texts must end.
const DIFF = { scanLimit: 2_000, timeout: 1_000 };
const FIXED = [EditorState.readOnly.of(true), EditorView.editable.of(false)];

/** Shows two texts. */
export function compare(
  host: HTMLElement,
  before: { label: string; text: string },
  after: { label: string; text: string },
): MergeView {
  const root = shadowOf(host);
  return new MergeView({
    root,
    parent: root,
    a: { doc: before.text, extensions: [common(before.label), ...FIXED] },
    b: { doc: after.text, extensions: [common(after.label), ...FIXED] },
    collapseUnchanged: { margin: 3, minSize: 8 },
    diffConfig: DIFF,
  });
}

/** Asks what becomes of both texts: the merged one, or null to go on typing. */
export function resolve(mine: string, base: string, theirs: Saved): Promise<string | null> {
  const { version } = theirs;
  const { text, conflicts } = merged(mine, base, version.yaml);
  const host = h("div", { class: "code-host" });
  const how = conflicts
    ? `In ${conflicts === 1 ? "one place" : `${conflicts} places`} both of you changed the same lines. There the right side has yours; the arrows take theirs.`
    : "You changed different lines: the right side has both.";
  const published =
    version.status === "published" ? "It is published meanwhile, so your text becomes a new version. " : "";
  return new Promise((done) => {
    let result: string | null = null;
    const shown = dialog(
      `Version ${version.n} was changed meanwhile`,
      h("p", {}, `${published}Left is what is saved now, right what you would save. ${how}`),
      host,
      h(
        "div",
        { class: "buttons" },
        button("Save the right side", () => {
          result = view.b.state.sliceDoc();
          shown.close();
        }),
        button("Go on typing", () => shown.close(), { class: "plain" }),
      ),
    );
    shown.classList.add("wide");
    shown.addEventListener("close", () => {
      view.destroy();
      done(result);
    });
    const root = shadowOf(host);
    const view = new MergeView({
      root,
      parent: root,
      a: { doc: version.yaml, extensions: [common("Saved now"), ...FIXED] },
      b: {
        doc: text,
        extensions: [common("Yours, merged"), history(), keymap.of([...historyKeymap, ...defaultKeymap])],
      },
      revertControls: "a-to-b",
      diffConfig: DIFF,
    });
  });
}
