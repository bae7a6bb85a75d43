/** Finds deny rules of clients whose rules Toolwell does not apply: a connected client would lose them. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isRecord } from '@toolwell/core/internal'
import type { ClientName, Places, UserFile } from '../shared/clients/clients.js'
import { exampleMatcher, findLostHooks, isLost } from '../shared/clients/lost-hooks.js'
import { listEntries, parseClient, readClientFile, valueAt } from '../shared/clients/read-client.js'
import { copilotHome, copilotSystem } from '../shared/clients/rule-readers.js'
import { agentFiles, foldersUp, type RulePlaces, systemFolder } from '../shared/clients/rule-source.js'
import { type Fields, findShape } from '../shared/clients/shapes.js'
import { ENTRY_NAME } from '../shared/clients/toolwell-entry.js'
import { Refusal } from './edit/change.js'

interface RuleFile {
  readonly file: string
  /** `md`: the lines before the prompt of an agent, which are YAML. */
  readonly format: 'json' | 'toml' | 'yaml' | 'md'
  /** The names of the denied tools. */
  readonly find: (value: Fields) => readonly string[]
  /** The names of tools before which the client asks. */
  readonly findAsked?: (value: Fields) => readonly string[]
}

/** Logins at an organisation whose address answers with further settings: "type": "wellknown". */
const organisations =
  (name: 'opencode' | 'kilo') =>
  (_: UserFile, { home, env }: Places): readonly RuleFile[] => [
    {
      file: join(env.XDG_DATA_HOME || join(home, '.local', 'share'), name, 'auth.json'),
      format: 'json',
      find: (value) =>
        Object.entries(value).flatMap(([address, login]) =>
          isRecord(login) && login.type === 'wellknown' ? [`the settings of ${address}`] : [],
        ),
    },
  ]

/** Files with hooks that run before tools of servers: a hook reads the name of the tool, which is another behind Toolwell. */
const hookFiles =
  (name: 'cursor' | 'windsurf', label: string, find: (hooks: unknown) => readonly unknown[]) =>
  ({ file }: UserFile, places: RulePlaces): readonly RuleFile[] =>
    [
      dirname(file),
      ...foldersUp(places.folder).map((each) => join(each, `.${name}`)),
      systemFolder(places, name, label, `C:\\ProgramData\\${label}`),
    ].map((folder) => ({
      file: join(folder, 'hooks.json'),
      format: 'json',
      find: ({ hooks }) =>
        find(hooks).map(
          (hook) => `the hook ${(isRecord(hook) && (hook.matcher ?? hook.command)) || '(unnamed)'}`,
        ),
    }))

const cursorHooks = hookFiles('cursor', 'Cursor', (hooks) => [
  ...listOf(valueAt(hooks, ['beforeMCPExecution'])),
  ...listOf(valueAt(hooks, ['preToolUse'])).filter(
    (hook) => isRecord(hook) && /mcp/i.test(String(hook.matcher ?? '')),
  ),
])

/** Gemini CLI and Qwen Code themselves run in this sandbox, and so do their servers. */
const wholeSandbox =
  (name: '.gemini' | '.qwen') =>
  ({ file }: UserFile, { folder }: Places): readonly RuleFile[] =>
    [file, ...foldersUp(folder).map((each) => join(each, name, 'settings.json'))].map((each) => ({
      file: each,
      format: 'json',
      find: (value) => ((valueAt(value, ['tools', 'sandbox']) ?? value.sandbox) ? [SANDBOX] : []),
    }))

const SANDBOX = 'the sandbox'

/** Servers of the user that a file of the current project switches off. */
const switchedOff = (from: UserFile, file: string, table: string): RuleFile => ({
  file,
  format: 'json',
  find: (value) => {
    const { format } = findShape(from.shape)
    const own = existsSync(from.file) ? parseClient(readClientFile(from), format, from.file) : undefined
    const names = listEntries(own && 'value' in own ? own.value[table] : undefined).map(({ name }) => name)
    return listEntries(value[table]).flatMap(({ name, entry }) =>
      names.includes(name) && valueAt(entry, ['enabled']) === false ? [`${name} is switched off`] : [],
    )
  },
})

