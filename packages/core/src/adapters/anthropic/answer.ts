/** Answers of calls as blocks of the Anthropic API. */
import type { SurfaceView } from '../../surface/project.js'
import type { Prompts } from '../../surface/prompts.js'
import type { WireTool } from '../../tool/wire-tool.js'
import type { CallAnswer } from '../../turn/run.js'
import { revealed } from '../../turn/search-call/render.js'
import { type AnthropicMessage, type AnthropicToolResult, reference, textBlock } from './types.js'

const FAILED = ['error', 'timed-out', 'already-started', 'not-recorded']

export function writeAnswers(
  answers: readonly CallAnswer[],
  view: SurfaceView,
  prompts: Prompts,
): AnthropicMessage[] {
  if (answers.length === 0) return []
  const results = answers.map((answer) => resultOf(answer, view))
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
  return view.delivery === 'native' && outcome.kind === 'search' ? revealed(outcome.result) : []
}

function resultOf(answer: CallAnswer, view: SurfaceView): AnthropicToolResult {
  const { callId, text, outcome } = answer
  const tools = referred(answer, view)
  return {
    type: 'tool_result',
    tool_use_id: callId,
    content: tools.length > 0 ? tools.map(({ name }) => reference(name)) : text,
    ...(FAILED.includes(outcome.kind) ? { is_error: true } : {}),
  }
}
