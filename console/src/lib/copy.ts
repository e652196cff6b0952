// Copying: a text with its button, and a button beside each id, secret and command of the server's.
import { h } from "./dom";
import { button } from "./ui";

export function copyable(label: string, text: string): HTMLElement {
  return h(
    "div",
    {},
    h("pre", { class: "wrapped", tabindex: 0, "aria-label": label }, text),
    copying(text, `Copy`, "buttons"),
  );
}

/** Adds a button to each element that says what it holds, by `data-copy`. */
export function addCopyButtons(root: ParentNode): void {
  for (const one of root.querySelectorAll<HTMLElement>("[data-copy]")) {
    if (one.nextElementSibling?.classList.contains("copying")) continue;
    one.after(copying(one.textContent.trim(), `Copy ${one.dataset["copy"] ?? ""}`.trim(), ""));
  }
}

function copying(text: string, label: string, kind: string): HTMLElement {
  const done = h("span", { role: "status", class: "soft small" });
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      done.textContent = "Copied";
    } catch {
      done.textContent = "The browser does not allow it: select the text and copy it";
    }
  };
  return h(
    "span",
    { class: `copying ${kind}`.trim() },
    button("Copy", copy, { class: "plain small", "aria-label": label }),
    done,
  );
}
