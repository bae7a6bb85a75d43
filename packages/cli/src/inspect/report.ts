/** Prints an inspection as text or JSON, and checks it against `--max-tokens`. Control characters in texts of servers are removed. */
import { dropUndefined, firstLine } from '@toolwell/core/internal'
import { describeWarning } from '@toolwell/mcp/internal'
import { isOfferName } from '@toolwell/mcp/lock'
import { count, plural, table } from '../shared/layout.js'
import type { ToolCost } from '../shared/servers/cost.js'
import { unusableLine } from '../shared/servers/server-facts.js'
import type { Paint } from '../shared/terminal.js'
import type { ExitCode } from '../shared/verb.js'
import type { Inspected, ServerView, ToolView } from './collect.js'

const LARGEST = 8
const FINDINGS = 20
const BAR = 30

export function inspectText(
  { servers, tools, tokens, surface, deferred, tokenizer }: Inspected,
  paint: Paint,
): string {
  const bold = (text: string) => paint(text, 'bold')
  const lines = [
    bold(
      `${plural(servers.length, 'server')}, ${plural(tools.length, 'tool')}${excludedCounts(servers, tools)}`,
    ) + paint(`  tokens: ${tokenizer}`, 'dim'),
    '',
    ...serverTable(servers, tools.length, tokens, (text) => paint(text, 'dim')),
    ...remarksOn(servers, paint),
    '',
    bold('Tokens of one request'),
    ...bars(
      [
        ['every definition', tokens.full, ''],
        ['only cards', tokens.card, ''],
        ['only names', tokens.name, ''],
        [
          `Toolwell, deferring (${deferred.delivery})`,
          deferred.tokens,
          `search tool ${count(deferred.parts.metaTools)}, list of tools ${count(deferred.parts.cards)}, prompt ${count(deferred.parts.section)}${deferred.parts.eager > 0 ? `, always sent ${count(deferred.parts.eager)}` : ''}`,
        ],
        [
          'Toolwell, mode "auto"',
          surface.tokens,
          surface.mode === 'on' ? 'defers tools' : 'sends every tool: deferring would not pay yet',
        ],
      ],
      paint,
    ),
    ...(surface.because === '' ? [] : [paint(`  ${surface.because}`, 'dim')]),
  ]
  const largest = tools.slice(0, LARGEST)
  if (largest.length > 0) lines.push('', bold('Largest tools'), ...bars(largest.map(toolBar), paint))
  return `${lines.join('\n')}\n${findingsText(servers, paint)}`
}

/** Numbers of quarantined and unusable tools. */
function excludedCounts(servers: readonly ServerView[], tools: readonly ToolView[]): string {
  const quarantined = tools.filter(({ isQuarantined }) => isQuarantined).length
  const unusable = servers.reduce((sum, server) => sum + server.unusable.length, 0)
  return [
    quarantined > 0 ? `, ${count(quarantined)} of them quarantined` : '',
    unusable > 0 ? `, and ${count(unusable)} unusable` : '',
  ].join('')
}

function toolBar({ server, name, tokens, isQuarantined }: ToolView): [string, number, string] {
  return [firstLine(`${server}/${name}`, 50), tokens.full, isQuarantined ? 'quarantined' : '']
}

const TRUST = { lock: 'locked', 'first-use': 'first use', config: 'full', nothing: '-' } as const

/** `locked`: the lock allows the whole server. */
function trustOf({ trusted, state, tools, quarantined }: ServerView): string {
  if (!trusted) return '-'
  if (trusted !== 'lock' || (state !== 'quarantined' && quarantined.size === 0)) return TRUST[trusted]
  const blocked = [...quarantined.keys()].filter((name) => !isOfferName(name)).length
  return state === 'quarantined' || blocked >= tools ? 'blocked by lock' : 'partly locked'
}

