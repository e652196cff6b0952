// Elements from code. Children are nodes or text, so nothing that people typed becomes markup.

export type Child = Node | string | number | null | false;

type Attributes = Record<string, string | number | boolean | null | ((event: Event) => void)>;

/** An element of HTML. Attributes that are functions listen to the event of that name (`click`); false and null are left out. */
export function h<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  fill(element, attributes, ONLY_TEXT.has(name) ? children : children.map(isolated));
  return element;
}

// Letters from right to left, and characters that turn what comes after them: their direction ends with the text.
const TURNS = /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}]/u;
const ONLY_TEXT: ReadonlySet<string> = new Set(["bdi", "option", "textarea", "title"]);

function isolated(child: Child): Child {
  return typeof child === "string" && TURNS.test(child) ? h("bdi", {}, child) : child;
}

/** An element of SVG. */
export function svg<K extends keyof SVGElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  fill(element, attributes, children);
  return element;
}

/** The element with the id; throws if the page has none of this kind. */
export function byId<T extends HTMLElement>(id: string, kind: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`the page has no #${id}`);
  return found;
}

function fill(element: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null) element.setAttribute(name, String(value));
  }
  element.append(
    ...children
      .filter((child) => child !== null && child !== false)
      .map((child) => (typeof child === "number" ? String(child) : child)),
  );
}
