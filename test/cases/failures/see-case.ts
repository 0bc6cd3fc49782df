/** What comes of a case: what is listed, what is told, and whether a restart changes anything. */
import type { Incident } from "../../../src/failures/records.ts";
import { PlayedCase, shown } from "./played-case.ts";
import type { FailureCase } from "./played-case.ts";

const NEEDS_ACTION = /^(Action required|Observation incomplete):/;
const TOLD = /^(?:ostler: )?(Action required|Observation incomplete) · /gm;

/** What is seen of a case, or expected of it. */
export interface SeenCase {
  /** Everything there ever was, in the order of the list. */
  readonly incidents: readonly string[];
  /** What is listed without being asked for history. */
  readonly needAction: readonly string[];
  readonly answers: readonly string[] | undefined;
  readonly told: readonly number[] | undefined;
  /** Incidents that are others, by who looked. */
  readonly changed: {
    /** Who has the log and no journal. */
    readonly byReadingAnew: readonly string[];
    /** Whoever goes on with the session. */
    readonly byGoingOn: readonly string[];
    readonly byReadingAnewThen: readonly string[];
  };
  /** Incidents whose evidence is another line than the one that ended the attempt. */
  readonly misplaced: readonly string[];
}

export function expectedOf({ incidents, answers, told }: FailureCase): SeenCase {
  return {
    incidents,
    needAction: incidents.filter((line) => NEEDS_ACTION.test(line)),
    answers,
    told,
    changed: { byReadingAnew: [], byGoingOn: [], byReadingAnewThen: [] },
    misplaced: [],
  };
}

/** Plays it, and looks at it as a person, a program, and after a restart. */
export async function seeCase(row: FailureCase): Promise<SeenCase> {
  const played = new PlayedCase(row);
  await played.play();
  const live = await played.incidents("--history");
  const needAction = await played.incidents();
  const { answers, stderrs } = played;
  const told = stderrs.map((text) => [...text.matchAll(TOLD)].length);
  await row.more?.(played);
  const anew = (await played.readAnew()).filter(isSeen);
  if (row.oneShot !== true) await played.ask("go on");
  const after = await played.incidents("--history");
  const meant = row.recoversByGoodTurn === true ? live.map((one) => ({ ...one, status: "resolved" as const })) : live;
  return {
    incidents: live.map(shown),
    needAction: needAction.map(shown),
    answers: row.answers && answers.map((text, index) => text.slice(0, row.answers?.[index]?.length)),
    told: row.told && told,
    changed: {
      byReadingAnew: differences(live, anew),
      byGoingOn: differences(meant, after),
      byReadingAnewThen: differences(after, await played.readAnew()),
    },
    misplaced: [...live, ...anew]
      .filter((incident) => played.lineOf(incident) !== incident.attempt?.endN)
      .map(({ id }) => id),
  };
}

/** What only one of them has. Evidence that is missing aside: a reader of the log may miss other things than who heard it. */
export function differences(before: readonly Incident[], after: readonly Incident[]): readonly string[] {
  const old = before.filter(isSeen).map(known);
  const now = after.filter(isSeen).map(known);
  return [
    ...old.filter((line) => !now.includes(line)).map((line) => `- ${line}`),
    ...now.filter((line) => !old.includes(line)).map((line) => `+ ${line}`),
  ];
}

function isSeen({ category }: Incident): boolean {
  return category !== "observation-incomplete";
}

function known({ id, status, strikes, occurrences }: Incident): string {
  return `${id} ${status}, strikes ${strikes}, occurrences ${occurrences}`;
}
