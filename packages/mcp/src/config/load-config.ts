/** Reads config files, the weakest first, and returns the servers of a profile and all problems as data. */
import { homedir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { assertKnownKeys, invalid, isRecord, nearest } from '@toolwell/core/internal'
import type { RuleSettings } from '../trust/scan/rules.js'
import { checkEntry, createEntryProblem, type RawEntry } from './check-entry.js'
import type { ConfigProblem } from './document.js'
import { type ConfigDocument, createProblem, pathText, readDocument } from './document.js'
import {
  applyProfile,
  type HostTools,
  type Profile,
  readHostTools,
  readProfiles,
  readScanSettings,
} from './file-settings.js'
import {
  CONTAINER_KEYS,
  describeMisplacedServer,
  findMisplacedServers,
  findTables,
  looksLikeServer,
  readPath,
} from './find-servers.js'
import { FILE_KEYS, REACHED_KEYS } from './keys.js'
import { readEntry } from './read-entry.js'
import { describeReadError, readSmallFile } from './read-small-file.js'
import type { ServerConfig } from './server-config.js'
import { detectDialect, withCommonVariables } from './variables.js'

export interface Config {
  /** Sorted by name, without servers that have an error. */
  readonly servers: readonly ServerConfig[]
  readonly profiles: Readonly<Record<string, Profile>>
  /** Scan rules that the files switch off. */
  readonly scan: { readonly rules: RuleSettings }
  /** Settings for the own tools of the agent that reads the files. */
  readonly hostTools: HostTools
  readonly problems: readonly ConfigProblem[]
  /** The files that were read. */
  readonly files: readonly string[]
}

export interface ConfigFile {
  readonly path: string
  /** The file may be missing. */
  readonly optional?: boolean
  /** Content, if it does not come from the disk. */
  readonly text?: string
  /** Written by the user or the host, not by the author of a project: its references are run, read and sent without approval. */
  readonly own?: boolean
}

export interface LoadOptions {
  /** Weakest first: the user's file, then the project's. */
  readonly files: readonly (string | ConfigFile)[]
  readonly profile?: string
  /** Default: the environment of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Default: the current folder. */
  readonly workspaceFolder?: string
}

/** Default config files: the user's own, then the project's. Both are optional. */
export function defaultConfigFiles(
  workspaceFolder = process.cwd(),
  env: Readonly<Record<string, string | undefined>> = process.env,
): ConfigFile[] {
  const home = env.XDG_CONFIG_HOME || join(homedir(), '.config')
  return [
    { path: join(home, 'toolwell', 'toolwell.json'), optional: true },
    { path: join(workspaceFolder, 'toolwell.json'), optional: true },
  ]
}

/** Unknown keys are errors in files with this name. Files of other clients may contain other keys. */
const OWN_FILE = /^\.?toolwell\b.*\.jsonc?$/

/** One server, merged from all files. */
interface Entry {
  readonly raw: RawEntry
  readonly fields: Readonly<Record<string, unknown>>
  readonly refused: ReadonlySet<string>
  /** Not used, but kept: a broken entry must not let the entry of a weaker file take effect. */
  readonly isBroken: boolean
}

/** Never throws because of a file's content: valid entries are used, the rest is in `problems`. */
export function loadConfig(options: LoadOptions): Config {
  assertKnownKeys(options, ['files', 'profile', 'env', 'workspaceFolder'], 'loadConfig')
  if (!Array.isArray(options.files))
    throw invalid('files', `loadConfig needs files: a list of paths, not ${typeof options.files}.`)
  const scope = {
    env: options.env ?? process.env,
    workspaceFolder: resolve(options.workspaceFolder ?? process.cwd()),
  }
  const problems: ConfigProblem[] = []
  const files: string[] = []
  const entries = new Map<string, Entry>()
  const profiles: Record<string, Profile> = {}
  const rules: Record<string, 'off'> = {}
  const defer = new Set<string>()

  for (const given of options.files) {
    const file: ConfigFile = typeof given === 'string' ? { path: given } : given
    const path = resolve(scope.workspaceFolder, file.path)
    const document = open(path, file, problems)
    if (!document) continue
    files.push(path)
    problems.push(...document.problems)
    if (!document.value) continue
    const foreign = !OWN_FILE.test(basename(path))
    checkFileKeys(document, foreign, problems)
    const [own] = defaultConfigFiles(scope.workspaceFolder, scope.env)
    const isUsers = own !== undefined && resolve(own.path) === path
    const isOwn = file.own === true || isUsers
    const sharedFolder = isUsers ? homedir() : undefined
    for (const raw of entriesOf(
      document,
      scope.workspaceFolder,
      { foreign, isOwn, sharedFolder },
      problems,
    )) {
      const { fields, refused, problems: wrong } = checkEntry(raw)
      problems.push(...wrong)
      const below = entries.get(raw.name)
      const isPatch = ['command', 'url'].every((key) => fields[key] === undefined && !refused.has(key))
      const isBroken = wrong.some(({ severity }) => severity === 'error')
      if (below && isPatch)
        entries.set(raw.name, {
          raw: {
            ...below.raw,
            isOwn: below.raw.isOwn && (isOwn || !isReached(fields)),
            isPatched: below.raw.isPatched || isReached(fields),
          },
          fields: { ...below.fields, ...fields },
          refused: new Set([...below.refused, ...refused]),
          isBroken: isBroken || below.isBroken,
        })
      else {
        // Entries for one project are meant to replace the client's general entries.
        if (below && !below.isBroken && !isBroken && raw.path[0] !== 'projects')
          problems.push(
            createEntryProblem(
              raw,
              [],
              `this replaces the server of the same name in ${below.raw.document.file}`,
              'Rename one of the two to have both',
              'warning',
            ),
          )
        entries.set(raw.name, { raw, fields, refused, isBroken })
      }
    }
    Object.assign(profiles, readProfiles(document, problems))
    Object.assign(rules, readScanSettings(document, foreign, problems))
    for (const name of readHostTools(document, foreign, problems).defer) defer.add(name)
  }

  const servers: ServerConfig[] = []
  for (const { raw, fields, refused, isBroken } of entries.values()) {
    // Read broken entries, too, to report all their problems at once.
    const read = readEntry(raw, fields, scope, refused)
    const isOff = fields.enabled === false
    // A disabled server need not be able to start.
    if (!isOff) problems.push(...read.problems)
    const canStart = read.problems.every(({ severity }) => severity !== 'error')
    if (read.server && !isBroken && (isOff || canStart)) servers.push(read.server)
  }
  servers.sort((a, b) => (a.name < b.name ? -1 : 1))
  return {
    servers: applyProfile(servers, profiles, options.profile, files, problems),
    profiles,
    scan: { rules },
    hostTools: { defer: [...defer] },
    problems,
    files,
  }
}

const isReached = (fields: object) => Object.keys(fields).some((key) => REACHED_KEYS.has(key))

function open(path: string, file: ConfigFile, problems: ConfigProblem[]): ConfigDocument | undefined {
  if (file.text !== undefined) return readDocument(file.text, path)
  const [, format] = /\.(toml|ya?ml)$/.exec(path) ?? []
  if (format !== undefined) {
    const fix = `Import its servers with: toolwell import${format === 'toml' ? ' --from codex' : ''}`
    const message = `this is ${format === 'toml' ? 'TOML' : 'YAML'}`
    problems.push({ file: path, path: '', line: undefined, message, fix, severity: 'error' })
    return undefined
  }
  try {
    return readDocument(readSmallFile(path).toString('utf8'), path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && file.optional) return undefined
    const { reason: message, fix } = describeReadError(error)
    problems.push({ file: path, path: '', line: undefined, message, fix, severity: 'error' })
    return undefined
  }
}

function checkFileKeys(document: ConfigDocument, foreign: boolean, problems: ConfigProblem[]): void {
  const keys = Object.keys(document.value ?? {})
  for (const key of keys) {
    if ((FILE_KEYS as readonly string[]).includes(key)) continue
    const [suggestion] = nearest(key, FILE_KEYS, 1)
    if (foreign && CONTAINER_KEYS.includes(key)) continue
    // In files of other clients, warn only about likely typing errors.
    if (foreign && (suggestion === undefined || keys.includes(suggestion))) continue
    if (!foreign && looksLikeServer(document.value?.[key])) {
      problems.push(describeMisplacedServer(document, key))
      continue
    }
    problems.push({
      file: document.file,
      path: pathText([key]),
      line: document.lineOf([key]),
      message: `unknown key ${JSON.stringify(key)}`,
      fix:
        suggestion === undefined
          ? `Remove it. Known keys: ${FILE_KEYS.join(', ')}`
          : `Did you mean ${JSON.stringify(suggestion)}? Rename or remove it`,
      severity: foreign ? 'warning' : 'error',
    })
  }
}

function* entriesOf(
  document: ConfigDocument,
  workspaceFolder: string,
  {
    foreign,
    isOwn,
    sharedFolder,
  }: Pick<RawEntry, 'foreign' | 'isOwn'> & {
    readonly sharedFolder: string | undefined
  },
  problems: ConfigProblem[],
): Generator<RawEntry> {
  const { value: whole = {}, file } = document
  const dialect = foreign ? detectDialect(file) : 'common'
  for (const { path, folder } of findTables(whole, { file, workspaceFolder, foreign })) {
    const value = readPath(whole, path)
    if (value === undefined) continue
    if (!isRecord(value)) {
      problems.push(
        createProblem(
          document,
          path,
          `${path.at(-1)} must be an object`,
          'Write { "name": { "command": "…" } }',
        ),
      )
      continue
    }
    for (const name of Object.keys(value)) {
      const written = dialect === 'common' ? value[name] : withCommonVariables(value[name], dialect)
      const place = { document, path: [...path, name], folder, sharedFolder: sharedFolder ?? folder }
      const raw = { name, ...place, value: written, foreign, isOwn, isPatched: false }
      const wrong = nameProblem(name)
      if (wrong) problems.push(createEntryProblem(raw, [], wrong, 'Rename it', 'error'))
      else yield raw
    }
  }
  if (foreign) problems.push(...findMisplacedServers(document, workspaceFolder))
}

function nameProblem(name: string): string | undefined {
  if (name.trim() === '') return 'a server needs a name'
  if (name === 'toolwell') return 'the name "toolwell" is reserved for the search and load tools'
  if (name.length > 200) return 'the name of the server is longer than 200 characters'
  return undefined
}
