import { expect, test } from "vitest";
import { SplitSecrets as Split } from "../../../src/failures/log/split-secrets.ts";
import { fill, TOKENS } from "../../errors/secrets.ts";

class SplitSecrets {
  readonly #split = new Split();

  scrub(name: string, piece: string): string {
    return this.#split.scrub(name, piece) ?? piece;
  }
}

/** What stands in front of the value that must not be told, the value, and what follows. */
interface Told {
  readonly before: string;
  readonly secret: string;
  readonly after: string;
}

const AROUND: Readonly<Record<string, readonly [before: string, after: string]>> = {
  "between words": ["the key is ", " and more"],
  "in JSON": ['{"a":"', '","b":1}'],
  "at the very beginning": ["", "\nnext"],
};
/** The beginning of a token by which its kind is known. */
const MARK =
  /^(?:sk-(?:ant-|proj-)?(?:api03-)?|[a-z]+_(?:live_|pat_)?|glpat-|xox.-|xapp-1-|A[KS]IA|AIza|ya29\.|eyJ|\d+:|M\w+\.\w+\.|SG\.)/;
const TOLD: readonly (Told & { readonly from: string })[] = [
  ...Object.entries(TOKENS).flatMap(([kind, token]) =>
    Object.entries(AROUND).map(([where, [before, after]]) => {
      const mark = MARK.exec(token)![0];
      return { from: `${kind} ${where}`, before: before + mark, secret: token.slice(mark.length), after };
    }),
  ),
  {
    from: "case C25: postgres://u:p@h",
    before: "DATABASE at postgres://user:",
    secret: "hunter2horse",
    after: "@db.example/x",
  },
  { from: "case C25: Bearer", before: "Authorization: Bearer ", secret: fill(24), after: "\nAccept: */*" },
  { from: "a password by its name", before: "DB_PASSWORD=", secret: "correcthorse", after: "\nnext" },
  { from: "a password in quotes", before: 'password="', secret: "correct horse battery", after: '"\nnext' },
  { from: "a token by its name", before: "token: ", secret: fill(24), after: " end" },
  { from: "in JSON by its name", before: '{"api_key":"', secret: "hunter2horse", after: '","b":2}' },
  {
    from: "case C25: PEM",
    before: "-----BEGIN RSA PRIVATE KEY-----\n",
    secret: Array.from({ length: 12 }, () => fill(64)).join("\n"),
    after: "\n-----END RSA PRIVATE KEY-----\nnext",
  },
];

/** Enough to be worth guessing the rest. */
const TELLING_CHARS = 4;

function leaked(told: string, { before, secret, after }: Told): string[] {
  const shown = told.replaceAll("[redacted]", "\0");
  return Array.from({ length: secret.length - TELLING_CHARS + 1 }, (_, at) =>
    secret.slice(at, at + TELLING_CHARS),
  ).filter((part) => shown.includes(part) && !(before + after).includes(part));
}

test.each(TOLD)("in two pieces, cut anywhere: $from", (told) => {
  const whole = told.before + told.secret + told.after;
  for (let cut = 1; cut < whole.length; cut += whole.length > 300 ? 7 : 1) {
    const split = new SplitSecrets();
    const pieces = [whole.slice(0, cut), whole.slice(cut)].map((piece) => split.scrub("s", piece));
    expect({ cut, leaked: leaked(pieces.join(""), told) }).toEqual({ cut, leaked: [] });
    expect(pieces.join("").endsWith(told.after.slice(-4))).toBe(true);
  }
});

test.each(TOLD.flatMap((told) => [1, 3, 10].map((size) => ({ ...told, size }))))(
  "in pieces of $size: $from",
  ({ size, ...told }) => {
    const whole = told.before + told.secret + told.after;
    const split = new SplitSecrets();
    const pieces = Array.from({ length: Math.ceil(whole.length / size) }, (_, index) =>
      split.scrub("s", whole.slice(index * size, (index + 1) * size)),
    );
    expect(leaked(pieces.join(""), told)).toEqual([]);
    expect(pieces.join("").endsWith(told.after.slice(-4))).toBe(true);
  },
);

test.each([
  "The file passes its tests after this change, because every case is read from a recording.\n",
  "See https://docs.example.com/guide/start?page=2 and http://localhost:3000/health, or http://127.0.0.1:8080.\n",
  "Run `npm test -- --grep task-list`, then open src/task-runner/disk-cache.ts:120 (a_long_name, x.y.z).\n",
  '{"type":"object","properties":{"id":1},"list":["a","b"]}\n',
  "Möglich ist das: ja, 12:30:45, 3.14, 100%, e.g. this; \"quoted\" and 'single' words… 🙂\n",
])("what is no secret is told as it is, in pieces of any size: %s", (text) => {
  for (const size of [1, 2, 3, 5, 8, 13, 40]) {
    const split = new SplitSecrets();
    const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
      split.scrub("s", text.slice(index * size, (index + 1) * size)),
    );
    expect(pieces.join("")).toBe(text);
  }
});

test("two texts at once do not run into one another, and an escape sequence between two pieces hides nothing", () => {
  const split = new SplitSecrets();
  const token = TOKENS["github"]!;
  const told = [
    split.scrub("a", `x ${token.slice(0, 9)}`),
    split.scrub("b", "hello "),
    split.scrub("a", `${token.slice(9)} y`),
    split.scrub("b", "world"),
  ];
  expect(told).toEqual(["x [redacted]", "hello ", " y", "world"]);
  expect(
    [split.scrub("c", `x ${token.slice(0, 9)}\u001B`), split.scrub("c", `[31m${token.slice(9)} y`)].join(""),
  ).not.toContain(token.slice(9, 14));
  expect(split.scrub("d", "\u001B[32mgreen\u001B[0m")).toBe("\u001B[32mgreen\u001B[0m");
});
