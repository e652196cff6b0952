// What hosts report of a version that they run. Nothing is shown that no host said.
import type { Api } from "../lib/api";
import { poll } from "../lib/poll";
import { type Group, type Rates, readRates } from "./rates";

interface Exporter {
  sent: number;
  failed: number;
  queue: number;
}

export interface Host {
  state: string;
  deployment_id: string;
  running: { configuration_id: string | null; version_number: number | null };
  counters: {
    seconds: number;
    accepted: number;
    refused: number;
    exporters: Record<string, Exporter>;
  } | null;
  last_seen_at: string;
}

export interface Health {
  /** Hosts that reported lately, and those whose last report is old. */
  hosts: number;
  old: number;
  /** When the newest report came, of any of them. */
  newest: string;
  /** What hosts counted in the interval of their last report, those that reported lately; null if none did. */
  records: { accepted: number; refused: number } | null;
  exporters: Map<string, Exporter & { hosts: number }>;
  isCut: boolean;
  /** What flows between components of the groups that have such hosts. */
  rates: Rates;
}

// States in which nothing is heard of a host.
const QUIET = new Set(["silent", "stale", "stopped", "unknown"]);
// The most instances that are read for one fleet.
export const MOST_HOSTS = 300;

export function healthOf(all: Host[], isCut = false, rates: Rates = new Map()): Health {
  const heard = all.filter(({ state }) => !QUIET.has(state));
  const exporters = new Map<string, Exporter & { hosts: number }>();
  for (const { counters } of heard)
    for (const [id, { sent, failed, queue }] of Object.entries(counters?.exporters ?? {})) {
      const before = exporters.get(id) ?? { sent: 0, failed: 0, queue: 0, hosts: 0 };
      exporters.set(id, {
        sent: before.sent + sent,
        failed: before.failed + failed,
        queue: Math.max(before.queue, queue),
        hosts: before.hosts + 1,
      });
    }
  const counted = heard.flatMap(({ counters }) => (counters ? [counters] : []));
  const sum = (of: "accepted" | "refused"): number => counted.reduce((all, one) => all + one[of], 0);
  return {
    hosts: heard.length,
    old: all.length - heard.length,
    newest:
      all
        .map(({ last_seen_at }) => last_seen_at)
        .sort()
        .at(-1) ?? "",
    records: counted.length ? { accepted: sum("accepted"), refused: sum("refused") } : null,
    exporters,
    isCut,
    rates,
  };
}

/** Reads the hosts of all fleets that run the version, tells them, and then fleet by fleet again until `isOver`. */
export async function followHosts(
  api: Api,
  configuration: string,
  n: number,
  told: (health: Health) => void,
  isOver: () => boolean,
): Promise<void> {
  const fleets = await api.all<{ id: string; instances: { total: number } }>("/fleets");
  const read = async (fleet: string): Promise<{ hosts: Host[]; isCut: boolean }> => {
    const hosts = await api.all<Host>(`/fleets/${fleet}/instances?version=${n}`, MOST_HOSTS);
    return {
      hosts: hosts.filter(({ running }) => running.configuration_id === configuration),
      isCut: hosts.length === MOST_HOSTS,
    };
  };
  const known = new Map<string, { hosts: Host[]; isCut: boolean }>();
  let rates: Rates = new Map();
  const tell = (): void => {
    const all = [...known.values()];
    told(
      healthOf(
        all.flatMap(({ hosts }) => hosts),
        all.some(({ isCut }) => isCut),
        rates,
      ),
    );
  };
  for (const { id, instances } of fleets) if (instances.total > 0) known.set(id, await read(id));
  tell();
  const turns = [...known].filter(([, { hosts }]) => hosts.length > 0).map(([id]) => id);
  if (turns.length === 0) return;
  rates = await readRates(api, groupsOf(known));
  tell();
  let turn = 0;
  await poll(
    async () => {
      const id = turns[turn % turns.length] ?? "";
      turn += 1;
      if (!isOver()) known.set(id, await read(id));
    },
    () => isOver(),
    tell,
  );
}

/** The groups of hosts, by fleet. */
function groupsOf(known: Map<string, { hosts: Host[] }>): Group[] {
  return [...known].flatMap(([fleet, { hosts }]) =>
    [...new Set(hosts.map(({ deployment_id }) => deployment_id))].map((deployment) => ({ fleet, deployment })),
  );
}
