// A dialog that finds one of many by its name: typing narrows, arrows move, Enter takes.
import { h } from "./dom";
import { dialog } from "./ui";

const MOST = 50;

export interface Choice {
  name: string;
  /** What it is and where, shown behind the name and searched with it. */
  about: string;
  take: () => void;
}

export interface Picker {
  /** Adds choices that came later; of those with the same name and description, the first stays. */
  add(more: Choice[]): void;
  element: HTMLDialogElement;
}

/** Opens the dialog. `typed` hears what is searched for, and may add to the choices. */
export function pick(
  id: string,
  title: string,
  labels: { input: string; list: string },
  all: Choice[],
  typed: (text: string) => void = () => undefined,
): Picker {
  const choices = [...all];
  let found: Choice[] = [];
  let at = 0;
  const list = h("ul", { id: `${id}-list`, role: "listbox", class: "choices", "aria-label": labels.list });
  const input = h("input", {
    id,
    role: "combobox",
    "aria-expanded": "true",
    "aria-controls": list.id,
    "aria-label": labels.input,
    autocomplete: "off",
    spellcheck: "false",
  });
  const take = (): void => {
    const choice = found[at];
    if (!choice) return;
    element.close();
    choice.take();
  };
  const draw = (): void => {
    list.replaceChildren(
      ...found.map(({ name, about }, n) =>
        h(
          "li",
          {
            role: "option",
            id: `${id}-${n}`,
            "aria-selected": String(n === at),
            click: () => {
              at = n;
              take();
            },
          },
          `${name} `,
          h("span", { class: "soft small" }, about),
        ),
      ),
    );
    if (found.length) input.setAttribute("aria-activedescendant", `${id}-${at}`);
    else input.removeAttribute("aria-activedescendant");
    list.children[at]?.scrollIntoView({ block: "nearest" });
  };
  const search = (): void => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    found = choices
      .filter(({ name, about }) => words.every((word) => `${about} ${name}`.toLowerCase().includes(word)))
      .slice(0, MOST);
    at = Math.min(at, Math.max(0, found.length - 1));
    draw();
  };
  input.addEventListener("input", () => {
    at = 0;
    search();
    typed(input.value.trim());
  });
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter") take();
    else if (step && found.length) {
      at = (at + step + found.length) % found.length;
      draw();
    } else return;
    event.preventDefault();
  });
  const element = dialog(title, input, list);
  search();
  input.focus();
  return {
    element,
    add(more: Choice[]): void {
      const known = new Set(choices.map(({ name, about }) => `${about} ${name}`));
      choices.push(...more.filter(({ name, about }) => !known.has(`${about} ${name}`)));
      search();
    },
  };
}
