/** Decides which tools are eager and which are deferred, with the reason, and checks `eager` and `rules`. */

import { ToolwellError } from '../base/errors.js'
import { nearest } from '../base/nearest.js'
import { assertKnownKeys } from '../base/options.js'
import type { Tool } from '../tool/tool.js'
import type { Catalogue, Entry } from './catalogue.js'

/** One rule. All its conditions must match; `*` matches any characters. Later rules win. */
export interface ExposureRule {
  readonly tool?: string
  readonly source?: string
  /** The same as `source`. */
  readonly server?: string
  readonly group?: string
  readonly domain?: string
  readonly agent?: string
  readonly defer: boolean
}

export interface Exposure {
  readonly deferred: boolean
  /** The reason, in words. */
  readonly because: string
}

interface ExposureOptions {
  /** Names that are always sent. */
  readonly eager: readonly string[]
  readonly rules: readonly ExposureRule[]
  /** Tools that are deferred by default. */
  readonly defer: 'sources' | 'all'
  readonly agent?: string
}

const OWN_EAGER: Exposure = { deferred: false, because: "default: the host's tools are eager" }
const OWN_DEFERRED: Exposure = { deferred: true, because: "the option defer is 'all'" }

/** True if the option `defer: 'all'` would defer this tool. */
export function isEagerByDefault(exposure: Exposure): boolean {
  return exposure === OWN_EAGER
}

/** From weakest to strongest: default, the tool's `defer`, rules in order, `alwaysLoad`, the option `eager`, always-loaded tools. */
export function decideExposure(entry: Entry, options: ExposureOptions): Exposure {
  const { tool } = entry
  let exposure: Exposure =
    entry.source === ''
      ? options.defer === 'all'
        ? OWN_DEFERRED
        : OWN_EAGER
      : { deferred: true, because: `default: tools of a source (${entry.source}) are deferred` }
  if (tool.defer !== undefined)
    exposure = { deferred: tool.defer, because: `the tool is marked defer: ${tool.defer}` }
  options.rules.forEach((rule, index) => {
    if (matchesRule(rule, entry, options.agent))
      exposure = { deferred: rule.defer, because: `rules[${index}] ${JSON.stringify(rule)}` }
  })
  if (tool.alwaysLoad) exposure = { deferred: false, because: 'the tool is marked alwaysLoad' }
  if (options.eager.some((name) => name === tool.name || name === entry.id || name === entry.wireName))
    exposure = { deferred: false, because: 'it is in the option eager' }
  const reason = findAlwaysLoadedReason(tool)
  return reason ? { deferred: false, because: `always-loaded: ${reason}` } : exposure
}

function findAlwaysLoadedReason({ role, dynamicDescription, forwards, callers }: Tool): string | undefined {
  if (role) return `models stop using a ${role} tool that they do not see`
  if (dynamicDescription) return 'its description changes while the program runs, and a card would freeze it'
  if (callers && !callers.includes('direct'))
    return 'only code calls it, and a search would offer it to the model'
  if (forwards) return 'its calls are forwarded to other tools, so a call can never load it'
  return undefined
}

export function checkRules(rules: readonly ExposureRule[]): void {
  if (!Array.isArray(rules))
    throw new ToolwellError('invalid-option', 'rules must be a list of rules.', { path: 'rules' })
  rules.forEach((rule, index) => {
    if (typeof rule !== 'object' || rule === null)
      throw new ToolwellError(
        'invalid-option',
        `rules[${index}] must be an object such as { source: "github", defer: true }.`,
        { path: `rules[${index}]` },
      )
    assertKnownKeys(
      rule,
      ['tool', 'source', 'server', 'group', 'domain', 'agent', 'defer'],
      `rules[${index}]`,
    )
    if (typeof rule.defer !== 'boolean')
      throw new ToolwellError('invalid-option', `rules[${index}].defer must be true or false.`, {
        path: `rules[${index}].defer`,
      })
  })
}

