/**
 * Removes the folder and secrets from definitions. The folder becomes `${workspaceFolder}`, so that definitions are compared,
 * pinned and cached in the same form for every project. Readers get their own folder in its place, even if the server wrote the
 * variable itself.
 */

import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { parse, relative, resolve } from 'node:path'
import { isRecord } from '@toolwell/core/internal'
import type { DefinitionRedactor } from '../config/redact.js'
import { HIDDEN } from '../config/show-word.js'
import { fingerprint } from './fingerprint.js'
import type { McpTool, ServerDefinition, UnusableEntry } from './server-definition.js'

const VARIABLE = '${workspaceFolder}'

export function removeFolder(listed: ServerDefinition, folder: string): ServerDefinition {
  const forms = formsOf(folder)
  // Fast path: most definitions do not contain the folder.
  if (!names(listed, [...forms, VARIABLE])) return listed
  const replace = replacer(forms.map((form) => (holdsHome(form) ? itself(form) : escaped(form))))
  // Tool names are needed for calls and do not change.
  const tools = listed.tools.map((tool): McpTool => ({ ...mapped(tool, replace), name: tool.name }))
  return markFolderUse({ ...mapped({ ...listed, tools: [] }, replace), tools })
}

/** Sets `namesFolder`, so that nobody has to search for the variable later. */
export function markFolderUse({ namesFolder: _, ...definition }: ServerDefinition): ServerDefinition {
  return names(definition, [VARIABLE]) ? { ...definition, namesFolder: true } : definition
}

/**
 * If `now` (listed in `folder`) and `before` (listed in `first`) differ only in these folders, returns `now` with the texts of
 * `before`. A path below a folder may have been replaced by mistake. Undefined if there are other differences.
 */
export function matchPrevious<T>(now: T, folder: string, before: unknown, first: string): T | undefined {
  const forms = [folder, first].flatMap(formsOf)
  if (!names([now, before], [...forms, VARIABLE])) return undefined
  const replace = replacer(forms.map(escaped))
  const whole = [insertFolder<unknown>(now, folder), insertFolder(before, first)]
  const [one, other] = whole.map((each) => fingerprint(mapped(each, replace)))
  return one === other ? (inWordsOf(now, before) as T) : undefined
}

/** Replaces the variable by a folder. */
export function insertFolder<T>(value: T, folder: string): T {
  return mapped(value, (text) => text.replaceAll(VARIABLE, () => folder))
}

/** Replaces the variable by a folder. Reads the tools only if the definition contains the variable. */
export function insertFolderInDefinition(definition: ServerDefinition, folder: string): ServerDefinition {
  return definition.namesFolder ? insertFolder(definition, folder) : definition
}

/** Replaces a folder by the variable. Undefined if the value already contains the variable, so that this could not be undone. */
export function replaceFolder<T>(value: T, folder: string): T | undefined {
  return names(value, [VARIABLE]) ? undefined : mapped(value, replacer([escaped(folder)]))
}

function names(value: unknown, forms: readonly string[]): boolean {
  const text = JSON.stringify(value) ?? ''
  return forms.some((form) => text.includes(JSON.stringify(form).slice(1, -1)))
}

/** Replaces every string of a value, at any depth. Keys do not change. */
function mapped<T>(value: T, replace: (text: string) => string): T {
  const map = (part: unknown): unknown => {
    if (typeof part === 'string') return replace(part)
    if (Array.isArray(part)) return part.map(map)
    if (!isRecord(part)) return part
    return Object.fromEntries(Object.entries(part).map(([key, each]) => [key, map(each)]))
  }
  return map(value) as T
}

/** Takes the texts of `before` in the order of `now`, which has the same members. */
function inWordsOf(now: unknown, before: unknown): unknown {
  if (Array.isArray(now) && Array.isArray(before)) return now.map((each, at) => inWordsOf(each, before[at]))
  if (!isRecord(now) || !isRecord(before)) return before
  return Object.fromEntries(Object.entries(now).map(([key, each]) => [key, inWordsOf(each, before[key])]))
}

