/** Names of headers whose values are always secrets. */
const SECRET_HEADER =
  /(?:^|[-_])(?:api[-_]?key|key|token|secret|authorization|auth|cookie|password|credential|credentials)$/i;

/** The same for headers that we send ourselves: better one too many. */
const SECRET_REQUEST_HEADER = /key|token|secret|auth|cookie|password|credential|session/i;

/** Names of variables whose values are secrets. */
const SECRET_VARIABLE =
  /(?:^|_)(?:API_?KEYS?|API_?TOKEN|(?:ACCESS|ACCOUNT|PRIVATE|MASTER|SIGNING)_?KEY|AUTH_?TOKEN|KEY|TOKEN|SECRETS?|(?:PG)?PASSWORDS?|PASSWD|PASSPHRASE|(?:SSH|PG)?PASS|CREDENTIALS?|AUTH|COOKIE|BEARER|JWT|PAT|WEBHOOK(?:_UR[LI])?)(?:_|$)|_PWD$/i;

/** Names of options whose values are secrets, in JSON and on a command line. */
const SECRET_OPTION =
  /(?:^|[-_])(?:api[-_]?keys?|(?:account|private)[-_]?key|key|token|secrets?|passwords?|passwd|passphrase|(?:ssh)?pass|pwd|auth|authorization|cookie|credentials?|jwt|bearer|webhook(?:[-_]?ur[li])?)$/i;

/** Names of values that contain the address and the password of a database or a service. */
const CONNECTION =
  /(?:^|[-_])(?:connection[-_]?(?:string|ur[li])|conn[-_]?str(?:ing)?|(?:sql|mysql|postgresql|custom)?connstr|dsn|(?:database|db|postgres(?:ql)?|pg|mysql|mariadb|mongo(?:db)?|redis|amqp|rabbitmq|clickhouse|jdbc|sql|broker|smtp|mailer|ldap)[-_]?(?:ur[li]|dsn))(?:[-_]|$)/i;

export function isSecretHeader(name: string): boolean {
  return SECRET_HEADER.test(name);
}

export function isSecretRequestHeader(name: string): boolean {
  return SECRET_REQUEST_HEADER.test(name);
}

/** Names of settings rather than keys: `GIT_CONFIG_KEY_0` is `core.hooksPath`. */
const NO_SECRET_VARIABLE = /^GIT_CONFIG_KEY_\d+$/i;

export function isSecretVariable(name: string): boolean {
  return SECRET_VARIABLE.test(name) && !NO_SECRET_VARIABLE.test(name);
}

/** Treats `clientSecret` like `client-secret`. */
export function isSecretOption(name: string): boolean {
  return SECRET_OPTION.test(inWords(name));
}

/** `DATABASE_URL`, `connectionString`: the value contains a password. */
export function isConnection(name: string): boolean {
  return CONNECTION.test(inWords(name));
}

function inWords(name: string): string {
  return name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, "_");
}
