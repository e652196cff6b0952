// Times as a person reads them: in the chosen time zone, with the other on hover, and ages that go on by themselves.

const TICK = 4_000;

/** Writes all times below `root` as this browser's person reads them. */
export function localize(root: ParentNode, now = Date.now()): void {
  for (const one of root.querySelectorAll<HTMLTimeElement>("time[datetime]")) write(one, now);
}

export function keepAges(): void {
  localize(document);
  setInterval(() => !document.hidden && localize(document), TICK);
}

/** "12 s ago", to the largest whole unit. */
export function age(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1_000));
  if (seconds < 90) return `${seconds} s ago`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 36 * 3_600) return `${Math.round(seconds / 3_600)} h ago`;
  return `${Math.round(seconds / 86_400)} d ago`;
}

/** "in 12 min", to the largest whole unit; a time that has passed is any moment. */
export function until(milliseconds: number): string {
  const told = age(milliseconds).replace(/ ago$/, "");
  return milliseconds <= 0 ? "any moment" : `in ${told}`;
}

/** The time as servers write it, `2026-11-26 05:29 UTC`, in the time zone of this browser or in UTC. */
export function clock(at: Date, withSeconds: boolean, zone: "local" | "utc"): string {
  const offset = zone === "utc" ? 0 : -at.getTimezoneOffset();
  const shifted = new Date(at.getTime() + offset * 60_000).toISOString();
  const name = offset === 0 ? "UTC" : `UTC${offset > 0 ? "+" : "−"}${minutes(Math.abs(offset))}`;
  return `${shifted.slice(0, 10)} ${shifted.slice(11, withSeconds ? 19 : 16)} ${name}`;
}

/** The time zone that the person has chosen. */
export function zone(): "local" | "utc" {
  return document.documentElement.dataset["zone"] === "utc" ? "utc" : "local";
}

function minutes(offset: number): string {
  const [hours, rest] = [Math.floor(offset / 60), offset % 60];
  return rest ? `${hours}:${String(rest).padStart(2, "0")}` : String(hours);
}

function write(one: HTMLTimeElement, now: number): void {
  const at = new Date(one.dateTime);
  if (Number.isNaN(at.getTime())) return;
  const chosen = zone();
  const [shown, other] = [clock(at, true, chosen), clock(at, true, chosen === "utc" ? "local" : "utc")];
  const kind = one.dataset["as"];
  const isAge = kind === "age" || kind === "until";
  const text =
    kind === "age"
      ? age(now - at.getTime())
      : kind === "until"
        ? until(at.getTime() - now)
        : clock(at, kind === "second", chosen);
  if (one.textContent !== text) one.textContent = text;
  one.title = shown === other ? shown : isAge ? `${shown}, ${other}` : other;
}
