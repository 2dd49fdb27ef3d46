/** The variables of one cloud, which the CLI gets only if that cloud is switched on. */
interface Cloud {
  /** The CLI's own switches. Any of them, set to anything but a negative value, allows the list. */
  readonly switches: readonly string[];
  readonly names: readonly string[];
  /** Prefixes of whole groups of variables. */
  readonly prefixes: readonly string[];
}

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/**
 * The variables that each cloud's libraries read: keys, profiles, roles, regions. None is passed without its switch,
 * because most programs that set these variables do not mean them for Claude Code.
 */
export const CLOUDS: Readonly<Record<"aws" | "google" | "azure", Cloud>> = {
  aws: {
    switches: words("CLAUDE_CODE_USE_BEDROCK CLAUDE_CODE_USE_MANTLE CLAUDE_CODE_USE_ANTHROPIC_AWS"),
    names: words(`
      AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_BEARER_TOKEN_BEDROCK AWS_REGION AWS_DEFAULT_REGION
      AWS_PROFILE AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE AWS_SDK_LOAD_CONFIG AWS_ROLE_ARN AWS_ROLE_SESSION_NAME
      AWS_WEB_IDENTITY_TOKEN_FILE AWS_CONTAINER_CREDENTIALS_RELATIVE_URI AWS_CONTAINER_CREDENTIALS_FULL_URI
      AWS_CONTAINER_AUTHORIZATION_TOKEN AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE AWS_EC2_METADATA_DISABLED
      AWS_EC2_METADATA_SERVICE_ENDPOINT AWS_CA_BUNDLE AWS_ENDPOINT_URL AWS_USE_FIPS_ENDPOINT AWS_USE_DUALSTACK_ENDPOINT
      AWS_LOGIN_CACHE_DIRECTORY ANTHROPIC_SMALL_FAST_MODEL_AWS_REGION ANTHROPIC_BEDROCK_SERVICE_TIER
      ANTHROPIC_BEDROCK_MANTLE_BASE_URL ANTHROPIC_BEDROCK_MANTLE_API_KEY CLAUDE_CODE_SKIP_MANTLE_AUTH
      ANTHROPIC_AWS_BASE_URL ANTHROPIC_AWS_API_KEY ANTHROPIC_AWS_WORKSPACE_ID CLAUDE_CODE_SKIP_ANTHROPIC_AWS_AUTH`),
    prefixes: [],
  },
  google: {
    switches: words("CLAUDE_CODE_USE_VERTEX"),
    names: words(`
      GOOGLE_APPLICATION_CREDENTIALS GOOGLE_CLOUD_PROJECT GCLOUD_PROJECT GOOGLE_CLOUD_QUOTA_PROJECT
      GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES CLOUDSDK_CONFIG CLOUDSDK_ACTIVE_CONFIG_NAME CLOUDSDK_CORE_PROJECT
      GCE_METADATA_HOST`),
    prefixes: ["VERTEX_REGION_"],
  },
  azure: {
    switches: words("CLAUDE_CODE_USE_FOUNDRY"),
    names: words(`
      ANTHROPIC_FOUNDRY_API_KEY AZURE_CLIENT_ID AZURE_TENANT_ID AZURE_CLIENT_SECRET AZURE_CLIENT_CERTIFICATE_PATH
      AZURE_CLIENT_CERTIFICATE_PASSWORD AZURE_CLIENT_SEND_CERTIFICATE_CHAIN AZURE_USERNAME AZURE_PASSWORD
      AZURE_ADDITIONALLY_ALLOWED_TENANTS AZURE_AUTHORITY_HOST AZURE_REGIONAL_AUTHORITY_NAME AZURE_FEDERATED_TOKEN_FILE
      AZURE_TOKEN_CREDENTIALS AZURE_POD_IDENTITY_AUTHORITY_HOST AZURE_CONFIG_DIR IDENTITY_ENDPOINT IDENTITY_HEADER
      IDENTITY_SERVER_THUMBPRINT MSI_ENDPOINT MSI_SECRET`),
    prefixes: [],
  },
};

const NO = /^(?:|0|false|no|off)$/i;

/** Whether a variable belongs to a cloud that is switched on. `valueOf` reads the switches. */
export function createCloudFilter(valueOf: (name: string) => string | undefined): (name: string) => boolean {
  const open = Object.values(CLOUDS).filter(({ switches }) =>
    switches.some((name) => !NO.test(valueOf(name)?.trim() ?? "")),
  );
  return (name) =>
    open.some(({ names, prefixes }) => names.includes(name) || prefixes.some((prefix) => name.startsWith(prefix)));
}
