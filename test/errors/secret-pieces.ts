/** What texts with secrets are made of, whole and in parts: any row of them may meet a rule of `redact`, or nearly. */
import { fill, TOKENS } from "./secrets.ts";

const NAMES = [
  ..."password,passwd,passphrase,pwd,secret,api key,api_key,apiKey,access-key,private_key,refreshToken,credentials,set-cookie,Cookie".split(
    ",",
  ),
  ..."token,auth,Authorization,signature,sig,pass,pat,jwt,bearer,Bearer ,Basic ,DB_PASSWORD,OPENAI_API_KEY_2,clientSecret,code,key,value,name".split(
    ",",
  ),
];
const MARKS = [
  ...'=,:,: ,==,=>,?,&,-,--,_,.,@,/,://,\\,\\\\,",\\",\\\\\\",\',{,},[,],;'.split(","),
  ..." ,\n,\t,\\n,\\t,\\u001b[31m,\\x1b,é,\u2028".split(","),
  ",",
];
const PLACES = [
  ..."https://,postgres://u,:p4ss@host,hooks.slack.com/services/T0,discord.com/api/webhooks/1/,discordapp.com/api/v9/webhooks/".split(
    ",",
  ),
  ..."/home/,/home/bob,/Users/ann/x,/root,/rootless,C:\\Users\\,D:/Users/,-I/home/bob,/mnt/c/Users/bob".split(","),
  "-----BEGIN RSA PRIVATE KEY-----",
  "-----END RSA PRIVATE KEY-----",
];
const WORDS = [
  "word",
  "1",
  "hunter2",
  "required",
  "null",
  "abc.def",
  fill(7),
  fill(21),
  fill(40, "0123456789abcdef"),
  "1234567",
];

export const PIECES: readonly string[] = [...NAMES, ...MARKS, ...PLACES, ...WORDS, ...Object.values(TOKENS)];
