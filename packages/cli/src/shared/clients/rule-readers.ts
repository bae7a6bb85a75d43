/** The permission rules of each client for MCP tools. Each bridge loads this, so it imports little. */
import { dirname, join, resolve } from 'node:path'
import type { ClientRules, RuleAction } from '@toolwell/gateway/bridge'
import { type ClientName, claudeFolder } from './clients.js'
import {
  allowedServers,
  disabledServers,
  type FoundRule,
  GATEWAY,
  isPlain,
  isShortened,
  managedServers,
  mcpRule,
  ruleFor,
  serverRule,
  toolLists,
} from './found-rule.js'
import {
  AGENT_RULES,
  agentFiles,
  allFoldersUp,
  bothEndings,
  fieldsAt,
  filesIn,
  findMainCheckout,
  foldersIn,
  foldersUp,
  insertBraces,
  insertDollars,
  isAgent,
  isFields,
  isProjectFile,
  isText,
  type RulePlaces,
  type Source,
  stringsAt,
  systemFolder,
  WrongKey,
} from './rule-source.js'
import type { Fields } from './shapes.js'

export interface RuleReader {
  readonly prefix: ClientRules['prefix']
  readonly separator: ClientRules['separator']
  /** Weakest first. Missing files are skipped. */
  readonly files: (places: RulePlaces) => readonly string[]
  /** Further files with rules, some of which the first ones name. */
  readonly more?: (sources: readonly Source[], places: RulePlaces) => readonly string[]
  /** Inserts variables in lists of the settings. */
  readonly insert?: (text: string, env: RulePlaces['env'], file: string) => string
  /** In each layer the last match counts. */
  readonly read: (sources: readonly Source[], places: RulePlaces) => readonly (readonly FoundRule[])[]
}

/** Before the names of MCP tools in Claude Code and Qwen Code. */
const PREFIX = 'mcp__'

/** `permissions.allow`, `ask` and `deny` with names such as `mcp__server__tool`. */
function permissionRules(sources: readonly Source[]): FoundRule[] {
  return (['allow', 'ask', 'deny'] as const).flatMap((action) =>
    sources.flatMap((source) =>
      (stringsAt(source, 'permissions', action) ?? []).flatMap((text) =>
        // Only a deny rule may have a wildcard in the prefix, such as `*__write_file`.
        ruleFor(action, text, source.file, action === 'deny' ? loosenPrefix(text) : PREFIX),
      ),
    ),
  )
}

/** `disallowedTools` of an agent or skill count always, because the gateway does not know which of them calls. */
function agentRules(sources: readonly Source[]): FoundRule[] {
  return sources
    .filter(isAgent)
    .flatMap((source) =>
      (stringsAt(source, 'disallowedTools') ?? []).flatMap((text) =>
        ruleFor('deny', text, source.file, loosenPrefix(text)),
      ),
    )
}

