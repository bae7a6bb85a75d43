/** Reads the permission rules of a client, in every file that the client reads. Each bridge runs this at its start. */
import { setTimeout } from 'node:timers/promises'
import { type ClientRules, LONGEST_RULE } from '@toolwell/gateway/bridge'
import { describeReadError, MOST_BYTES_OF_DATA, readSmallFile } from '@toolwell/mcp/internal/files'
import { type ClientName, LABELS } from './clients.js'
import type { FoundRule } from './found-rule.js'
import { RULE_READERS, type RuleReader } from './rule-readers.js'
import {
  AGENT_RULES,
  allFoldersUp,
  findMainCheckout,
  isDeepYaml,
  isFields,
  isProjectFile,
  type RulePlaces,
  type Source,
  WrongKey,
} from './rule-source.js'
import type { Fields } from './shapes.js'

export interface Permissions extends Omit<ClientRules, 'own'> {
  /** Each rule once, as the user wrote it. */
  readonly found: readonly FoundRule[]
}

/** The rules are unknown, so the client must not be served. The message says which file to fix. */
export class RulesProblem extends Error {}

/** Undefined if Toolwell does not read the rules of this client. Throws `RulesProblem`. */
export async function readPermissions(client: string, places: RulePlaces): Promise<Permissions | undefined> {
  if (!Object.hasOwn(RULE_READERS, client)) return undefined
  const reader: RuleReader = RULE_READERS[client as keyof typeof RULE_READERS]
  const label = LABELS[client as ClientName]
  try {
    const { insert } = reader
    const read = async (files: readonly string[]) =>
      (await readSources(files, places)).map(
        (source): Source =>
          insert ? { ...source, insert: (text) => insert(text, places.env, source.file) } : source,
      )
    const sources = await read(reader.files(places))
    if (client === 'opencode' || client === 'kilo') sources.push(...(await readVariables(client, places.env)))
    if (reader.more) sources.push(...(await read(reader.more(sources, places))))
    const layers = reader
      .read(sources, places)
      .filter((layer) => layer.length > 0)
      .map(removeRepeated)
    const shown = new Map(
      layers.flat().map((each) => [JSON.stringify([each.action, each.text, each.file]), each] as const),
    )
    return {
      prefix: reader.prefix,
      separator: reader.separator,
      layers: [
        ...new Map(layers.map((layer) => [JSON.stringify(layer), layer.map(({ rule }) => rule)])).values(),
      ],
      found: [...shown.values()].filter(({ text }) => text !== ''),
    }
  } catch (error) {
    if (!(error instanceof WrongKey)) throw error
    throw new RulesProblem(
      `${error.file}: ${error.message}. ${label} keeps permission rules there. Toolwell cannot read which tools they deny, so it offers none. Fix the file, then restart ${label}.`,
    )
  }
}

/** Keeps the last of equal rules, because the last match counts. Throws `WrongKey` for a rule that no tool can match. */
function removeRepeated(layer: readonly FoundRule[]): FoundRule[] {
  const rules = new Map<string, FoundRule>()
  for (const each of layer) {
    if (each.rule.some((part = '') => part.length > LONGEST_RULE))
      throw new WrongKey(each.file, `a rule is longer than ${LONGEST_RULE} characters`)
    const key = JSON.stringify(each.rule)
    rules.delete(key)
    rules.set(key, each)
  }
  return [...rules.values()]
}

/**
 * Reads `--own NOW=BEFORE=PROGRAM,…`, URL-encoded: the servers of the client, by their names in toolwell.json. Throws
 * `RulesProblem`.
 */
export function readOwn(text: string): ClientRules['own'] {
  try {
    return parseOwn(text)
  } catch {
    throw new RulesProblem(
      `The value of --own is not URL-encoded: ${JSON.stringify(text.slice(0, 200))}. Write the entry for Toolwell again with: toolwell connect`,
    )
  }
}

function parseOwn(text: string): ClientRules['own'] {
  const servers = text.split(',').map((each) => each.split('='))
  return Object.fromEntries(
    servers.map(([now = '', before = '', program = '']) => [
      decodeURIComponent(now),
      { name: decodeURIComponent(before || now), program: program.split('.').filter((word) => word !== '') },
    ]),
  )
}

/** Skips missing files. Throws `WrongKey` if a file cannot be read. */
export async function readSources(files: readonly string[], places: RulePlaces): Promise<Source[]> {
  const sources: Source[] = []
  const whole = { left: MOST_OF_PROJECT }
  const folders = [...allFoldersUp(places.folder), ...findMainCheckout(places.folder)]
  for (const file of new Set(files)) {
    const budget = isProjectFile(file, places, folders) ? whole : undefined
    const value = await readValue(file, budget).catch(async () => {
      // The client may be writing the file.
      await setTimeout(WRITING)
      return readValue(file, budget)
    })
    if (value) sources.push({ file, value })
  }
  return sources
}

