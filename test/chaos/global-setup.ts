/** The CLI under test is the built one. */
import { buildWhenStale } from "../built-cli.ts";

export default buildWhenStale;