/** Each client keeps its rules in other files than its servers. */
const RULE_FILES: Partial<Record<ClientName, (from: UserFile, places: RulePlaces) => readonly RuleFile[]>> = {
  opencode: organisations('opencode'),
  kilo: organisations('kilo'),
  gemini: wholeSandbox('.gemini'),
  qwen: wholeSandbox('.qwen'),
  // `copilot help config`; checked with @github/copilot 1.0.102.
  'copilot-cli': (_, places) => [
    ...[
      join(copilotHome(places), 'settings.json'),
      ...foldersUp(places.folder).map((each) => join(each, '.github', 'copilot', 'settings.json')),
      join(copilotSystem(places), 'managed-settings.json'),
    ].map(
      (file): RuleFile => ({
        file,
        format: 'json',
        find: ({ sandbox }) =>
          valueAt(sandbox, ['enabled']) === true && valueAt(sandbox, ['sandboxMcpServers']) !== false
            ? [SANDBOX]
            : [],
      }),
    ),
  ],
  // docs.github.com/en/copilot/reference/enterprise-administrators/enterprise-managed-settings
  vscode: (_, places) => [
    {
      file: join(copilotSystem(places), 'managed-settings.json'),
      format: 'json',
      find: (value) => [
        ...listOf(value.deniedMcpServers).map((entry) => JSON.stringify(entry)),
        ...(value.allowedMcpServers === undefined ? [] : ['allowedMcpServers']),
        ...strings(valueAt(value, ['permissions', 'deny'])).filter((rule) => /^\s*mcp\(/i.test(rule)),
      ],
    },
  ],
  // cursor.com/docs/cli/reference/permissions and configuration: "Mcp(server:tool)", and cursor.com/docs/agent/hooks.
  cursor: (from, places) => [
    ...[
      ...[dirname(from.file), places.env.CURSOR_CONFIG_DIR]
        .concat(places.env.XDG_CONFIG_HOME && join(places.env.XDG_CONFIG_HOME, 'cursor'))
        .flatMap((folder) => (folder ? [join(folder, 'cli-config.json')] : [])),
      ...foldersUp(places.folder).map((each) => join(each, '.cursor', 'cli.json')),
    ].map(
      (file): RuleFile => ({
        file,
        format: 'json',
        find: (value) =>
          strings(valueAt(value, ['permissions', 'deny'])).filter((rule) => /^mcp\(/i.test(rule)),
      }),
    ),
    ...cursorHooks(from, places),
  ],
  // docs.windsurf.com/windsurf/cascade/hooks.
  windsurf: hookFiles('windsurf', 'Windsurf', (hooks) => listOf(valueAt(hooks, ['pre_mcp_tool_use']))),
  // @cline/core 0.0.86, global-settings.json: "server__tool".
  cline: ({ file, marker }, { env }) =>
    [
      join(dirname(file), 'global-settings.json'),
      join(marker, 'settings', 'global-settings.json'),
      ...(env.CLINE_GLOBAL_SETTINGS_PATH ? [env.CLINE_GLOBAL_SETTINGS_PATH] : []),
    ].map((each) => ({
      file: each,
      format: 'json',
      find: ({ disabledTools }) => strings(disabledTools).filter((name) => name.includes('__')),
    })),
  // github.com/block/goose, crates/goose/src/config/permission.rs.
  goose: ({ file }) => [
    {
      file: join(dirname(file), 'permission.yaml'),
      format: 'yaml',
      find: (value) => Object.values(value).flatMap((each) => strings(valueAt(each, ['never_allow']))),
      findAsked: (value) =>
        Object.values(value)
          .flatMap((each) => strings(valueAt(each, ['ask_before'])))
          .filter((name) => name.includes('__')),
    },
  ],
  // @continuedev/cli, permissions.yaml, and its src/hooks/hookConfig.ts.
  continue: ({ file }, { home, folder }) => [
    ...[dirname(file), ...[home, folder].map((each) => join(each, '.claude')), join(folder, '.continue')]
      .flatMap((each) => ['settings.json', 'settings.local.json'].map((name) => join(each, name)))
      .map(
        (each): RuleFile => ({
          file: each,
          format: 'json',
          find: (value) =>
            listOf(valueAt(value, ['hooks', 'PreToolUse'])).flatMap((hook) => {
              const { matcher } = isRecord(hook) ? hook : ({} as Fields)
              if (typeof matcher !== 'string' || /toolwell|run_tool/.test(matcher)) return []
              // Only Claude Code has names that begin with mcp__.
              const parts = matcher.split('|').filter((part) => !/^\W*mcp__/.test(part))
              return parts.some((part) => isLost(part, 'continue')) ? [`the hook ${matcher}`] : []
            }),
        }),
      ),
    {
      file: join(dirname(file), 'permissions.yaml'),
      format: 'yaml',
      find: ({ exclude }) => strings(exclude).filter((rule) => !CONTINUE_TOOLS.test(rule)),
      findAsked: ({ ask }) => strings(ask).filter((rule) => rule !== '*' && !CONTINUE_TOOLS.test(rule)),
    },
  ],
  // @moonshot-ai/kimi-code 2.1.0, PermissionRuleSchema, ToolsConfigSchema, agentRoots.ts and loadMcpServers.
  kimi: (from, { home, folder }) => [
    ...[join(folder, '.kimi-code', 'mcp.json'), join(foldersUp(folder)[0] ?? folder, '.mcp.json')].map(
      (each) => switchedOff(from, each, 'mcpServers'),
    ),
    ...[
      join(dirname(from.file), 'agents'),
      join(home, '.agents', 'agents'),
      ...foldersUp(folder).flatMap((each) => [
        join(each, '.kimi-code', 'agents'),
        join(each, '.agents', 'agents'),
      ]),
    ]
      .flatMap((each) => agentFiles(each))
      .map(
        (each): RuleFile => ({
          file: each,
          format: 'md',
          find: ({ disallowedTools }) => mcpNames(disallowedTools),
        }),
      ),
    {
      file: join(dirname(from.file), 'config.toml'),
      format: 'toml',
      find: (value) => [
        ...kimiRules(value, 'deny', /mcp|[*?[{]/i),
        ...mcpNames(valueAt(value, ['tools', 'disabled'])),
        ...listOf(value.hooks).flatMap((hook) =>
          isRecord(hook) &&
          hook.event === 'PreToolUse' &&
          typeof hook.matcher === 'string' &&
          isLost(hook.matcher, 'kimi')
            ? [hook.matcher]
            : [],
        ),
      ],
      findAsked: (value) => kimiRules(value, 'ask', /mcp/i),
    },
  ],
  // zed.dev/docs/ai/tool-permissions: "mcp:server:tool", and zed.dev/docs/ai/agent-profiles.
  zed: (from, { folder }) => [
    switchedOff(from, join(folder, '.zed', 'settings.json'), 'context_servers'),
    {
      file: from.file,
      format: 'json',
      find: (value) => [
        ...zedRules(value, 'deny'),
        ...listEntries(valueAt(value, ['agent', 'profiles'])).flatMap(({ entry }) => offInZedProfile(entry)),
      ],
      findAsked: (value) => zedRules(value, 'confirm'),
    },
  ],
}

/** A list, or names between commas. */
const mcpNames = (value: unknown) =>
  (typeof value === 'string' ? value.split(/[\s,]+/) : strings(value)).filter((name) => /^mcp__/.test(name))

/** The tools of Continue itself: @continuedev/cli 1.5.47, src/tools. */
const CONTINUE_TOOLS =
  /^(?:AskQuestion|Bash|CheckBackgroundJob|Checklist|Diff|Edit|Exit|Fetch|List|MultiEdit|Read|ReportFailure|Search|Skills|Status|Subagent|UploadArtifact|Write)\s*(?:\(|$)/

const kimiRules = (value: Fields, decision: string, pattern: RegExp) =>
  listOf(valueAt(value, ['permission', 'rules'])).flatMap((rule) =>
    isRecord(rule) && rule.decision === decision && pattern.test(String(rule.pattern))
      ? [String(rule.pattern)]
      : [],
  )

const zedRules = (value: Fields, action: 'deny' | 'confirm') =>
  listEntries(valueAt(value, ['agent', 'tool_permissions', 'tools'])).flatMap(({ name, entry }) =>
    name.startsWith('mcp:') && isRecord(entry) && (entry.default === action || entry[`always_${action}`])
      ? [name]
      : [],
  )

/** Tools that a profile of Zed switches off, unless it switches off the gateway too. */
function offInZedProfile(profile: unknown): string[] {
  if (valueAt(profile, ['enable_all_context_servers']) === false) return []
  return listEntries(valueAt(profile, ['context_servers'])).flatMap(({ name, entry }) => {
    const enabled = valueAt(entry, ['enabled'])
    if (name === ENTRY_NAME || enabled === true) return []
    if (enabled === false) return [name]
    return listEntries(valueAt(entry, ['tools'])).flatMap((tool) =>
      tool.entry === false ? [`${name}/${tool.name}`] : [],
    )
  })
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const strings = (value: unknown) => listOf(value).filter((each): each is string => typeof each === 'string')

/** Throws `Refusal` if the client would lose deny rules, or hooks that may deny. */
export async function checkLostRules(from: UserFile, places: RulePlaces): Promise<void> {
  const [hook, ...others] = await findLostHooks(from.client, places)
  if (hook)
    throw new Refusal(
      `${from.label} has a hook for ${[hook, ...others].map(({ matcher }) => matcher).join(', ')} that does not run for tools behind Toolwell, because they have other names: ${hook.file}`,
      `Add the tools behind Toolwell to the matcher, such as ${exampleMatcher(from.client)}, or run connect with --accept-lost-rules`,
    )
  for (const { file, find, value } of readRules(from, places)) {
    const names = value && find(value)
    if (names?.length === 0) continue
    if (names?.includes(SANDBOX))
      throw new Refusal(
        `${from.label} runs its servers in a sandbox, and servers behind Toolwell run outside it: ${file}`,
        'If the servers may run without the sandbox, run connect with --accept-lost-rules',
      )
    throw new Refusal(
      names
        ? `${from.label} may deny tools in ${file}, and Toolwell does not apply these rules: ${names.join(', ')}`
        : `${file} may deny tools and cannot be read`,
      'Deny the tools in toolwell.json, and add --accept-lost-rules to connect this client without its rules',
    )
  }
}

/** The rules of clients that Toolwell does not read at each start. */
export function findAskRules(from: UserFile, places: RulePlaces): string[] {
  return readRules(from, places).flatMap(({ findAsked, value }) => [...((value && findAsked?.(value)) ?? [])])
}

/** Without `value`, the file cannot be read. */
function readRules(from: UserFile, places: RulePlaces) {
  const files = RULE_FILES[from.client as ClientName]?.(from, places) ?? []
  return files
    .filter(({ file }) => existsSync(file))
    .map((each) => {
      try {
        const text = readClientFile({ ...from, file: each.file })
        const read =
          each.format === 'md'
            ? parseClient(/^\uFEFF?---[^\n]*\n([\s\S]*?)\n---/.exec(text)?.[1] ?? '', 'yaml', each.file)
            : parseClient(text, each.format, each.file)
        return { ...each, value: 'value' in read ? read.value : undefined }
      } catch {
        return { ...each, value: undefined }
      }
    })
}
