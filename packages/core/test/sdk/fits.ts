/** Each host loop in the types of the official client, without a cast. It is compiled by `types.test.ts`, and not run. */
import type Anthropic from '@anthropic-ai/sdk'
import type { Content, FunctionDeclaration, GoogleGenAI } from '@google/genai'
import type { Conversation, Tool } from '@toolwell/core'
import * as messagesApi from '@toolwell/core/anthropic'
import * as geminiApi from '@toolwell/core/google'
import * as chatApi from '@toolwell/core/openai-chat'
import * as responsesApi from '@toolwell/core/openai-responses'
import type OpenAI from 'openai'

type ChatMessage = OpenAI.Chat.ChatCompletionMessageParam
type Sent = OpenAI.Responses.ResponseInputItem
type Received = OpenAI.Responses.ResponseOutputItem

export async function anthropic(client: Anthropic, conversation: Conversation, tools: Anthropic.Tool[]) {
  const imported: readonly Tool[] = messagesApi.importTools(tools, ({ name }) => ({
    aliases: [`old_${name}`],
  }))
  const adapter = messagesApi.anthropic<Anthropic.MessageParam>(conversation)
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Go.' }]
  const turn = await adapter.begin(messages, { system: [{ type: 'text', text: 'Be careful.' }] })
  const request = { model: 'claude-haiku-5-5', max_tokens: 1024, ...turn.parts }
  const reply = await client.messages.create(request)
  messages.push(reply, ...(await turn.run(reply)).messages)
  const final = await client.messages.stream(request).finalMessage()
  messages.push(final, ...(await turn.run(final)).messages)
  const streamed = await messagesApi.assemble<Anthropic.Message>(client.messages.stream(request))
  messages.push(...streamed.messages, ...(await turn.run(streamed.reply)).messages)
  await client.messages.create({ ...request, tools: [...tools, ...(turn.parts.tools ?? [])] })
  await adapter.compact(messages, messages.slice(-2))
  const fork = messagesApi.anthropic<Anthropic.MessageParam>(await adapter.fork(messages, { id: 'fork' }))
  messages.push(...fork.adopt(adapter.thread(messages)))
  return imported
}

export async function openaiChat(
  client: OpenAI,
  conversation: Conversation,
  tools: OpenAI.Chat.ChatCompletionTool[],
) {
  const imported: readonly Tool[] = chatApi.importTools(tools, () => ({ defer: true }))
  const adapter = chatApi.openaiChat<ChatMessage>(conversation)
  const messages: ChatMessage[] = [{ role: 'user', content: 'Go.' }]
  const turn = await adapter.begin(messages)
  const request = { model: 'gpt-5-mini', ...turn.parts }
  const completion = await client.chat.completions.create(request)
  for (const choice of completion.choices) messages.push(choice.message, ...(await turn.run(choice)).messages)
  const final = await client.chat.completions.stream(request).finalMessage()
  messages.push(final, ...(await turn.run(final)).messages)
  const events = await client.chat.completions.create({ ...request, stream: true })
  const streamed = await chatApi.assemble(events)
  messages.push(...streamed.messages, ...(await turn.run(streamed.reply)).messages)
  await client.chat.completions.create({ ...request, tools: [...tools, ...(turn.parts.tools ?? [])] })
  await adapter.compact(messages, messages.slice(-2))
  const fork = chatApi.openaiChat<ChatMessage>(await adapter.fork(messages, { id: 'fork' }))
  messages.push(...fork.adopt(adapter.thread(messages)))
  return imported
}

/** Not everything that the client receives may be sent by its types, so the history has room for both. */
export async function openaiResponses(
  client: OpenAI,
  conversation: Conversation,
  tools: OpenAI.Responses.FunctionTool[],
) {
  const imported: readonly Tool[] = responsesApi.importTools(tools, () => ({ defer: true }))
  const adapter = responsesApi.openaiResponses<Sent>(conversation)
  const items: (Sent | Received)[] = [{ role: 'user', content: 'Go.' }]
  const turn = await adapter.begin(items, { instructions: 'Be careful.' })
  const request = { model: 'gpt-5-mini', store: false, ...turn.parts }
  const reply = await client.responses.create(request)
  items.push(...reply.output, ...(await turn.run(reply)).messages)
  const final = await client.responses.stream(request).finalResponse()
  items.push(...final.output, ...(await turn.run(final)).messages)
  const events = await client.responses.create({ ...request, stream: true })
  const streamed = await responsesApi.assemble<Received>(events)
  items.push(...streamed.messages, ...(await turn.run(streamed.reply)).messages)
  const next = await adapter.begin(items)
  await client.responses.create({
    model: 'gpt-5-mini',
    ...next.parts,
    tools: [...tools, ...(next.parts.tools ?? [])],
  })
  await adapter.compact(items, items.slice(-2))
  const fork = responsesApi.openaiResponses<Sent>(await adapter.fork(items, { id: 'fork' }))
  items.push(...fork.adopt(adapter.thread(items)))
  return imported
}

export async function google(client: GoogleGenAI, conversation: Conversation, tools: FunctionDeclaration[]) {
  const imported: readonly Tool[] = geminiApi.importTools(tools, ({ behavior }) => ({
    defer: behavior !== undefined,
  }))
  const adapter = geminiApi.google<Content>(conversation)
  const contents: Content[] = [{ role: 'user', parts: [{ text: 'Go.' }] }]
  const turn = await adapter.begin(contents, { systemInstruction: { parts: [{ text: 'Be careful.' }] } })
  const { contents: sent, ...config } = turn.parts
  const request = { model: 'gemini-2.5-flash', contents: sent, config }
  const reply = await client.models.generateContent(request)
  contents.push(...(await turn.run(reply)).messages)
  for (const { content = {} } of reply.candidates ?? [])
    contents.push(content, ...(await turn.run(content)).messages)
  const streamed = await geminiApi.assemble<Content>(await client.models.generateContentStream(request))
  contents.push(...streamed.messages, ...(await turn.run(streamed.reply)).messages)
  const searching = [...(turn.parts.tools ?? []), { functionDeclarations: tools }, { googleSearch: {} }]
  await client.models.generateContent({ ...request, config: { ...config, tools: searching } })
  await adapter.compact(contents, contents.slice(-2))
  const fork = geminiApi.google<Content>(await adapter.fork(contents, { id: 'fork' }))
  contents.push(...fork.adopt(adapter.thread(contents)))
  return imported
}

/** A thread is the same on every wire. */
export function move(
  conversation: Conversation,
  items: responsesApi.ResponsesItem[],
): Record<string, readonly object[]> {
  const thread: messagesApi.Thread = responsesApi.openaiResponses(conversation).thread(items)
  const same: readonly [chatApi.Thread, geminiApi.Thread, responsesApi.Thread] = [thread, thread, thread]
  return {
    chat: chatApi.openaiChat<ChatMessage>(conversation).adopt(same[0]),
    google: geminiApi.google<Content>(conversation).adopt(same[1]),
    anthropic: messagesApi.anthropic<Anthropic.MessageParam>(conversation).adopt(same[2]),
  }
}
