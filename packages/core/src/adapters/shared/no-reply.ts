/** What is given in place of a reply, and what was meant: told at once. Loaded with the first reply. */

import { isRecord } from '../../base/data.js'
import { ToolwellError } from '../../base/errors.js'
import { invalid } from '../../base/options.js'
import { quote } from '../../base/text.js'
import { isPromise } from '../../tool/define-tool.js'
import { failureIn, isStream } from './no-stream.js'
import type { StreamedReply } from './streamed.js'

const ASSEMBLED =
  'await assemble(readEvents(response.body)), or await assemble(stream) with the stream of an SDK'

/** The roles of messages that no model wrote. */
const OTHERS = ['user', 'system', 'developer', 'tool', 'function']

/** The reply in what `run` was given. Throws at what is surely none. Anything else is for the wire to judge. */
export function replyIn<Reply>(given: Reply | StreamedReply<Reply, unknown>): Reply {
  if (isStreamed(given)) {
    if (!given.complete) throw brokenOff(given.error)
    return given.reply
  }
  assertReply(given)
  return given
}

export function isStreamed(reply: unknown): reply is StreamedReply<unknown, unknown> {
  return isRecord(reply) && 'rawUsage' in reply && 'complete' in reply && 'reply' in reply
}

/** What came in place of a stream says so itself. What broke in the middle can be tried again. */
function brokenOff(error: unknown): ToolwellError {
  if (ToolwellError.is(error)) return invalid('reply', `There is no reply to run. ${error.message}`)
  const why = typeof error === 'string' ? error : failureIn({ error })
  return invalid(
    'reply',
    `This stream broke off${why ? ` (${quote(why, 300)})` : ''}, so its calls may not be whole, and nothing was run. Begin again with the same history.`,
  )
}

function assertReply(reply: unknown): void {
  if (!isRecord(reply)) return
  if (isPromise(reply))
    throw invalid('reply', 'This is a promise of a reply. Give run what it resolves to: await it first.')
  if (typeof reply.json === 'function' && typeof reply.status === 'number')
    throw invalid(
      'reply',
      `This is a Response of fetch. Give run what is in it: await response.json(), or of a stream ${ASSEMBLED}.`,
    )
  if (isStream(reply)) throw invalid('reply', `This is a stream. Give run what it adds up to: ${ASSEMBLED}.`)
  if (isEvent(reply))
    throw invalid(
      'reply',
      `This is one event of a stream. Give run what all of them add up to: ${ASSEMBLED}.`,
    )
  const { error, role } = reply
  if (typeof role === 'string' && OTHERS.includes(role))
    throw invalid(
      'reply',
      `This is a message with the role ${JSON.stringify(role)}, and no reply of a model. Give run what the API answered.`,
    )
  const isAnswer = ['choices', 'candidates', 'output', 'content', 'message'].some((key) => key in reply)
  if (isAnswer || !isRecord(error) || typeof error.message !== 'string') return
  throw invalid(
    'reply',
    `The API answered with an error: ${quote(error.message, 300)}. Nothing was run. Look at the status of a response before you give it to run.`,
  )
}

/** A chunk of Chat Completions, or an event of the Responses API or of Anthropic's. Gemini's look like replies. */
function isEvent({ choices, type }: Readonly<Record<string, unknown>>): boolean {
  if (typeof type === 'string') return /^(?:response\.|message_|content_block_)/.test(type)
  const [choice]: readonly unknown[] = Array.isArray(choices) ? choices : []
  return isRecord(choice) && isRecord(choice.delta) && !('message' in choice)
}