/** Variables count after all files. */
async function readVariables(client: 'opencode' | 'kilo', env: RulePlaces['env']): Promise<Source[]> {
  const content = `${client.toUpperCase()}_CONFIG_CONTENT`
  const permission = `${client.toUpperCase()}_PERMISSION`
  const rules = env[permission]
  return [
    { file: content, value: await parse(env[content] ?? '', content) },
    { file: permission, value: rules ? await parse(`{"permission":${rules}}`, permission) : {} },
  ]
}

/** Milliseconds after which a file that cannot be read is read again. */
const WRITING = 200

/** Bytes. A project of a stranger may link to one large file many times. */
const MOST_OF_PROJECT = 8 * 1024 * 1024
/** A small file takes as much time as this many bytes. */
const SMALLEST = 4096

interface Budget {
  left: number
}

async function readValue(file: string, budget: Budget | undefined): Promise<Fields | undefined> {
  const text = readText(file, budget)
  return text === undefined ? undefined : parse(text, file, budget)
}

/** `budget`: of the project, undefined for other files. Undefined if there is no such file. */
function readText(file: string, budget: Budget | undefined): string | undefined {
  let bytes: Buffer
  try {
    bytes = readSmallFile(file, budget ? undefined : MOST_BYTES_OF_DATA)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw new WrongKey(file, describeReadError(error).reason)
  }
  spend(budget, Math.max(bytes.length, SMALLEST), file)
  return bytes.toString('utf8')
}

function spend(budget: Budget | undefined, bytes: number, file: string): void {
  if (!budget) return
  budget.left -= bytes
  if (budget.left < 0)
    throw new WrongKey(file, 'the files with rules in this project are larger than 8 MB together')
}

/** Loads a parser only if one is needed. */
async function parse(given: string, file: string, budget?: Budget): Promise<Fields> {
  const text = given.replace(/^\uFEFF/, '')
  if (text.trim() === '') return {}
  if (file.endsWith('.md')) return parseMarkdown(text, file, budget)
  const isToml = file.endsWith('.toml')
  try {
    const value: unknown = isToml
      ? (await import('smol-toml')).parse(text, { integersAsBigInt: 'asNeeded' })
      : await parseJson(text)
    if (isFields(value)) return value
  } catch {
    // The error below says it, without the line, which may contain a secret.
  }
  throw new WrongKey(file, `this is not a valid ${isToml ? 'TOML file' : 'JSON object'}`)
}

/**
 * The keys of an agent or skill that deny tools, and its hooks, in the lines before its prompt. Other keys are often no valid
 * YAML.
 */
async function parseMarkdown(text: string, file: string, budget: Budget | undefined): Promise<Fields> {
  // Clients accept blanks or a language after the dashes, and some a head without an end.
  const [, head = ''] = /^---[^\n]*([\s\S]*?)(?:\n---|$)/.exec(text.replaceAll('\r\n', '\n')) ?? []
  const [, indent = ''] = /\n([ \t]*)\S/.exec(head) ?? []
  const blocks = head.replaceAll(`\n${indent}`, '\n').split(/\n(?=["']?[\w-]+["']?[ \t]*:)/)
  const [names = ''] = blocks.flatMap(
    (block) => /^["']?disallowed(?:T|-t)ools["']?[ \t]*:([\s\S]*)/.exec(block)?.[1] ?? [],
  )
  // Arguments in parentheses are of other tools.
  const disallowedTools = names.replace(/\([^()]*\)/g, '').match(/[^\s,[\]"']+/g) ?? []
  const read = async (key: RegExp, isNeeded: RegExp): Promise<Fields | undefined> => {
    const yaml = blocks.filter((block) => key.test(block)).join('\n')
    if (!isNeeded.test(yaml)) return {}
    spend(budget, yaml.length * YAML_COST, file)
    return parseYaml(yaml)
  }
  // Other words may be in an alias.
  const rules = await read(
    /^["']?(?:permission|tools)["']?[ \t]*:(?!\s*-)/,
    /\b(?:deny|ask|false)\b|:\s+\*\w/i,
  )
  // The client itself ignores other hooks.
  const hooks = await read(/^["']?hooks["']?[ \t]*:/, /matcher/)
  return { ...hooks, [AGENT_RULES]: rules ?? null, disallowedTools }
}

/** Bytes of another file whose reading takes as much time. */
const YAML_COST = 16

/** Undefined if it is not a valid object. */
async function parseYaml(text: string): Promise<Fields | undefined> {
  if (isDeepYaml(text)) return undefined
  try {
    // The check for equal keys takes quadratic time.
    const value: unknown = (await import('yaml')).parse(text, { uniqueKeys: false })
    return isFields(value) ? value : undefined
  } catch {
    return undefined
  }
}

async function parseJson(text: string): Promise<unknown> {
  try {
    return JSON.parse(text)
  } catch {
    const { parse: parseWithComments } = await import('jsonc-parser')
    const errors: import('jsonc-parser').ParseError[] = []
    const value: unknown = parseWithComments(text, errors, { allowTrailingComma: true })
    if (errors.length > 0) throw new SyntaxError()
    return value
  }
}
