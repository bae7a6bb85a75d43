/** A source as it is given to the catalogue, checked: a mistake there is told where it is made. */

import { ToolwellError } from '../base/errors.js'
import { toolId } from '../base/names.js'
import { nearest } from '../base/nearest.js'
import { assertKnownKeys, invalid } from '../base/options.js'
import { isPromise, noTools } from '../tool/foreign-form.js'
import type { SourceState } from '../tool/source.js'
import type { Tool } from '../tool/tool.js'
import type { SourceUpdate, StateDetails } from './source.js'

/** The source that policies see for the meta-tools; no other source can have its name. */
export const META = 'toolwell'

export function assertSource(name: string): void {
  if (name === META)
    throw new ToolwellError(
      'invalid-option',
      `A source cannot be named ${JSON.stringify(META)}: policies know the meta-tools by it. Rename the source.`,
      { path: 'source' },
    )
}

export function assertUpdate(name: string, update: SourceUpdate): void {
  assertSource(name)
  if (isPromise(update))
    throw invalid(
      'update',
      `setSource(${JSON.stringify(name)}) takes { tools: […] }, not a promise: await it.`,
    )
  assertKnownKeys(
    update,
    [
      'tools',
      'description',
      'state',
      'reason',
      'advice',
      'locked',
      'quarantined',
      'unusable',
      'kept',
      'tentative',
      'wake',
    ],
    `setSource(${JSON.stringify(name)})`,
  )
  if (!Array.isArray(update.tools))
    throw new ToolwellError(
      'invalid-option',
      `setSource(${JSON.stringify(name)}) needs tools: a list, empty where there are none, not ${noTools(update.tools)}`,
      { path: 'tools' },
    )
  assertState(update.state ?? 'ready')
}

function assertState(state: SourceState, details: StateDetails = {}): void {
  assertKnownKeys(details, ['advice', 'tentative', 'reason'], 'setState')
  const known = ['ready', 'connecting', 'failed', 'disabled', 'needs-login']
  if (!known.includes(state))
    throw new ToolwellError(
      'invalid-option',
      `A source's state is one of ${known.join(', ')}, not ${JSON.stringify(state)}.`,
      { path: 'state' },
    )
}

/** `known`: every source that was ever set. News of one that was removed meanwhile is late, and no mistake. */
export function assertNews(
  name: string,
  state: SourceState,
  details: StateDetails,
  known: readonly string[],
): void {
  assertState(state, details)
  if (known.includes(name)) return
  const [near] = nearest(name, known, 1)
  const help = near === undefined ? 'Set it with setSource first.' : `Did you mean ${JSON.stringify(near)}?`
  throw invalid('setState', `No source is named ${JSON.stringify(name)}. ${help}`)
}

export function assertDistinct(source: string, tools: readonly Tool[]): void {
  const seen = new Set<string>()
  for (const { name } of tools) {
    if (seen.has(name))
      throw new ToolwellError(
        'duplicate-tool',
        `Two tools are named ${JSON.stringify(name)}${source ? ` in source ${JSON.stringify(source)}` : ''}. Rename one, or give them different sources.`,
        { name, tools: [toolId(source, name)] },
      )
    seen.add(name)
  }
}
