/** What holds for every case: what is listed, what is not, and that a restart changes nothing. */
import { expect } from "vitest";
import { PlayedCase, known, shown } from "./played-case.ts";
import type { FailureCase } from "./played-case.ts";

const NEEDS_ACTION = /^(Action required|Observation incomplete):/;
const TOLD = /^(?:ostler: )?(Action required|Observation incomplete) · /gm;

export async function checkCase(row: FailureCase): Promise<void> {
  const played = new PlayedCase(row);
  await played.play();
  const live = await played.incidents("--history");
  expect(live.map(shown)).toEqual(row.incidents);
  expect((await played.incidents()).map(shown)).toEqual(row.incidents.filter((line) => NEEDS_ACTION.test(line)));
  if (row.answers !== undefined)
    expect(played.answers.map((text, index) => text.slice(0, row.answers?.[index]?.length ?? 200))).toEqual(
      row.answers,
    );
  if (row.told !== undefined) expect(played.stderrs.map((text) => [...text.matchAll(TOLD)].length)).toEqual(row.told);
  await row.more?.(played);

  expect(known(await played.readAnew())).toEqual(known(live));
  await played.ask("go on");
  const after = await played.incidents("--history");
  if (row.recoversByGoodTurn === true)
    expect(after.map(({ id, label }) => `${id} ${label}`)).toEqual(live.map(({ id }) => `${id} Recovered`));
  else expect(known(after)).toEqual(known(live));
  expect(known(await played.readAnew())).toEqual(known(after));
}
