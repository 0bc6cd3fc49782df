import { backendFor } from "../../src/backends/registry.ts";
import { CODEX_RECORDINGS, CODEX_RESENDS } from "./codex.expected.ts";
import { testCompleteness, testReplays } from "./table.ts";

const FOLDER = "codex-acp/2.6.0";
const codex = (air: boolean) => backendFor("codex", { air });

testCompleteness(FOLDER, CODEX_RECORDINGS);
testReplays(FOLDER, CODEX_RECORDINGS, codex);
testReplays(FOLDER, CODEX_RESENDS, codex);