/** Matches whole path segments: not after `/mnt`, and not before `-old` or `.bak`. A full stop may follow. */
function replacer(patterns: readonly string[]): (text: string) => string {
  if (patterns.length === 0) return (text) => text
  const longest = [...new Set(patterns)].sort((a, b) => b.length - a.length)
  const pattern = new RegExp(
    `(?<![\\p{L}\\p{M}\\p{N}_.~@%+-])(?:${longest.join('|')})(?![\\p{L}\\p{M}\\p{N}_~@%+-]|\\.+[\\p{L}\\p{N}_-])`,
    'gu',
  )
  return (text) => text.replace(pattern, () => VARIABLE)
}

const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')

/** Matches the folder itself, but nothing below it. */
const itself = (form: string) => `${escaped(form)}(?![\\\\/][^\\s])`

/** Paths below the home folder belong to the user, not to a project. */
function holdsHome(folder: string): boolean {
  return !relative(folder, homedir()).startsWith('..')
}

/** The given path and the real path, also with slashes and URL-encoded. Root folders are skipped, because everything is below them. */
function formsOf(folder: string): string[] {
  if (folder === '') return []
  const given = resolve(folder)
  return [given, realOf(given)]
    .filter((each) => parse(each).root !== each)
    .flatMap((each) => [each, each.replaceAll('\\', '/'), encodeURI(each.replaceAll('\\', '/'))])
}

function realOf(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    return folder
  }
}

/** Hides secrets that a server repeats. Tool names and keys cannot change, so a tool with a secret in a name is skipped. */
export function removeSecrets(listed: ServerDefinition, redactor: DefinitionRedactor): ServerDefinition {
  const text = JSON.stringify(listed)
  // Fast path: most definitions contain no secret.
  if (redactor.hide(text) === text) return listed
  const isSkipped = (tool: McpTool) => redactor.holdsSecret(tool.name) || hasKey(tool, redactor.holdsSecret)
  const skipped = new Set(listed.tools.filter(isSkipped))
  const names = new Set(listed.tools.flatMap((tool) => (skipped.has(tool) ? [] : [tool.name])))
  const hide = (value: string) => redactor.hide(value, names)
  const clean = (value: unknown): unknown => {
    if (typeof value === 'string') return hide(value)
    if (Array.isArray(value)) return value.map(clean)
    if (!isRecord(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [redactor.holdsSecret(key) ? hide(key) : key, clean(each)]),
    )
  }
  const tools: McpTool[] = []
  const unusable: UnusableEntry[] = (listed.unusable ?? []).map((entry) => clean(entry) as UnusableEntry)
  for (const [index, tool] of listed.tools.entries())
    if (skipped.has(tool))
      unusable.push({
        entry: index + 1,
        // Hide the whole name: the text around a secret may belong to it.
        name: redactor.holdsSecret(tool.name) ? HIDDEN : hide(tool.name),
        reason: 'has a value of its config in a name, and is skipped',
      })
    else tools.push({ ...(clean(tool) as McpTool), name: tool.name })
  return { ...(clean({ ...listed, tools: [] }) as ServerDefinition), tools, unusable }
}

function hasKey(value: unknown, isSecret: (key: string) => boolean): boolean {
  if (Array.isArray(value)) return value.some((each) => hasKey(each, isSecret))
  return (
    isRecord(value) && Object.entries(value).some(([key, each]) => isSecret(key) || hasKey(each, isSecret))
  )
}

/** Hides secrets in every string of a value, at any depth. */
export function hideInValue(value: unknown, hide: (text: string) => string): unknown {
  if (typeof value === 'string') return hide(value)
  if (Array.isArray(value)) return value.map((each) => hideInValue(each, hide))
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, hideInValue(each, hide)]))
}
