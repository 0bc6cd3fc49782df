import { claudeBackend } from "../../src/backends/claude.ts";
import { CLAUDE_RECORDINGS, CLAUDE_RESENDS } from "./claude.expected.ts";
import { testCompleteness, testReplays } from "./table.ts";

const FOLDER = "claude-agent-acp/0.101.0";
const backendFor = (air: boolean) => ({ ...claudeBackend, air });

testCompleteness(FOLDER, CLAUDE_RECORDINGS);
testReplays(FOLDER, CLAUDE_RECORDINGS, backendFor);
testReplays(FOLDER, CLAUDE_RESENDS, backendFor);