function serverTable(
  servers: readonly ServerView[],
  tools: number,
  total: Inspected['tokens'],
  title: (text: string) => string,
): string[] {
  const right = { align: 'right' } as const
  return table(
    [
      { title: 'server' },
      { title: 'state' },
      { title: 'trust' },
      { title: 'tools', ...right },
      { title: 'quarantined', ...right },
      { title: 'findings', ...right },
      { title: 'definitions', ...right },
      { title: 'cards', ...right },
      { title: 'names', ...right },
    ],
    servers.map((server) => {
      const { name, state, tools: own, quarantined, findings, tokens } = server
      return [
        firstLine(name, 40),
        state,
        trustOf(server),
        count(own),
        countOrBlank(state === 'quarantined' ? own : quarantined.size),
        countOrBlank(findings.length),
        count(tokens.full),
        count(tokens.card),
        count(tokens.name),
      ]
    }),
    {
      last: ['all', '', '', count(tools), '', '', count(total.full), count(total.card), count(total.name)],
      title,
    },
  )
}

const countOrBlank = (number: number) => (number === 0 ? '' : count(number))

/** Lists reasons why a server, or a part of it, is unusable. */
function remarksOn(servers: readonly ServerView[], paint: Paint): string[] {
  const lines = servers.flatMap(({ name, reason, warnings, denied, unusable }) => {
    const called = firstLine(name, 40)
    return [
      ...(reason === '' ? [] : [`${paint(called, 'error')}: ${firstLine(reason, 400)}`]),
      ...warnings.map((warning) => `${called}: ${firstLine(describeWarning(warning), 400)}`),
      ...(denied.length > 0 ? [`${called}: ${plural(denied.length, 'tool')} excluded by the config`] : []),
      ...(unusable.length > 0
        ? [`${called}: ${plural(unusable.length, 'entry', 'entries')} of its list unusable`]
        : []),
    ]
  })
  return lines.length > 0 ? ['', ...lines] : []
}

function bars(rows: readonly (readonly [string, number, string])[], paint: Paint): string[] {
  const most = Math.max(1, ...rows.map(([, tokens]) => tokens))
  const width = Math.max(...rows.map(([label]) => [...label].length))
  const digits = Math.max(...rows.map(([, tokens]) => count(tokens).length))
  return rows.map(([label, tokens, note]) => {
    const length = tokens === 0 ? 0 : Math.max(1, Math.round((tokens / most) * BAR))
    const blank = ' '.repeat(width - [...label].length)
    const bar = paint('█'.repeat(length), 'name')
    return `  ${label}${blank}  ${count(tokens).padStart(digits)}  ${bar}${note === '' ? '' : `  ${paint(note, 'dim')}`}`
  })
}

function findingsText(servers: readonly ServerView[], paint: Paint): string {
  const lines: string[] = []
  const all = servers.flatMap(({ name, findings }) => findings.map((finding) => ({ name, ...finding })))
  all.sort((a, b) => (a.severity === b.severity ? 0 : a.severity === 'hard' ? -1 : 1))
  for (const { name, tool, severity, detail } of all.slice(0, FINDINGS)) {
    const place = firstLine(tool === undefined ? name : `${name}/${tool}`, 80)
    lines.push(
      `  ${paint(severity, severity === 'hard' ? 'error' : 'dim')}  ${place}  ${firstLine(detail, 400)}`,
    )
  }
  if (all.length > FINDINGS) lines.push(`  and ${all.length - FINDINGS} more: see them with --json`)
  const reasons = servers.flatMap(({ name, quarantined }) =>
    [...quarantined].map(
      ([tool, reason]) => `  ${firstLine(`${name}/${tool}`, 80)}: ${firstLine(reason, 400)}`,
    ),
  )
  const part = (title: string, content: readonly string[]) =>
    content.length === 0 ? '' : `\n${paint(title, 'bold')}\n${content.join('\n')}\n`
  const shown = reasons.slice(0, FINDINGS)
  if (reasons.length > shown.length)
    shown.push(`  and ${reasons.length - shown.length} more: see them with --json`)
  const broken = servers.flatMap(({ name, unusable }) =>
    unusable.map((each) => `  ${firstLine(name, 40)}: ${unusableLine(each)}`),
  )
  const listed = broken.slice(0, FINDINGS)
  if (broken.length > listed.length)
    listed.push(`  and ${broken.length - listed.length} more: see them with --json`)
  return part('Findings', lines) + part('Quarantined', shown) + part('Unusable', listed)
}