/** Throws if the tool is always-loaded and its `defer` or a rule defers it by name. Patterns that match it are allowed. */
export function assertAlwaysLoaded(
  tool: Tool,
  rules: readonly ExposureRule[],
  names: () => readonly [id: string, wireName: string],
): void {
  const reason = findAlwaysLoadedReason(tool)
  if (!reason) return
  const [id, wireName] = names()
  const named = rules.some(
    (rule) => rule.defer && rule.tool !== undefined && [tool.name, id, wireName].includes(rule.tool),
  )
  if (tool.defer !== true && !named) return
  throw new ToolwellError(
    'always-loaded',
    `${id} cannot be deferred: ${reason}. Remove "defer" from the tool, or the rule that names it.`,
    { tool: id, role: tool.role ?? (tool.forwards ? 'forwards' : 'dynamic-description') },
  )
}

function matchesRule(rule: ExposureRule, entry: Entry, agent: string | undefined): boolean {
  const { tool } = entry
  return (
    fits(rule.tool, tool.name, entry.id, entry.wireName) &&
    fits(rule.source, entry.source) &&
    fits(rule.server, entry.source) &&
    fits(rule.group, tool.group ?? '') &&
    fits(rule.domain, tool.domain ?? '') &&
    fits(rule.agent, agent ?? '')
  )
}

function fits(pattern: string | undefined, ...names: string[]): boolean {
  if (pattern === undefined) return true
  return names.some((name) => matchesGlob(pattern, name))
}

/** `*` matches any characters; everything else is literal. Linear in the length of the name. */
export function matchesGlob(pattern: string, name: string): boolean {
  const [head = '', ...parts] = pattern.split('*')
  if (parts.length === 0) return pattern === name
  if (!name.startsWith(head)) return false
  const last = parts.pop() ?? ''
  let at = head.length
  for (const part of parts) {
    const found = name.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return name.length - last.length >= at && name.endsWith(last)
}

/** A name in `eager` or a rule that matches no tool. Such mistakes would otherwise show only as higher costs. */
export interface Unmatched {
  readonly option: string
  readonly detail: string
}

export function findUnmatchedNames(
  catalogue: Catalogue,
  { eager, rules }: Pick<ExposureOptions, 'eager' | 'rules'>,
): Unmatched[] {
  const entries = [...catalogue.entries()]
  const names = entries.flatMap(({ wireName, tool }) => [wireName, tool.name])
  const known = new Set([...names, ...entries.map(({ id }) => id)])
  const missing = eager.filter((name) => !known.has(name))
  return [
    ...missing.map((name) => ({
      option: 'eager',
      detail: `no tool is named ${JSON.stringify(name)}${suggestName(name, names)}`,
    })),
    ...rules.flatMap((rule, index) => {
      // The agent is known only in a conversation: assume the rule's own.
      if (entries.some((entry) => matchesRule(rule, entry, rule.agent))) return []
      const { tool, source, server } = rule
      const asked = tool ?? source ?? server ?? ''
      const near = suggestName(asked, tool === undefined ? catalogue.sources.keys() : names)
      const detail = `it matches no tool (${JSON.stringify(rule)})${near}`
      return [{ option: `rules[${index}]`, detail }]
    }),
  ]
}

function suggestName(asked: string, known: Iterable<string>): string {
  const [name] = nearest(asked, known, 1)
  return name === undefined ? '' : `; did you mean ${JSON.stringify(name)}?`
}

export interface NameCheck {
  /** Empty until the check has run. */
  readonly unmatched: readonly Unmatched[]
  check(): Promise<void>
}

/** Runs the check once, as soon as no source is connecting. */
export function createNameCheck(
  catalogue: Catalogue,
  options: ExposureOptions,
  report: (found: Unmatched) => void,
): NameCheck {
  const found: Unmatched[] = []
  let isDone = options.eager.length + options.rules.length === 0
  return {
    unmatched: found,
    async check() {
      if (isDone || [...catalogue.sources.values()].some(({ state }) => state === 'connecting')) return
      isDone = true
      found.push(...findUnmatchedNames(catalogue, options))
      for (const each of found) report(each)
    },
  }
}
