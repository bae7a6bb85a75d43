/** The Chat Completions wire: messages, functions, and the section in the system message. */
import { isRecord } from '../../base/guards.js'
import type { Wire } from '../shared/wire.js'
import { callsIn, isCustomCall } from './calls.js'
import { readMessages } from './read.js'
import { readUsage } from './stream.js'
import { chatTools } from './tools.js'
import {
  type ChatMessage,
  type ChatReply,
  type ChatTool,
  type ChatToolMessage,
  ID_RULES,
  WIRE,
} from './types.js'
import { writeMessages } from './write.js'

export interface ChatParts<Message = ChatMessage> {
  messages: Message[]
  /** Absent where there are none: an empty array is refused by servers. */
  tools?: ChatTool[]
}

export const chatWire: Wire<ChatMessage, ChatReply, ChatParts> = {
  name: WIRE,
  traits: { systemInMessages: true, ids: ID_RULES },
  read: readMessages,
  write: (units, view, warn = () => {}) => writeMessages(units, view.section, warn),
  ofHost: (units) =>
    units.flatMap((unit) =>
      (unit.kind === 'assistant' ? unit.calls.filter(isCustomCall) : []).map(({ name }) => name),
    ),
  parts(messages, view) {
    const tools = chatTools(view)
    // Nobody here changes them; they are typed as clients want them.
    return {
      messages: messages as ChatMessage[],
      ...(tools.length > 0 ? { tools: tools as ChatTool[] } : {}),
    }
  },
  usage: (reply) => (isRecord(reply) && 'usage' in reply ? readUsage(reply.usage) : undefined),
  calls: callsIn,
  answer: (answers) =>
    answers.map(
      ({ callId, text }): ChatToolMessage => ({ role: 'tool', tool_call_id: callId, content: text }),
    ),
}
