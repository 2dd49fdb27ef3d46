/** Names of headers whose values are secrets, whatever they look like. */
const SECRET_HEADER =
  /(?:^|[-_])(?:api[-_]?key|key|token|secret|authorization|auth|cookie|password|credential|credentials)$/i;

/** The same for headers we send ourselves: rather one too many. */
const SECRET_REQUEST_HEADER = /key|token|secret|auth|cookie|password|credential|session/i;

/** Names of variables whose values are secrets. */
const SECRET_VARIABLE =
  /(?:^|_)(?:API_?KEY|API_?TOKEN|ACCESS_?KEY|AUTH_?TOKEN|KEY|TOKEN|SECRET|(?:PG)?PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|AUTH|COOKIE|BEARER|JWT|PAT)(?:_|$)|_PWD$/i;

/** Names of options whose values are secrets, in JSON and on a command line. */
const SECRET_OPTION =
  /(?:^|[-_])(?:api[-_]?key|key|token|secret|password|passwd|passphrase|auth|authorization|cookie|credentials?)$/i;

export function isSecretHeader(name: string): boolean {
  return SECRET_HEADER.test(name);
}

export function isSecretRequestHeader(name: string): boolean {
  return SECRET_REQUEST_HEADER.test(name);
}

export function isSecretVariable(name: string): boolean {
  return SECRET_VARIABLE.test(name);
}

/** `clientSecret` is a name as `client-secret` is. */
export function isSecretOption(name: string): boolean {
  return SECRET_OPTION.test(name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, "_"));
}
