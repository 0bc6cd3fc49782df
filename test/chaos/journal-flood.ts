/**
 * Appends to a journal as fast as it can until it is killed: `journal-flood.ts FOLDER SEED STREAM`. A number on stdout:
 * the records of this stream up to it were answered as durable.
 */
import { writeSync } from "node:fs";
import { Journal } from "../../src/failures/journal/journal.ts";
import { eventOf } from "./journal-event.ts";
import { Random } from "./random.ts";

const [folder = "", seed = "0", stream = "0"] = process.argv.slice(2);
const random = new Random(Number(seed), Number(stream));
// Whether its own end is torn, nobody can tell while another one writes.
const journal = Journal.open(folder, { isLive: true });
writeSync(1, "0\n");

for (let last = 0; ;) {
  const events = Array.from({ length: random.int(1, random.chance(0.05) ? 400 : 40) }, (_, index) =>
    eventOf(stream, last + index + 1),
  );
  last += events.length;
  const durable = random.chance(0.4);
  const stored = await journal.append(events, { durable });
  if (durable && stored === "stored") writeSync(1, `${last}\n`);
}
