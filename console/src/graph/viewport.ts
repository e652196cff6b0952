// A picture that fits its place, can be zoomed, and has a small map of itself while not all of it is seen.
import { h, svg } from "../lib/dom";
import { button } from "../lib/ui";

export interface Shape {
  x: number;
  y: number;
  width: number;
  height: number;
}

const STEP = 1.25;
const [LEAST, MOST] = [0.2, 3];
// The padding around the picture, as style.css has it.
const PADDING = 8;
const MAP_WIDTH = 160;
const MAP_HEIGHT = 100;

export class Viewport {
  readonly element: HTMLElement;
  private readonly scrolled: HTMLElement;
  private readonly drawing: SVGElement;
  private readonly map: SVGElement;
  private readonly seen = svg("rect", { class: "seen" });
  private readonly percent = h("span", { class: "soft small", role: "status" });
  /** Null while the picture fits its place. */
  private scale: number | null = null;

  /** `shapes` are what the map shows. */
  constructor(
    label: string,
    private readonly width: number,
    private readonly height: number,
    content: SVGElement[],
    shapes: Shape[],
  ) {
    const viewBox = `0 0 ${width} ${height}`;
    this.drawing = svg("svg", { width, height, viewBox }, ...content);
    const mapScale = Math.min(MAP_WIDTH / width, MAP_HEIGHT / height);
    this.map = svg(
      "svg",
      { class: "map", viewBox, width: width * mapScale, height: height * mapScale, "aria-hidden": "true" },
      ...shapes.map(({ x, y, width, height }) => svg("rect", { x, y, width, height })),
      this.seen,
    );
    this.map.addEventListener("click", (event) => this.goTo(event, mapScale));
    this.scrolled = h("div", { class: "graph", tabindex: 0, role: "group", "aria-label": label }, this.drawing);
    this.scrolled.addEventListener("scroll", () => this.drawMap());
    this.scrolled.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        this.zoom(event.deltaY < 0 ? STEP : 1 / STEP);
      },
      { passive: false },
    );
    this.element = h(
      "div",
      { class: "viewport" },
      h(
        "div",
        { class: "zoom", role: "toolbar", "aria-label": "Size of the graph" },
        button("−", () => this.zoom(1 / STEP), { class: "plain small", "aria-label": "Smaller" }),
        this.percent,
        button("+", () => this.zoom(STEP), { class: "plain small", "aria-label": "Larger" }),
        button("Fit", () => this.resize(null), { class: "plain small" }),
        button("100 %", () => this.resize(1), { class: "plain small" }),
      ),
      this.scrolled,
      this.map,
    );
    new ResizeObserver(() => this.resize(this.scale)).observe(this.scrolled);
  }

  private zoom(by: number): void {
    this.resize(Math.min(MOST, Math.max(LEAST, this.shown() * by)));
  }

  /** The scale at which the picture is shown now. */
  private shown(): number {
    return (
      this.scale ?? Math.min(1, Math.max(LEAST, ((this.scrolled.clientWidth || this.width) - 2 * PADDING) / this.width))
    );
  }

  private resize(scale: number | null): void {
    const { scrolled, drawing } = this;
    const before = Number(drawing.getAttribute("width")) / this.width || 1;
    const middle = [scrolled.scrollLeft + scrolled.clientWidth / 2, scrolled.scrollTop + scrolled.clientHeight / 2];
    this.scale = scale;
    const now = this.shown();
    drawing.setAttribute("width", (this.width * now).toFixed(1));
    drawing.setAttribute("height", (this.height * now).toFixed(1));
    // What was in the middle stays there.
    scrolled.scrollLeft = ((middle[0] ?? 0) * now) / before - scrolled.clientWidth / 2;
    scrolled.scrollTop = ((middle[1] ?? 0) * now) / before - scrolled.clientHeight / 2;
    this.percent.textContent = `${Math.round(now * 100)} %`;
    this.drawMap();
  }

  private drawMap(): void {
    const { scrolled, seen } = this;
    const now = this.shown();
    const isWhole =
      scrolled.scrollWidth <= scrolled.clientWidth + 1 && scrolled.scrollHeight <= scrolled.clientHeight + 1;
    this.map.toggleAttribute("hidden", isWhole);
    const places = {
      x: scrolled.scrollLeft,
      y: scrolled.scrollTop,
      width: scrolled.clientWidth,
      height: scrolled.clientHeight,
    };
    for (const [name, value] of Object.entries(places)) seen.setAttribute(name, (value / now).toFixed(1));
  }

  private goTo(event: MouseEvent, mapScale: number): void {
    const now = this.shown();
    const { left, top } = this.map.getBoundingClientRect();
    this.scrolled.scrollTo(
      ((event.clientX - left) / mapScale) * now - this.scrolled.clientWidth / 2,
      ((event.clientY - top) / mapScale) * now - this.scrolled.clientHeight / 2,
    );
  }
}
