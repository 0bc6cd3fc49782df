import { expect, test } from "vitest";
import { ASK_OPTIONS } from "../../../src/surfaces/cli/options.ts";
import { parseArguments } from "../../../src/surfaces/cli/parse.ts";

test.each([
  { from: "words alone", argv: ["say", "hello"], words: ["say", "hello"], options: {} },
  {
    from: "options before, between and after the words",
    argv: ["-b", "demo", "say", "--json", "hello", "--model=m1"],
    words: ["say", "hello"],
    options: { backend: "demo", json: true, model: "m1" },
  },
  {
    from: "everything after --",
    argv: ["a", "--", "--json", "-b", "--", "c"],
    words: ["a", "--json", "-b", "--", "c"],
    options: { json: false },
  },
  {
    from: "words that look like numbers stay as typed",
    argv: ["0x10", "1.0", "007"],
    words: ["0x10", "1.0", "007"],
    options: {},
  },
  {
    from: "a flag does not take the word true",
    argv: ["--verbose", "true"],
    words: ["true"],
    options: { verbose: true },
  },
  { from: "a lone dash is a value", argv: ["-f", "-", "review"], words: ["review"], options: { file: "-" } },
  {
    from: "a value with quotes and =",
    argv: ["--agent", '"/opt/my agent" "x=y"'],
    words: [],
    options: { agent: '"/opt/my agent" "x=y"' },
  },
  { from: "a value that starts with a dash, after =", argv: ["--mode=-x"], words: [], options: { mode: "-x" } },
  {
    from: "lists are kept in order",
    argv: ["--attach", "a", "--attach", "b", "--config-option", "k=v=w"],
    words: [],
    options: { attach: ["a", "b"], "config-option": ["k=v=w"], mcp: [] },
  },
  { from: "one dash does for a long name", argv: ["-model", "m1"], words: [], options: { model: "m1" } },
  {
    from: "half a second",
    argv: ["--timeout", "0.5", "--retries", "0"],
    words: [],
    options: { timeout: 0.5, retries: 0 },
  },
  { from: "no-color is a name of its own", argv: ["--no-color"], words: [], options: { "no-color": true } },
])("$from", ({ argv, words, options }) => {
  const parsed = parseArguments(argv, ASK_OPTIONS);
  expect(parsed.words).toEqual(words);
  expect(parsed.options).toMatchObject(options);
});

test.each([
  { argv: ["--formt", "json"], sentence: "Unknown option --formt; did you mean --format?" },
  { argv: ["--idletimeout=3"], sentence: "Unknown option --idletimeout; did you mean --idle-timeout?" },
  { argv: ["-bcodex"], sentence: "Unknown option -bcodex; did you mean --backend?" },
  {
    argv: ["--zzzz", "word"],
    sentence: 'Unknown option --zzzz; --help lists all, and words that start with a dash stand after "--"',
  },
  {
    argv: ["-5", "degrees"],
    sentence: 'Unknown option -5; --help lists all, and words that start with a dash stand after "--"',
  },
  {
    argv: ["--no-json"],
    sentence: 'Unknown option --no-json; --help lists all, and words that start with a dash stand after "--"',
  },
  {
    argv: ["--constructor", "x"],
    sentence: 'Unknown option --constructor; --help lists all, and words that start with a dash stand after "--"',
  },
  {
    argv: ["--toString=x"],
    sentence: 'Unknown option --toString; --help lists all, and words that start with a dash stand after "--"',
  },
  { argv: ["--model"], sentence: "--model needs a value" },
  { argv: ["--model="], sentence: "--model needs a value" },
  { argv: ["-b", "--json"], sentence: "--backend needs a value" },
  { argv: ["--attach"], sentence: "--attach needs a value" },
  { argv: ["--json=yes"], sentence: "--json takes no value" },
  { argv: ["--timeout", "abc"], sentence: '--timeout cannot be "abc"; it is a number of seconds from 0.1 to 604800' },
  { argv: ["--timeout", "0"], sentence: '--timeout cannot be "0"; it is a number of seconds from 0.1 to 604800' },
  { argv: ["--timeout", "-5"], sentence: '--timeout cannot be "-5"; it is a number of seconds from 0.1 to 604800' },
  { argv: ["--timeout", "1e3"], sentence: '--timeout cannot be "1e3"; it is a number of seconds from 0.1 to 604800' },
  {
    argv: ["--timeout", "99999999999"],
    sentence: '--timeout cannot be "99999999999"; it is a number of seconds from 0.1 to 604800',
  },
  { argv: ["--retries", "1.5"], sentence: '--retries cannot be "1.5"; it is a whole number from 0 to 20' },
  { argv: ["--approve", "some"], sentence: '--approve cannot be "some"; it is one of all, reads, none' },
  { argv: ["--format", "xml"], sentence: '--format cannot be "xml"; it is one of text, json, ndjson, quiet' },
  { argv: ["-b", "codex", "--backend", "claude"], sentence: "--backend is given 2 times; it takes one value" },
])("$argv is refused with one sentence", ({ argv, sentence }) => {
  expect(() => parseArguments(argv, ASK_OPTIONS)).toThrow(
    expect.objectContaining({ name: "UsageError", message: sentence }),
  );
});
