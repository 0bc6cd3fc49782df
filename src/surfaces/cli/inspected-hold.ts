/** A person reads what an agent was not permitted: the goal that needs it is held, and that is said. */
import { cleanLine } from "../../errors/redact.ts";
import { isActionRequired } from "../../failures/incidents/labels.ts";
import type { Incident } from "../../failures/records.ts";
import { ostlerPaths } from "../../host/paths.ts";
import type { SeenRun } from "./find-run.ts";
import type { Told } from "./incidents-command.ts";
import type { Io } from "./io.ts";

const MAX_SENTENCE_CHARS = 1000;

/** The same, with the hold that comes of it. What keeps the goal from being held is a remark: the run is shown all the same. */
export async function withHold(
  shown: Told,
  { meta }: SeenRun,
  incidents: Iterable<Incident>,
  { env }: Pick<Io, "env">,
): Promise<Told> {
  const reported = [...incidents].filter((incident) => incident.permissionBlockers !== undefined);
  if (meta === "unreadable" || meta.kind !== "agent" || !reported.some(isActionRequired)) return shown;
  try {
    const { actionableReport, holdAfterInspection } = await import("../../host/permission-hold-inspect.ts");
    const report = actionableReport(reported);
    const inspected = report && (await holdAfterInspection(ostlerPaths(env), meta, report));
    if (inspected === undefined) return shown;
    const { hold, name } = inspected;
    const { dueSentence, heldSentence } = await import("../../host/permission-hold-words.ts");
    const remark = hold.status === "held" ? heldSentence(hold, name) : dueSentence(name);
    return { ...shown, json: { ...shown.json, goalHold: { session: name, ...hold } }, remark };
  } catch (error) {
    const why = cleanLine(error instanceof Error ? error.message : String(error), MAX_SENTENCE_CHARS);
    return { ...shown, remark: `The goal of this session could not be held: ${why}` };
  }
}
