/**
 * A definition in which a server does not name the folder that it runs in, but `${workspaceFolder}`: what is compared, remembered,
 * pinned and cached is the same in every project. Whoever reads it gets the folder of its own, also where the server wrote the
 * variable itself: what a model reads is made of what was let through and of that folder, and of nothing else.
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
  // Nearly always: no folder is named, and nothing is copied.
  if (!names(listed, [...forms, VARIABLE])) return listed
  const replace = replacer(forms.map((form) => (holdsHome(form) ? itself(form) : escaped(form))))
  // Names of tools are what is called, and stay.
  const tools = listed.tools.map((tool): McpTool => ({ ...mapped(tool, replace), name: tool.name }))
  return markFolderUse({ ...mapped({ ...listed, tools: [] }, replace), tools })
}

/** With a note of whether it names the folder, so that nobody has to look for it later. */
export function markFolderUse({ namesFolder: _, ...definition }: ServerDefinition): ServerDefinition {
  return names(definition, [VARIABLE]) ? { ...definition, namesFolder: true } : definition
}

/**
 * What is listed `now` in one folder, in the words of what was listed `before` in another, where it is the same but for these two:
 * a path below one of them may have been taken for the project's, and be the server's own. Undefined where it is something else.
 */
export function matchPrevious<T>(now: T, folder: string, before: unknown, first: string): T | undefined {
  const forms = [folder, first].flatMap(formsOf)
  if (!names([now, before], [...forms, VARIABLE])) return undefined
  const replace = replacer(forms.map(escaped))
  const whole = [insertFolder<unknown>(now, folder), insertFolder(before, first)]
  const [one, other] = whole.map((each) => fingerprint(mapped(each, replace)))
  return one === other ? (inWordsOf(now, before) as T) : undefined
}

/** The same with a folder in its place: for whoever works there. */
export function insertFolder<T>(value: T, folder: string): T {
  return mapped(value, (text) => text.replaceAll(VARIABLE, () => folder))
}

/** The definition for whoever works in a folder: its tools are only read where they name one. */
export function insertFolderInDefinition(definition: ServerDefinition, folder: string): ServerDefinition {
  return definition.namesFolder ? insertFolder(definition, folder) : definition
}

/** What somebody who works in a folder has written, as definitions name it. Undefined where that could not be turned back. */
export function replaceFolder<T>(value: T, folder: string): T | undefined {
  return names(value, [VARIABLE]) ? undefined : mapped(value, replacer([escaped(folder)]))
}

function names(value: unknown, forms: readonly string[]): boolean {
  const text = JSON.stringify(value) ?? ''
  return forms.some((form) => text.includes(JSON.stringify(form).slice(1, -1)))
}

/** Every string of it, however deep; the keys stay. */
function mapped<T>(value: T, replace: (text: string) => string): T {
  const map = (part: unknown): unknown => {
    if (typeof part === 'string') return replace(part)
    if (Array.isArray(part)) return part.map(map)
    if (!isRecord(part)) return part
    return Object.fromEntries(Object.entries(part).map(([key, each]) => [key, map(each)]))
  }
  return map(value) as T
}

/** In the order of `now`: it has the same members. */
function inWordsOf(now: unknown, before: unknown): unknown {
  if (Array.isArray(now) && Array.isArray(before)) return now.map((each, at) => inWordsOf(each, before[at]))
  if (!isRecord(now) || !isRecord(before)) return before
  return Object.fromEntries(Object.entries(now).map(([key, each]) => [key, inWordsOf(each, before[key])]))
}

/** Whole names in a path: not with `/mnt` before them, `-old` or `.bak` behind. A full stop ends a sentence. */
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

/** And nothing below it. */
const itself = (form: string) => `${escaped(form)}(?![\\\\/][^\\s])`

/** What is below the user's own folder belongs to the user, not to a project. */
function holdsHome(folder: string): boolean {
  return !relative(folder, homedir()).startsWith('..')
}

/** As given and as it really is, in the ways that paths and addresses are written. A root is no project: everything is below it. */
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

// A definition in which a server repeats none of its secrets: neither a model nor a file is told them.

/** Names of tools and keys are what is called, and stay; a tool that has a secret there is left out. */
export function removeSecrets(listed: ServerDefinition, redactor: DefinitionRedactor): ServerDefinition {
  const text = JSON.stringify(listed)
  // Nearly always: nothing is repeated, and nothing is copied.
  if (redactor.hide(text) === text) return listed
  const isLeftOut = (tool: McpTool) => redactor.holdsSecret(tool.name) || hasKey(tool, redactor.holdsSecret)
  const leftOut = new Set(listed.tools.filter(isLeftOut))
  const names = new Set(listed.tools.flatMap((tool) => (leftOut.has(tool) ? [] : [tool.name])))
  const hide = (told: string) => redactor.hide(told, names)
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
    if (leftOut.has(tool))
      unusable.push({
        entry: index + 1,
        // Not in part either: what is around a secret may belong to it.
        name: redactor.holdsSecret(tool.name) ? HIDDEN : hide(tool.name),
        reason: 'has a value of its config in a name, and is left out',
      })
    else tools.push({ ...(clean(tool) as McpTool), name: tool.name })
  return { ...(clean({ ...listed, tools: [] }) as ServerDefinition), tools, unusable }
}

function hasKey(value: unknown, isTold: (key: string) => boolean): boolean {
  if (Array.isArray(value)) return value.some((each) => hasKey(each, isTold))
  return isRecord(value) && Object.entries(value).some(([key, each]) => isTold(key) || hasKey(each, isTold))
}

/** Every string of a value without secrets, however deep. */
export function hideInValue(value: unknown, hide: (text: string) => string): unknown {
  if (typeof value === 'string') return hide(value)
  if (Array.isArray(value)) return value.map((each) => hideInValue(each, hide))
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, hideInValue(each, hide)]))
}
