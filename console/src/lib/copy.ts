// A text to copy, whole or by a button.
import { h } from "./dom";
import { button } from "./ui";

export function copyable(label: string, text: string): HTMLElement {
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
    "div",
    {},
    h("pre", { class: "wrapped", tabindex: 0, "aria-label": label }, text),
    h("div", { class: "buttons" }, button("Copy", copy, { class: "plain small" }), done),
  );
}
