import { secretsOfAddress, secretsOfHeaders } from "#secrets";

/** What must not be shown of how a model host is asked: its key, secret headers, the password in its address. */
export function hostSecrets(options: {
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly headers?: Readonly<Record<string, string>>;
}): readonly string[] {
  const { apiKey, baseUrl, headers = {} } = options;
  return [apiKey, ...secretsOfHeaders(headers), ...secretsOfAddress(baseUrl)];
}