/** The part of the prefix before the first wildcard. */
function loosenPrefix(text: string): string {
  const [head = '', ...rest] = text.replace(/\(.*$/s, '').split(/[*?]/)
  return rest.length > 0 && PREFIX.startsWith(head) ? head : PREFIX
}

/** code.claude.com/docs/en/settings; checked with Claude Code 2.1.325. */
const claudeCode: RuleReader = {
  prefix: PREFIX,
  separator: '__',
  files(places) {
    const own = claudeFolder(places.home, places.env)
    const managed = systemFolder(places, 'claude-code', 'ClaudeCode', 'C:\\Program Files\\ClaudeCode')
    const withPrompts = (folder: string) => [
      ...agentFiles(join(folder, 'agents')),
      ...agentFiles(join(folder, 'commands')),
      ...foldersIn(join(folder, 'skills')).map((skill) => join(skill, 'SKILL.md')),
    ]
    const main = findMainCheckout(places.folder)
    return [
      own.file,
      join(own.settings, 'settings.json'),
      ...withPrompts(own.settings),
      ...foldersUp(places.folder).flatMap((folder) => [
        join(folder, '.claude', 'settings.json'),
        join(folder, '.claude', 'settings.local.json'),
      ]),
      ...main.map((folder) => join(folder, '.claude', 'settings.local.json')),
      ...[...main, ...allFoldersUp(places.folder)].flatMap((folder) => withPrompts(join(folder, '.claude'))),
      join(own.settings, 'remote-settings.json'),
      join(managed, 'managed-settings.json'),
      ...filesIn(join(managed, 'managed-settings.d'), '.json'),
      ...withPrompts(join(managed, '.claude')),
    ]
  },
  read: (sources, { folder }) => [
    permissionRules(sources),
    agentRules(sources),
    ...managedServers(sources),
    sources.flatMap((source) =>
      disabledServers(
        foldersUp(folder).flatMap((each) => stringsAt(source, 'projects', each, 'disabledMcpServers') ?? []),
        source.file,
      ),
    ),
  ],
}

export const copilotHome = ({ home, env }: Pick<RulePlaces, 'home' | 'env'>) =>
  env.COPILOT_HOME || join(home, '.copilot')

export const copilotSystem = (places: RulePlaces) =>
  systemFolder(places, 'github-copilot', 'GitHubCopilot', 'C:\\Program Files\\GitHubCopilot')

/** `copilot mcp disable` writes the settings. Checked with @github/copilot 1.0.102. */
const copilotCli: RuleReader = {
  prefix: '',
  separator: '_',
  files: (places) => [
    join(copilotHome(places), 'mcp-config.json'),
    join(copilotHome(places), 'settings.json'),
    ...foldersUp(places.folder).flatMap((each) =>
      ['settings.json', 'settings.local.json'].map((name) => join(each, '.github', 'copilot', name)),
    ),
    join(copilotSystem(places), 'managed-settings.json'),
  ],
  read: (sources) => [
    ...managedServers(sources),
    ...sources.flatMap((source) =>
      Object.keys(fieldsAt(source, 'mcpServers')).map((server) => {
        const tools = stringsAt(source, 'mcpServers', server, 'tools')
        return toolLists(server, tools?.includes('*') ? undefined : tools, undefined, source.file)
      }),
    ),
    sources.flatMap((source) => disabledServers(stringsAt(source, 'disabledMcpServers') ?? [], source.file)),
    (['ask', 'deny'] as const).flatMap((action) =>
      sources.flatMap((source) =>
        (stringsAt(source, 'permissions', action) ?? []).flatMap((text) =>
          mcpRule(action, text, source.file),
        ),
      ),
    ),
  ],
}

/** Keys that Gemini CLI and Qwen Code share. The older names are at the top of the file. */
function geminiLayers(sources: readonly Source[]): FoundRule[][] {
  return [
    // Every list counts: a project that the client does not trust must not override the user.
    ...sources.map((source) =>
      allowedServers(listOf(source, ['mcp', 'allowed'], 'allowMCPServers'), source.file),
    ),
    sources.flatMap((source) =>
      (listOf(source, ['mcp', 'excluded'], 'excludeMCPServers') ?? []).map((name) =>
        serverRule('deny', name, source.file),
      ),
    ),
    ...sources.flatMap((source) =>
      Object.keys(fieldsAt(source, 'mcpServers')).map((server) => {
        const list = (key: string) => stringsAt(source, 'mcpServers', server, key)
        return toolLists(server, list('includeTools'), list('excludeTools'), source.file)
      }),
    ),
  ]
}

function listOf(source: Source, path: readonly string[], older: string): readonly string[] | undefined {
  return stringsAt(source, ...path) ?? stringsAt(source, older)
}

function geminiFolders(places: RulePlaces) {
  const folder = systemFolder(places, 'gemini-cli', 'GeminiCli', 'C:\\ProgramData\\gemini-cli')
  return { folder, own: join(places.env.GEMINI_CLI_HOME || places.home, '.gemini') }
}

interface PolicyFile {
  /** A rule of a higher tier wins, whatever its priority. */
  readonly tier: number
  readonly file: string
  /** Gemini CLI reads the file with these settings, so its rules may lift others. Deny rules of other files count too. */
  readonly isRead: boolean
}

/** Gemini CLI reads no policies of a project. */
function findPolicies(sources: readonly Source[], places: RulePlaces): PolicyFile[] {
  const { folder, own } = geminiFolders(places)
  const find = (tier: number, isRead: boolean, ...paths: string[]): PolicyFile[] =>
    paths.flatMap((path) =>
      (path.endsWith('.toml') ? [path] : filesIn(path, '.toml')).map((file) => ({ tier, file, isRead })),
    )
  const named = (key: string, tier: number, isRead: boolean) =>
    sources.flatMap((source) => {
      const isProject = isProjectFile(source.file, places)
      const paths = (stringsAt(source, key) ?? []).map((path) =>
        resolve(places.folder, path.replace(/^~(?=[\\/]|$)/, places.home)),
      )
      return find(isProject ? 3 : tier, isRead && !isProject, ...paths)
    })
  const system = find(5, true, join(folder, 'policies'))
  const areNamed = sources.some((source) => (stringsAt(source, 'policyPaths') ?? []).length > 0)
  return [
    ...system,
    ...find(4, !areNamed, join(own, 'policies')),
    ...find(3, false, ...foldersUp(places.folder).map((each) => join(each, '.gemini', 'policies'))),
    ...find(2, false, ...foldersIn(join(own, 'extensions')).map((each) => join(each, 'policies'))),
    ...named('adminPolicyPaths', 5, system.length === 0),
    ...named('policyPaths', 4, true),
  ]
}

/** `gemini mcp disable` writes it: names of servers in lower case. */
const SWITCHES = 'mcp-server-enablement.json'

/** docs/reference/configuration.md and policy-engine.md of @google/gemini-cli 0.61. */
const gemini: RuleReader = {
  prefix: 'mcp_',
  separator: '_',
  files: (places) => {
    const { folder, own } = geminiFolders(places)
    const { GEMINI_CLI_SYSTEM_SETTINGS_PATH: given, GEMINI_CLI_SYSTEM_DEFAULTS_PATH: defaults } = places.env
    const system = given || join(folder, 'settings.json')
    return [
      defaults || join(dirname(system), 'system-defaults.json'),
      ...foldersIn(join(own, 'extensions')).map((each) => join(each, 'gemini-extension.json')),
      join(own, SWITCHES),
      join(own, 'settings.json'),
      ...foldersUp(places.folder).map((each) => join(each, '.gemini', 'settings.json')),
      system,
    ]
  },
  more: (sources, places) => findPolicies(sources, places).map(({ file }) => file),
  insert: insertDollars,
  read: (sources, places) => [
    ...geminiLayers(sources),
    sources.flatMap((source) =>
      (listOf(source, ['tools', 'allowed'], 'allowedTools') ?? []).flatMap((text) =>
        ruleFor('allow', text, source.file, 'mcp_'),
      ),
    ),
    sources.flatMap((source) =>
      (stringsAt(source, 'tools', 'confirmationRequired') ?? []).flatMap((text) =>
        ruleFor('ask', text, source.file, 'mcp_'),
      ),
    ),
    ...sources.map(onlyTools),
    sources.flatMap((source) =>
      // Such a list also hides tools of servers by their names alone.
      (listOf(source, ['tools', 'exclude'], 'excludeTools') ?? []).flatMap((text) =>
        ruleFor('deny', text, source.file, ''),
      ),
    ),
    sources.flatMap((source) =>
      Object.keys(source.file.endsWith(SWITCHES) ? source.value : {})
        .filter((name) => name !== GATEWAY && fieldsAt(source, name).enabled === false)
        .map((name) => serverRule('deny', name, source.file)),
    ),
    ...policyLayers(
      // The first of the highest rules wins.
      findPolicies(sources, places)
        .flatMap((each) =>
          sources.flatMap((source) => (source.file === each.file ? policyRules(source, each) : [])),
        )
        .sort((a, b) => b.priority - a.priority)
        .reverse(),
    ),
  ],
}

/** The list denies every other tool. Without tools of servers, it denies the gateway too, unless the user has named that. */
function onlyTools(source: Source): FoundRule[] {
  const { file } = source
  const allowed = (listOf(source, ['tools', 'core'], 'coreTools') ?? [])
    .filter((text) => !text.startsWith(`mcp_${GATEWAY}_`))
    .flatMap((text) => ruleFor('allow', text, file, 'mcp_'))
  const names = allowed.map(({ text }) => text).join(', ')
  return allowed.length === 0 ? [] : [serverRule('deny', '*', file, `tools other than ${names}`), ...allowed]
}

interface PolicyRule extends FoundRule {
  readonly priority: number
  /** Gemini CLI itself may not apply the ask rule to all these tools, so it must not lift a deny rule. */
  readonly isLoose: boolean
}

function policyLayers(rules: readonly PolicyRule[]): FoundRule[][] {
  return [rules.filter(({ isLoose }) => !isLoose), rules.filter(({ isLoose }) => isLoose)]
}

const DECISIONS: Readonly<Record<string, RuleAction>> = { allow: 'allow', ask_user: 'ask', deny: 'deny' }

/** Keys that do not limit which calls a policy counts for. */
const UNLIMITED = new Set(['denyMessage', 'deny_message', 'allowRedirection', 'allow_redirection'])

/** A rule with further conditions counts as if it had none, unless it allows. */
function policyRules({ file, value }: Source, { tier, isRead }: PolicyFile): PolicyRule[] {
  if (value.rule !== undefined && !Array.isArray(value.rule))
    throw new WrongKey(file, '"rule" must be a list')
  return (value.rule ?? []).filter(isFields).flatMap((each: Fields) => {
    const { decision, mcpName, toolName = '*', priority = 0, ...more } = each
    const action = DECISIONS[String(decision)]
    const isLimited = !isRead || Object.keys(more).some((key) => !UNLIMITED.has(key))
    if (!action || (action === 'allow' && isLimited)) return []
    return [toolName].flat().flatMap((tool) => {
      const [name, server] = [String(tool), mcpName === undefined ? undefined : String(mcpName)]
      const exact = action === 'deny' || isLimited ? [] : exactPolicy(action, name, server, file)
      const loose =
        server === undefined
          ? ruleFor(action, name, file, 'mcp_')
          : [{ action, text: `${server}/${name}`, file, rule: [action, name, server] as const }]
      const rules = exact.length > 0 || action === 'allow' ? exact : loose
      return rules.map((rule) => ({
        ...rule,
        isLoose: action === 'ask' && exact.length === 0,
        priority: tier + Math.min(Number(priority) || 0, 999) / 1000,
      }))
    })
  })
}

/** The only wildcards of Gemini CLI: every server, every tool, `mcp_*`, and `mcp_SERVER_*` for exactly this server. */
function exactPolicy(
  action: RuleAction,
  name: string,
  server: string | undefined,
  file: string,
): FoundRule[] {
  const rule = (tool: string, owner: string, text = `${owner}/${tool}`): FoundRule[] => [
    { action, text, file, rule: [action, tool, owner] },
  ]
  const isWhole = (text: string) => text === '*' || isPlain(text)
  if (server !== undefined) return isWhole(name) && isWhole(server) ? rule(name, server) : []
  if (name === 'mcp_*') return rule('*', '*', name)
  const [, owner] = /^mcp_(.+)_\*$/.exec(name) ?? []
  if (owner !== undefined && isPlain(owner)) return owner === GATEWAY ? [] : rule('*', owner, name)
  return isPlain(name) && !isShortened(name) ? ruleFor(action, name, file, 'mcp_') : []
}

/** Checked with @qwen-code/qwen-code 0.24.4. */
const qwen: RuleReader = {
  prefix: PREFIX,
  separator: '__',
  files: (places) => {
    const folder = systemFolder(places, 'qwen-code', 'QwenCode', 'C:\\ProgramData\\qwen-code')
    const system = places.env.QWEN_CODE_SYSTEM_SETTINGS_PATH || join(folder, 'settings.json')
    const own = places.env.QWEN_HOME || join(places.home, '.qwen')
    return [
      places.env.QWEN_CODE_SYSTEM_DEFAULTS_PATH || join(dirname(system), 'system-defaults.json'),
      join(own, 'settings.json'),
      ...agentFiles(join(own, 'agents')),
      ...foldersUp(places.folder).flatMap((each) => [
        join(each, '.qwen', 'settings.json'),
        join(each, '.qwen', 'settings.local.json'),
        ...agentFiles(join(each, '.qwen', 'agents')),
      ]),
      system,
    ]
  },
  insert: insertDollars,
  read: (all) => {
    const sources = all.filter((source) => !isAgent(source))
    return [
      permissionRules(sources),
      agentRules(all),
      sources.flatMap((source) =>
        [
          ...(listOf(source, ['tools', 'exclude'], 'excludeTools') ?? []),
          ...(stringsAt(source, 'tools', 'disabled') ?? []),
        ].flatMap((text) => ruleFor('deny', text, source.file, '')),
      ),
      ...geminiLayers(sources),
    ]
  },
}

/** Lists every server that the administrator of Codex allows. */
const REQUIREMENTS = 'requirements.toml'

const codexSystem = (places: RulePlaces) =>
  systemFolder(places, 'codex', 'Codex', 'C:\\ProgramData\\OpenAI\\Codex')
const codexHome = ({ env, home }: RulePlaces) => env.CODEX_HOME || join(home, '.codex')

/** github.com/openai/codex, docs/config.md; checked with Codex 0.166. */
const codex: RuleReader = {
  prefix: PREFIX,
  separator: '__',
  files: (places) => {
    const folder = codexSystem(places)
    return [
      join(folder, 'config.toml'),
      join(codexHome(places), 'config.toml'),
      ...foldersUp(places.folder).map((each) => join(each, '.codex', 'config.toml')),
      join(folder, 'managed_config.toml'),
      join(folder, REQUIREMENTS),
    ]
  },
  more: (sources, places) => [
    // The command line chooses one of these profiles.
    ...filesIn(codexHome(places), '.config.toml'),
    ...[
      codexSystem(places),
      codexHome(places),
      ...foldersUp(places.folder).map((each) => join(each, '.codex')),
    ].flatMap((each) => agentFiles(join(each, 'agents'), '.toml')),
    ...sources.flatMap((source) =>
      Object.values(fieldsAt(source, 'agents'))
        .map((agent) => (isFields(agent) ? agent.config_file : undefined))
        .filter(isText)
        .map((file) => resolve(dirname(source.file), file)),
    ),
  ],
  read: (sources) =>
    sources.flatMap((source) => {
      const { file } = source
      const servers = Object.keys(fieldsAt(source, 'mcp_servers'))
      if (file.endsWith(REQUIREMENTS)) return [allowedServers(servers, file)]
      return servers.map((server): FoundRule[] => {
        const entry = fieldsAt(source, 'mcp_servers', server)
        const list = (key: string) => stringsAt(source, 'mcp_servers', server, key)
        const ask = (tool: string): FoundRule => ({
          action: 'ask',
          text: `${server}/${tool}`,
          file,
          rule: ['ask', tool, server],
        })
        const tools = fieldsAt(source, 'mcp_servers', server, 'tools')
        const isAsked = (tool: string) =>
          fieldsAt(source, 'mcp_servers', server, 'tools', tool).approval_mode === 'prompt'
        return [
          ...(entry.default_tools_approval_mode === 'prompt' ? [ask('*')] : []),
          ...Object.keys(tools).filter(isAsked).map(ask),
          ...toolLists(server, list('enabled_tools'), list('disabled_tools'), file),
          ...(entry.enabled === false && server !== GATEWAY ? [serverRule('deny', server, file)] : []),
        ]
      })
    }),
}

/** Permissions of opencode that are not tools of MCP servers but have an underscore. */
const BUILT_IN = new Set(['external_directory', 'doom_loop', 'plan_enter', 'plan_exit', 'apply_patch'])

/** opencode.ai/docs/permissions; checked with opencode-ai. Later files replace the action of a name, not its position. */
function opencodeLike(files: RuleReader['files']): RuleReader {
  return {
    prefix: '',
    separator: '_',
    files,
    // The project may come from a stranger: its files lift no deny rule of the user or the administrator.
    read: (sources, places) => {
      const all = sources.map((source): Source => {
        if (!isAgent(source)) return source
        const { file, value } = source
        if (value[AGENT_RULES] === null) throw new WrongKey(file, '"permission" or "tools" is not valid YAML')
        return { ...source, value: { agent: { [file]: value[AGENT_RULES] } } }
      })
      const folders = allFoldersUp(places.folder)
      const trusted = all.filter(({ file }) => !isProjectFile(file, places, folders))
      return [...readLayers(all, places.env), ...readLayers(trusted, places.env)]
    },
  }
}

function readLayers(sources: readonly Source[], env: RulePlaces['env']): FoundRule[][] {
  const base = mergeActions(sources, [], env)
  const agents = new Set(
    sources.flatMap((source) =>
      AGENTS.flatMap((key) => Object.keys(fieldsAt(source, key)).map((name) => `${key}.${name}`)),
    ),
  )
  const off = sources.flatMap((source) => [
    ...disabledServers(
      Object.keys(fieldsAt(source, 'mcp')).filter((name) => fieldsAt(source, 'mcp', name).enabled === false),
      source.file,
    ),
    // Earlier versions of Kilo.
    ...disabledServers(
      Object.keys(fieldsAt(source, 'mcpServers')).filter(
        (name) => fieldsAt(source, 'mcpServers', name).disabled === true,
      ),
      source.file,
    ),
  ])
  const layers = [...agents].map((agent) => {
    const [key = '', ...name] = agent.split('.')
    return [...base, ...mergeActions(sources, [key, name.join('.')], env)]
  })
  // The client itself denies the gateway to such an agent.
  const isServed = (layer: readonly FoundRule[]) =>
    layer.findLast(({ text }) => toPattern(text).test(`${GATEWAY}_run_tool`))?.action !== 'deny'
  return [base, off, ...layers.filter((layer) => layer.length > base.length && isServed(layer))]
}

const AGENTS = ['agent', 'mode']

/** Several stars are one: a pattern of a stranger's project must not take long. */
function toPattern(text: string): RegExp {
  return new RegExp(
    `^${text
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replace(/\*+/g, '.*')
      .replace(/\?/g, '.')}$`,
  )
}

/** `tools` are older than `permission`, which overrides them. */
function mergeActions(
  sources: readonly Source[],
  path: readonly string[],
  env: RulePlaces['env'],
): FoundRule[] {
  const actions = new Map<string, FoundRule>()
  const set = (text: string, given: unknown, file: string) => {
    const name = insertBraces(text, env, file).replace(/(?<=.) \*$/, '')
    if (BUILT_IN.has(name) || !/[_*?]/.test(name) || given === undefined || given === null) return
    const action = insertBraces(String(given), env, file)
    if (action !== 'allow' && action !== 'ask' && action !== 'deny')
      throw new WrongKey(file, `the action "${action}" of "${name}" must be "allow", "ask" or "deny"`)
    for (const rule of ruleFor(action, name, file, '')) actions.set(name, rule)
  }
  for (const source of sources)
    for (const [name, isOn] of Object.entries(fieldsAt(source, ...path, 'tools')))
      set(name, isOn === false ? 'deny' : 'allow', source.file)
  for (const source of sources) {
    const { permission } = fieldsAt(source, ...path)
    const given = isText(permission) ? { '*': permission } : fieldsAt(source, ...path, 'permission')
    // The arguments of a tool of a server count as `*`.
    for (const [name, action] of Object.entries(given))
      if (!isFields(action)) set(name, action, source.file)
      else
        for (const [pattern, inner] of Object.entries(action))
          if (toPattern(pattern).test('*')) set(name, inner, source.file)
  }
  return [...actions.values()]
}

function opencodeFiles(name: 'opencode' | 'kilo'): RuleReader['files'] {
  // Kilo also reads the files of opencode, and those of its earlier versions.
  const [names, dotted] =
    name === 'kilo'
      ? [
          ['kilo', 'opencode'],
          ['.kilocode', '.kilo'],
        ]
      : [[name], [`.${name}`]]
  return (places) => {
    const folders = allFoldersUp(places.folder)
    const own = join(places.env.XDG_CONFIG_HOME || join(places.home, '.config'), name)
    const variable = `${name.toUpperCase()}_CONFIG`
    const { [variable]: given, [`${variable}_DIR`]: folder } = places.env
    const configs = (each: string) => names.flatMap((file) => bothEndings(each, file))
    const inFolder = (each: string) => [
      ...configs(each),
      ...['agent', 'agents', 'mode', 'modes'].flatMap((kind) => agentFiles(join(each, kind))),
    ]
    return [
      join(own, 'config.json'),
      ...configs(own),
      ...(given ? [given] : []),
      ...folders.flatMap(configs),
      ...(name === 'kilo' ? dotted.map((inner) => join(places.folder, inner, 'mcp.json')) : []),
      ...inFolder(own),
      ...[...folders, places.home].flatMap((each) => dotted.flatMap((inner) => inFolder(join(each, inner)))),
      ...(folder ? inFolder(folder) : []),
      ...configs(systemFolder(places, name, name, `C:\\ProgramData\\${name}`)),
    ]
  }
}

export const RULE_READERS = {
  'claude-code': claudeCode,
  codex,
  'copilot-cli': copilotCli,
  gemini,
  opencode: opencodeLike(opencodeFiles('opencode')),
  kilo: opencodeLike(opencodeFiles('kilo')),
  qwen,
} satisfies Partial<Record<ClientName, RuleReader>>
