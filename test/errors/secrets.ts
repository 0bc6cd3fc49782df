/** Secrets of every common shape, and what may stand around and in them. */

/** Built at run time: no file of the repository holds anything that looks like a live credential. */
export const fill = (count: number, alphabet = "aB3dE6gH9"): string =>
  Array.from({ length: count }, (_, index) => alphabet[index % alphabet.length]).join("");

export const TOKENS: Readonly<Record<string, string>> = {
  anthropic: `sk-ant-api03-${fill(40)}`,
  "anthropic, short": "sk-ant-AAAA",
  "case C10": "sk-ant-SECRET",
  "openai project": `sk-proj-${fill(48)}`,
  openai: `sk-${fill(48)}`,
  stripe: `sk_live_${fill(24)}`,
  github: `ghp_${fill(36)}`,
  "github oauth": `gho_${fill(36)}`,
  "github fine-grained": `github_pat_${fill(60)}`,
  gitlab: `glpat-${fill(20)}`,
  "slack bot": `xoxb-${fill(11, "123")}-${fill(24)}`,
  "slack app": `xapp-1-${fill(30)}`,
  aws: `AKIA${fill(16, "ABC2")}`,
  "aws session": `ASIA${fill(16, "ABC2")}`,
  google: `AIza${fill(35)}`,
  "google oauth": `ya29.${fill(40)}`,
  jwt: `eyJ${fill(20)}.eyJ${fill(40)}.${fill(43)}`,
  npm: `npm_${fill(36)}`,
  "hugging face": `hf_${fill(34)}`,
  telegram: `${fill(10, "123456")}:${fill(35)}`,
  discord: `M${fill(25)}.${fill(6)}.${fill(38)}`,
  sendgrid: `SG.${fill(22)}.${fill(43)}`,
  groq: `gsk_${fill(40)}`,
};

/** One of every form of ECMA-48 and ECMA-35. */
export const SEQUENCES: Readonly<Record<string, string>> = {
  "colour (CSI)": "\u001B[31m",
  "grep --color (two CSI)": "\u001B[01;31m\u001B[K",
  "CSI with every kind of parameter": "\u001B[<38:2::1;2=>?m",
  "CSI with intermediate bytes": "\u001B[2 q",
  "CSI with a control inside": "\u001B[3\u00001m",
  "CSI as one character": "\u009B1m",
  "tput sgr0 (nF)": "\u001B(B\u001B[m",
  "character set (nF)": "\u001B(B",
  "screen test (nF)": "\u001B#8",
  "8-bit controls (nF)": "\u001B F",
  "UTF-8 (nF, two intermediate bytes)": "\u001B%/G",
  "save cursor (Fp)": "\u001B7",
  "reverse index (Fe)": "\u001BM",
  "reset (Fs)": "\u001Bc",
  "title with BEL (OSC)": "\u001B]0;a title\u0007",
  "link with ST (OSC)": "\u001B]8;;https://h.example\u001B\\",
  "title as one character": "\u009D0;a title\u009C",
  "title over 4 KB": `\u001B]0;${"title ".repeat(1000)}\u0007`,
  "picture (DCS)": "\u001BPq#0;2;0~~\u001B\\",
  "DCS as one character": "\u0090q#0\u009C",
  "start of string (SOS)": "\u001BXwords\u001B\\",
  "privacy message (PM)": "\u001B^words\u001B\\",
  "application (APC)": "\u001B_Gf=100;AAAA\u001B\\",
  "APC as one character": "\u009Fwords\u009C",
  "C1 control": "\u0085",
  "C0 control": "\u0001",
  "nothing seen": "\u200B",
};
