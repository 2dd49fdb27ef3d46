import { describe, expect, it } from "vitest";
import { findShapes } from "./shapes.ts";
import { secretsOfAddress, secretsOfArguments, secretsOfData, secretsOfVariables } from "./sources.ts";

const S = "cnry-4f9K2mQ7zX1";

describe("F-A3: the secrets in options", () => {
  it.each([
    ["a key", { apiKey: S }],
    ["a name in camel case", { oauth: { clientSecret: S } }],
    ["a token of the server", { server: { metricsToken: S, tokens: [{ token: S }] } }],
    ["a header", { headers: { "X-Session": S } }],
    ["a variable", { env: { MY_TOKEN: S } }],
    ["an argument", { args: ["--api-key", S] }],
    ["an argument with its value", { args: [`--token=${S}`] }],
    ["JSON in a text", { mcpConfig: JSON.stringify({ a: { env: { A_TOKEN: S } } }) }],
    ["an address", { url: `https://me:${S}@host/` }],
    ["an address that is none", { url: `https://me:${S}@host:999999/` }],
    ["a token in an address", { url: `https://${S}@host/` }],
    ["a parameter", { url: `https://host/?a=b&api_key=${S}` }],
  ])("%s", (_, data) => {
    expect(secretsOfData(data)).toContain(S);
  });

  it.each([
    ["limits", { maxTokens: "1000000000000", limits: { tokens: "1000000000000" } }],
    ["addresses without a secret", { url: "https://example.com:8080/path?model=something-long" }],
    ["other arguments", { args: ["--model", "something-long", "--verbose"] }],
    [
      "the names of git's settings",
      { env: { GIT_CONFIG_KEY_0: "core.hooksPath", GIT_CONFIG_KEY_12: "safe.directory" } },
    ],
  ])("none in %s", (_, data) => {
    expect(secretsOfData(data)).toEqual([]);
  });

  const CONNECTIONS = [
    ["a database", `postgres://me:${S}@host/db`],
    ["a name and its password with signs", `postgres://me:a@b${S}@host/db`, `a@b${S}`],
    ["a password with a slash", `postgres://me:a/b${S}@host/db`, `a/b${S}`],
    ["a password with a number sign", `mysql://me:a#${S}@host/db`, `a#${S}`],
    ["a password alone", `redis://:${S}@host:6379/0`],
    ["several hosts", `mongodb+srv://me:${S}@a.example,b.example/db?retryWrites=true`],
    ["pairs of Windows", `Server=h;Database=d;User Id=u;Password=${S};Encrypt=true`],
    ["pairs with blanks", `Server = h; Pwd = ${S} ; A = b`],
    ["pairs in quotes", `Server=h;Password="${S};x";A=b`, `${S};x`],
    ["pairs of libpq", `host=h port=5432 password=${S} dbname=d`],
    ["pairs in quotes, of libpq", `host=h password='${S} x' dbname=d`, `${S} x`],
    ["a storage account", `DefaultEndpointsProtocol=https;AccountName=n;AccountKey=${S}==;EndpointSuffix=x`, `${S}==`],
    ["a bus", `Endpoint=sb://h/;SharedAccessKeyName=n;SharedAccessKey=${S}`],
    ["JDBC", `jdbc:sqlserver://h;user=sa;password=${S}`],
    ["a driver of Go", `me:${S}@tcp(host:3306)/db`],
    ["Oracle", `me/${S}@//host:1521/x`],
  ] as const;

  it.each(CONNECTIONS)("F-A3: in the connection to %s, by every name for one", (_, text, secret: string = S) => {
    for (const name of ["connectionString", "connection_string", "databaseUrl", "dsn", "dbUri"]) {
      const found = secretsOfData({ store: { [name]: text } });
      expect(found, name).toContain(secret);
      expect(found, name).toContain(text);
    }
    for (const name of ["DATABASE_URL", "DB_CONNECTION_STRING", "APP_DSN", "MONGODB_URI", "PG_URL", "SQLCONNSTR_A"]) {
      expect(secretsOfVariables({ [name]: text }), name).toEqual(expect.arrayContaining([secret, text]));
    }
    expect(secretsOfArguments(["--dsn", text]), "--dsn").toContain(secret);
    expect(secretsOfArguments([`--database-url=${text}`])).toContain(secret);
  });

  it.each([
    ["DB_PASS", S],
    ["SMTP_PASS", S],
    ["SSHPASS", S],
    ["MYSQL_PWD", S],
    ["API_KEYS", S],
    ["ACCOUNTKEY", S],
    ["SLACK_WEBHOOK_URL", `https://hooks.example.com/services/T0/${S}`],
  ])("F-A3: by the name %s", (name, value) => {
    expect(secretsOfVariables({ [name]: value })).toContain(value);
    const option = name.toLowerCase().replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
    expect(secretsOfData({ [option]: value }), option).toContain(value);
  });

  it("F-A3: every address in a text, and by its shape where the name is unknown", () => {
    expect(secretsOfAddress(`http://a:b123456@h http://c:${S}@h`)).toContain(S);
    for (const text of [`see postgres://me:a@b${S}@host/db.`, `Server=h;Pwd=${S}x;`, `AccountKey=${S}==;`]) {
      const left = findShapes(text).reduce(
        (kept, { start, end }) => kept.filter((at) => at < start || at >= end),
        [...text].map((_, at) => at),
      );
      expect(left.map((at) => text[at]).join(""), text).not.toContain(S.slice(4));
    }
  });

  it("F-A3: the working folder is not a password", () => {
    expect(["PWD=/home/ada/work", "PWD=C:\\work", "cd $PWD; pwd=~/work"].flatMap(findShapes)).toEqual([]);
  });

  it.each(["PWD", "OLDPWD", "COMPASS", "BYPASS", "DATABASE_NAME", "DB_HOST", "HOMEPAGE_URL", "KEYBOARD", "PASSENGERS"])(
    "%s is not a secret",
    (name) => {
      expect(secretsOfVariables({ [name]: "/some/ordinary/value" })).toEqual([]);
    },
  );

  it("a circular value ends, and objects of a class are not searched", () => {
    const circle: Record<string, unknown> = { apiKey: S };
    circle["self"] = [circle, circle];
    class Kept {
      readonly token = "not-looked-at-0";
    }
    circle["kept"] = new Kept();
    expect(new Set(secretsOfData(circle))).toEqual(new Set([S]));
  });

  it("an address gives its secrets both encoded and decoded", () => {
    expect(secretsOfAddress("http://me:a%2Fb%2Bc%3Dd@host")).toEqual(["a%2Fb%2Bc%3Dd", "a/b+c=d"]);
    expect(secretsOfArguments(["--token", "--verbose"])).toEqual([]);
  });
});
