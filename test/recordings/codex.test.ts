import { codexBackend } from "../../src/backends/codex.ts";
import { CODEX_RECORDINGS, CODEX_RESENDS } from "./codex.expected.ts";
import { testCompleteness, testReplays } from "./table.ts";

const FOLDER = "codex-acp/2.6.0";
const backendFor = (air: boolean) => ({ ...codexBackend, air });

testCompleteness(FOLDER, CODEX_RECORDINGS);
testReplays(FOLDER, CODEX_RECORDINGS, backendFor);
testReplays(FOLDER, CODEX_RESENDS, backendFor);
