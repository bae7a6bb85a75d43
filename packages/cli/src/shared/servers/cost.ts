/** Measures tools in tokens: one tool, and the first request with all of them. */
import { createToolwell, type Entry, type Tokenizer, type Tool } from '@toolwell/core'
import { findPurposeLine, fitWire, safeJson, USUAL_WIRE } from '@toolwell/core/internal'

export interface ToolCost {
  /** Name, description and schema, as they are in a request. */
  readonly full: number
  readonly card: number
  readonly name: number
}

export interface SurfaceCost {
  readonly mode: 'off' | 'on'
  readonly delivery: string
  readonly because: string
  /** The tools array and the prompt section. */
  readonly tokens: number
  readonly parts: Readonly<Record<'eager' | 'cards' | 'metaTools' | 'section', number>>
}

export function measureTool({ wireName, tool }: Entry, tokenizer: Tokenizer): ToolCost {
  const { description = '', inputSchema, title, card } = tool
  const line = [card, description, title]
    .map((text) => findPurposeLine(text ?? '', 160))
    .find((text) => text !== '')
  const { tool: sent } = fitWire({ name: wireName, description, inputSchema }, USUAL_WIRE)
  return {
    full: tokenizer.count(JSON.stringify(sent)),
    card: tokenizer.count(`- ${wireName}: ${safeJson(line ?? '')}\n`),
    name: tokenizer.count(`${wireName}, `),
  }
}

export interface SurfaceSource {
  readonly name: string
  readonly description: string
  readonly tools: readonly Tool[]
  readonly quarantined: readonly string[]
}

/** Measures the first request of a conversation with these sources. */
export async function measureSurface(
  sources: readonly SurfaceSource[],
  mode: 'auto' | 'on',
  tokenizer: Tokenizer,
): Promise<SurfaceCost> {
  const parts = { eager: 0, cards: 0, metaTools: 0, section: 0 }
  const well = createToolwell({
    mode,
    costs: { tokenizer },
    onEvent(event) {
      if (event.kind === 'requested') Object.assign(parts, picked(event.tokens))
    },
  })
  for (const { name, ...source } of sources) well.catalogue.setSource(name, { ...source, state: 'ready' })
  const conversation = await well.open({ id: 'surface' })
  await conversation.begin({ requestId: 'first', anchor: 'start', wire: USUAL_WIRE })
  const { mode: chosen, delivery = 'eager', because = '' } = conversation.inspect()
  return {
    mode: chosen === 'on' ? 'on' : 'off',
    delivery,
    because,
    tokens: parts.eager + parts.cards + parts.metaTools + parts.section,
    parts,
  }
}

function picked({ eager, cards, metaTools, section }: SurfaceCost['parts']): SurfaceCost['parts'] {
  return { eager, cards, metaTools, section }
}