/** The docs list the keys: keys may be added, but never change their meaning. */
export function inspectJson(
  inspected: Inspected,
  { maxTokens, isWithin, failure }: Verdict & { readonly maxTokens: number | undefined },
): string {
  const { tokenizer, servers, tools, tokens, surface, deferred, problems, incomplete } = inspected
  const value = {
    tokenizer,
    tokens: { ...costs(tokens), surface: surface.tokens, deferred: deferred.tokens },
    surface,
    deferred,
    servers: servers.map(({ quarantined, listedAt, tokens: own, ...server }) => ({
      ...server,
      ...dropUndefined({ listedAt: listedAt === undefined ? undefined : new Date(listedAt).toISOString() }),
      quarantined: Object.fromEntries(quarantined),
      tokens: costs(own),
    })),
    tools: tools.map(({ tokens: own, ...tool }) => ({ ...tool, tokens: costs(own) })),
    problems,
    incomplete,
    ...(maxTokens === undefined ? {} : { maxTokens, isWithin }),
    ...failure,
  }
  return `${JSON.stringify(value, null, 2)}\n`
}

const costs = ({ full, card, name }: ToolCost) => ({ definitions: full, cards: card, names: name })

interface Verdict {
  readonly exit: ExitCode
  /** False if the number of tokens is incomplete. */
  readonly isWithin: boolean
  /** Set if no server is usable. */
  readonly failure: { readonly reason: string; readonly message: string; readonly fix: string } | undefined
  /** For standard error. */
  readonly lines: readonly string[]
}

/** Servers named in one line. */
const NAMED = 10

/** `name`: the words that start this command. */
export function judge(inspected: Inspected, maxTokens: number | undefined, name: string): Verdict {
  const { usable, incomplete, surface } = inspected
  const isAbove = maxTokens !== undefined && surface.tokens > maxTokens
  const isWithin = !isAbove && incomplete.length === 0
  if (usable === 0) {
    const all = inspected.servers.map((server) => server.name)
    const message = `No server is usable: ${listNames(all, inspected)}.`
    const fix = `The output has the reasons. To fix them, run: ${name} doctor`
    const failure = { reason: 'no-servers', message, fix }
    return { exit: 2, isWithin, failure, lines: [`${message} ${fix}`] }
  }
  if (maxTokens === undefined || isWithin) return { exit: 0, isWithin, failure: undefined, lines: [] }
  return {
    exit: 1,
    isWithin,
    failure: undefined,
    lines: [
      ...(isAbove ? [aboveLine(inspected, maxTokens)] : []),
      ...(incomplete.length > 0
        ? [
            `The number of tokens is incomplete: the tools of ${listNames(incomplete, inspected)} are unknown. Fix these servers, or disable them with "enabled": false.`,
          ]
        : []),
    ],
  }
}

function listNames(names: readonly string[], { servers }: Inspected): string {
  const states = new Map(servers.map(({ name, state }) => [name, state]))
  const shown = names.slice(0, NAMED).map((name) => `${firstLine(name, 40)} (${states.get(name)})`)
  return `${shown.join(', ')}${names.length > NAMED ? ` and ${names.length - NAMED} more` : ''}`
}

function aboveLine({ surface, tools, deferred }: Inspected, maxTokens: number): string {
  const { tokens, mode } = surface
  // Quarantined tools are not sent, so excluding them would save nothing.
  const largest = tools.find(({ isQuarantined }) => !isQuarantined)
  return `A request would carry ${count(tokens)} tokens of tools and prompt section (surface.tokens), ${count(tokens - maxTokens)} more than --max-tokens ${count(maxTokens)}. ${
    mode === 'off'
      ? `Every definition is sent. Exclude tools with "deny", starting with ${largest ? `${largest.server}/${largest.name} (${count(largest.tokens.full)})` : 'the largest'}, or defer tools with mode: "on" (${count(deferred.tokens)} tokens).`
      : 'Exclude tools with "deny", or name fewer tools in "alwaysLoad".'
  }`
}
