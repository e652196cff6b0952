// Which record of a run is in which row, and what a step did to it.
import type { StepRecord, StepWithRecords } from "./types";

export interface Row {
  label: string;
  name: string;
  /** The record's number in the sample, null for one that a step created. */
  record: number | null;
  /** The step that created it, and its place among that step's. */
  created: { n: number; at: number } | null;
}

export interface Cell {
  records: StepRecord[];
  /** An earlier step dropped it. False as well if the step has more records than were read. */
  isGone: boolean;
}

/** The sample's records in their order, and then what steps created. */
export function rowsOf(steps: StepWithRecords[]): Row[] {
  const numbered = new Map<number, Row>();
  const created: Row[] = [];
  for (const { n, component, records } of steps)
    for (const [at, one] of records.entries()) {
      const numbers = one.record === null ? one.records : [one.record];
      for (const number of numbers)
        if (!numbered.has(number))
          numbered.set(number, { label: `Record ${number} `, name: one.name, record: number, created: null });
      if (numbers.length === 0)
        created.push({ label: `Created by ${component} `, name: one.name, record: null, created: { n, at } });
    }
  return [...[...numbered.values()].sort((a, b) => (a.record ?? 0) - (b.record ?? 0)), ...created];
}

export function cellOf(step: StepWithRecords, row: Row): Cell {
  if (row.created)
    return {
      records: row.created.n === step.n ? step.records.slice(row.created.at, row.created.at + 1) : [],
      isGone: false,
    };
  const records = step.records.filter((one) => isOf(one, row.record));
  return { records, isGone: records.length === 0 && step.next_cursor === null };
}

function isOf({ record, records }: StepRecord, number: number | null): boolean {
  return number !== null && (record === number || records.includes(number));
}
