/** Answers of calls as blocks of the Anthropic API. */
import type { MediaPart } from '../../result/part.js'
import { isTaken } from '../../result/taken.js'
import type { SurfaceView } from '../../surface/project.js'
import type { Prompts } from '../../surface/prompts.js'
import type { WireTool } from '../../tool/wire-tool.js'
import { listRevealed } from '../../turn/load-found-tools.js'
import type { CallAnswer } from '../../turn/run.js'
import { writeParts } from '../shared/result-parts.js'
import {
  type AnthropicMediaBlock,
  type AnthropicMessage,
  type AnthropicToolResult,
  reference,
  textBlock,
  WIRE,
} from './types.js'

const FAILED = ['error', 'timed-out', 'already-started', 'not-recorded']

export function writeAnswers(
  answers: readonly CallAnswer[],
  view: SurfaceView,
  prompts: Prompts,
): AnthropicMessage[] {
  if (answers.length === 0) return []
  const results = answers.map((answer) => resultOf(answer, view, prompts))
  // The API takes no text beside references: what else a search has to say follows all results.
  const rest = answers.flatMap((answer) =>
    referred(answer, view).length > 0 && answer.text !== ''
      ? [textBlock(prompts.frame({ body: answer.text }))]
      : [],
  )
  return [{ role: 'user', content: [...results, ...rest] }]
}

/** The tools that an answer refers to instead of describing them. */
function referred({ outcome }: CallAnswer, view: SurfaceView): readonly WireTool[] {
  return view.delivery === 'native' && outcome.kind === 'search' ? listRevealed(outcome.result) : []
}

function resultOf(answer: CallAnswer, view: SurfaceView, prompts: Prompts): AnthropicToolResult {
  const { callId, text, outcome, parts } = answer
  const tools = referred(answer, view)
  const failed = FAILED.includes(outcome.kind)
  return {
    type: 'tool_result',
    tool_use_id: callId,
    content:
      tools.length > 0 ? tools.map(({ name }) => reference(name)) : contentOf(text, parts, failed, prompts),
    ...(failed ? { is_error: true } : {}),
  }
}

/** The API takes nothing but text in an error. */
export function contentOf(
  text: string,
  parts: CallAnswer['parts'],
  failed: boolean,
  prompts: Prompts,
): AnthropicToolResult['content'] {
  if (!parts || failed) return text
  const made = writeParts(parts, mediaBlock, prompts)
  if (made.every((each) => typeof each === 'string')) return made.join('\n')
  return made.map((each) => (typeof each === 'string' ? textBlock(each) : each))
}

function mediaBlock(part: MediaPart): AnthropicMediaBlock | undefined {
  if (!isTaken(WIRE, part)) return undefined
  const { type, mediaType, data, name } = part
  if (type === 'image') return { type, source: { type: 'base64', media_type: mediaType as never, data } }
  const source = { type: 'base64', media_type: 'application/pdf', data } as const
  return { type: 'document', source, ...(name === undefined ? {} : { title: name }) }
}
