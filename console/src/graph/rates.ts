// What flows from component to component, by what the collectors of groups counted.
import type { Api } from "../lib/api";
import type { SeriesOut } from "../lib/shapes";

/** Records a minute that a component gives to the next ones, by `pipeline|section/id`; absent if nobody counts it. */
export type Rates = Map<string, number>;

// The collectors are stored every three minutes, so the newest minutes are not complete.
const [SPAN, NEWEST, STEP] = [30 * 60_000, 4 * 60_000, 300];
const MOST_GROUPS = 10;
const SECTIONS: Record<string, string> = { receiver: "receivers", processor: "processors" };
const UNITS = ["", " K", " M", " G", " T"];

export interface Group {
  fleet: string;
  deployment: string;
}

/** The sums of groups, ten at most. */
export async function readRates(api: Api, groups: Group[]): Promise<Rates> {
  const end = Math.floor((Date.now() - NEWEST) / (STEP * 1_000)) * STEP * 1_000;
  const query = new URLSearchParams({
    by: "component",
    step: String(STEP),
    from: new Date(end - SPAN).toISOString(),
    to: new Date(end).toISOString(),
  });
  const answers = groups
    .slice(0, MOST_GROUPS)
    .map(({ fleet, deployment }) => api.get<SeriesOut>(`/fleets/${fleet}/deployments/${deployment}/series?${query}`));
  return ratesOf(await Promise.all(answers));
}

export function ratesOf(answers: Pick<SeriesOut, "series" | "step">[]): Rates {
  const rates: Rates = new Map();
  for (const { series, step } of answers)
    for (const { name, kind, pipelines, shared, points } of series) {
      const section = SECTIONS[kind ?? ""];
      const sum = (of: "accepted" | "sent"): number => points.reduce((all, point) => all + point[of], 0);
      const isCounted = section === "receivers" || (!shared && sum("accepted") + sum("sent") > 0);
      if (!section || points.length === 0 || !isCounted) continue;
      const perMinute = sum(section === "receivers" ? "accepted" : "sent") / ((points.length * step) / 60);
      const id = name.slice(name.lastIndexOf(" | ") + 3).slice((kind ?? "").length + 1);
      for (const pipeline of pipelines) {
        const key = `${pipeline}|${section}/${id}`;
        rates.set(key, (rates.get(key) ?? 0) + perMinute);
      }
    }
  return rates;
}

/** As people say it: 950/min, 1.2 K/min. */
export function perMinute(rate: number): string {
  let [size, power] = [rate, 0];
  while (size >= 1_000 && power < UNITS.length - 1) [size, power] = [size / 1_000, power + 1];
  const text =
    size >= 100 || Number.isInteger(size) ? size.toFixed(0) : size >= 1 ? size.toFixed(1) : size.toPrecision(2);
  return `${text}${UNITS[power]}/min`;
}
