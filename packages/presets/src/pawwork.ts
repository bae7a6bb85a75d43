/**
 * PawWork's surface on Toolwell: `tool_info { name }`, whose description lists the tools that can be loaded and shrinks with
 * every load; hints for hidden calls; loaded tools can be read from the host's own history.
 */
import {
  type ImportedStep,
  type Match,
  type Outcome,
  type Policy,
  type SearchResult,
  searchTools,
  type ToolwellOptions,
} from '@toolwell/core'
import { safeJson } from '@toolwell/core/internal'

export interface PawworkOptions {
  /** Exactly these are deferred, and the tools of servers are eager. Default: each tool's own `defer`, and Toolwell's rules. */
  readonly deferred?: readonly string[]
}

/**
 * `createToolwell({ ...pawwork(), tools })`. Options after the spread win. A group replaces the preset's whole group:
 * `surface: { ...pawwork().surface, cards: 'frozen' }`.
 */
export function pawwork({ deferred }: PawworkOptions = {}) {
  return {
    mode: 'on',
    delivery: 'append',
    surface: {
      cards: 'live',
      hiddenCalls: 'hint',
      prompts: {
        section: ({ loader, bridge, deferred, cards, strong }) =>
          deferred === 0
            ? ''
            : `# More tools\n${cards === '' ? `The description of ${loader} lists tools that are not loaded.` : 'The tools listed below are not loaded.'} Call ${loader} with the exact name of one, ${bridge === undefined ? 'then call it by its own name from your next message on' : `then call it with ${bridge}`}.${strong ? ' Do this before you answer that something is not possible.' : ''}${cards === '' ? '' : `\n\n${cards}`}`,
        cardsEmpty: () => 'No deferred tools can be loaded now.',
        searchEmpty: () => 'No name was given. Give the name of a tool from the list.',
        searchAlready: () => 'In your list of tools already; call directly:',
        frame: ({ body }) => `<system-reminder>\n${body}\n</system-reminder>`,
      },
    },
    search: { schemas: 'twice', tool: { ...searchTools.byName, render } },
    rules:
      deferred === undefined
        ? []
        : [{ tool: '*', defer: false }, ...deferred.map((tool) => ({ tool, defer: true }))],
  } satisfies ToolwellOptions
}

/** One block for each tool: its description, its schema as the next request declares it, and what to do now. */
function render({ matches }: SearchResult, { rest }: { readonly rest: string }): string {
  const blocks = matches.filter((match) => match.schemaPreview !== undefined).map(blockOf)
  return [...blocks, ...(rest === '' ? [] : [rest])].join('\n\n')
}

/** Quotes the text of tool owners, so that it cannot end the fence or the block. */
function blockOf({ canonicalName, description, schemaPreview }: Match): string {
  return [
    `<tool_info name="${canonicalName}">`,
    safeJson(description),
    '```json',
    safeJson(schemaPreview),
    '```',
    `Call ${canonicalName} directly from your next step on; it need not be loaded again.`,
    '</tool_info>',
  ].join('\n')
}

/** The fields of a stored message part that are read here. */
export interface PawworkPart {
  readonly type: string
  readonly tool?: string
  readonly callID?: string
  readonly state?: { readonly status?: string; readonly input?: Readonly<Record<string, unknown>> }
}

/**
 * The completed `tool_info` calls of a stored session, for `conversation.importSteps`. Pass the parts of the whole session, not
 * only those that a compaction kept.
 */
export function pawworkSteps(parts: Iterable<PawworkPart>): ImportedStep[] {
  const steps: ImportedStep[] = []
  for (const { type, tool, callID, state } of parts) {
    if (type !== 'tool' || tool !== searchTools.byName.name || state?.status !== 'completed') continue
    const name = state.input?.name
    if (typeof name === 'string')
      steps.push({
        anchor: callID === undefined ? '' : `call:${callID}`,
        loaded: [],
        unloaded: [],
        named: [name],
      })
  }
  return steps
}

/** The user's switches as a policy: `{ 'enter-worktree': false }`, or `{ '*': false, read: true }`. `*` does not switch off the search tool. */
export function pawworkUserTools(tools: Readonly<Record<string, boolean>>): Policy {
  const switches = new Map(Object.entries(tools))
  return ({ name, source }) => {
    const own = switches.get(name)
    if (own !== undefined || source === 'toolwell') return own ?? true
    return switches.get('*') ?? true
  }
}

/** Metadata to store with a `tool_info` result: the tools it loaded, and that it must not be truncated. Undefined for other results. */
export function pawworkMetadata(
  outcome: Outcome,
): { readonly activated: readonly string[]; readonly truncated: false } | undefined {
  if (outcome.kind !== 'search') return undefined
  const activated = outcome.result.matches.filter((match) => match.fresh).map((match) => match.canonicalName)
  return { activated, truncated: false }
}
