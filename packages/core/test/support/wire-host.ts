/** The host loop behind every scenario harness. A driver says how one wire talks to its endpoint; the loop is the same for all. */

import {
  type Conversation,
  createToolwell,
  memoryStore,
  type RunOptions,
  type Toolwell,
  type ToolwellEvent,
  type ToolwellOptions,
} from '@toolwell/core'
import type { Protocol, RecordedRequest, ScriptedEndpoint } from '@toolwell/testing'
import { startScriptedEndpoint } from '@toolwell/testing'
import { onTestFinished } from 'vitest'
import type { Adapter } from '../../src/adapters/shared/adapter.js'
import type { Warning } from '../../src/adapters/shared/wire.js'
import type { Script, WireHost } from './wire-harness.js'

export interface WireDriver<
  Message extends object,
  Reply,
  Parts,
  Prompt extends object,
  Body extends object,
  More extends object = object,
> {
  readonly protocol: Protocol<Body>
  readonly prompt: Prompt
  adapter(
    conversation: Conversation,
  ): Pick<Adapter<Message, Reply, Parts, Prompt>, 'begin' | 'compact' | 'fork'>
  user(text: string): Message
  /** Undefined if there was no reply to continue with. Throws when the endpoint answers 400. */
  send(endpoint: ScriptedEndpoint<Body>, parts: Parts): Promise<Reply | undefined>
  /** The part of a reply that joins the history. */
  kept(reply: Reply): readonly Message[]
  /** The last text of the model. */
  lastText(messages: readonly Message[]): string
  /** The definitions of a request, in order. */
  tools(body: Body): readonly { readonly name: string; readonly native: unknown }[]
  rendered(body: Body): string
  /** Extra members for tests of this wire only. `messages` stays the same array. */
  more?(messages: Message[], body: (index?: number) => Body): More
}

export interface WireSetup {
  readonly run?: RunOptions
  readonly prepare?: (well: Toolwell) => void
}

/** A host whose history and requests have the types of their wire. */
export interface NativeHost<Message, Body extends object, More extends object = object> extends WireHost {
  readonly requests: readonly RecordedRequest<Body>[]
  readonly messages: Message[]
  /** Repairs made for the last request. */
  readonly warnings: readonly Warning[]
  body(index?: number): Body
  compactTo(messages: readonly Message[]): Promise<void>
  fork(id: string, length: number): Promise<NativeHost<Message, Body, More> & More>
  resume(options?: Partial<ToolwellOptions>): Promise<NativeHost<Message, Body, More> & More>
  with(conversation: Conversation, messages?: readonly Message[]): NativeHost<Message, Body, More> & More
}

export async function startWireHost<
  Message extends object,
  Reply,
  Parts,
  Prompt extends object,
  Body extends object,
  More extends object = object,
>(
  driver: WireDriver<Message, Reply, Parts, Prompt, Body, More>,
  options: ToolwellOptions,
  script: Script,
  setup: WireSetup = {},
): Promise<NativeHost<Message, Body, More> & More> {
  type Host = NativeHost<Message, Body, More> & More
  const model = typeof script === 'function' ? (_: unknown, index: number) => script(index) : script
  const endpoint = await startScriptedEndpoint(driver.protocol, { model })
  onTestFinished(() => endpoint.close())
  const store = options.store ?? memoryStore()
  const events: ToolwellEvent[] = []
  let count = 0

  const start = (changed: Partial<ToolwellOptions>): Toolwell => {
    const well = createToolwell({ ...options, ...changed, store, onEvent: (event) => events.push(event) })
    setup.prepare?.(well)
    return well
  }
  const at = (index = -1): RecordedRequest<Body> => {
    const request = endpoint.requests.at(index)
    if (!request) throw new Error(`There is no request ${index}.`)
    return request
  }
  const body = (index?: number) => at(index).body
  const tools = (index?: number) => driver.tools(body(index))

  const create = (well: Toolwell, conversation: Conversation, messages: Message[]): Host => {
    const adapter = driver.adapter(conversation)
    let warnings: readonly Warning[] = []
    const host: NativeHost<Message, Body, More> = {
      well,
      conversation,
      events,
      messages,
      requests: endpoint.requests,
      get length() {
        return messages.length
      },
      get warnings() {
        return warnings
      },
      body,
      say: (text) => void messages.push(driver.user(text)),
      async step(requestId = `request-${++count}`) {
        const turn = await adapter.begin(messages, { requestId, ...driver.prompt })
        warnings = turn.warnings
        const reply = await driver.send(endpoint, turn.parts)
        if (reply === undefined) return []
        const ran = await turn.run(reply, setup.run)
        messages.push(...driver.kept(reply), ...ran.messages)
        return ran.answers.map(({ text }) => text)
      },
      async ask(text) {
        host.say(text)
        while ((await host.step()).length > 0);
        return driver.lastText(messages)
      },
      toolNames: (index) => tools(index).map(({ name }) => name),
      toolsJson: (index) => JSON.stringify(tools(index).map(({ native }) => native)),
      rendered: (index) => driver.rendered(body(index)),
      compact: (summary, keep) =>
        host.compactTo([driver.user(summary), ...(keep > 0 ? messages.slice(-keep) : [])]),
      async compactTo(next) {
        await adapter.compact(messages, next)
        messages.splice(0, messages.length, ...next)
      },
      async fork(id, length) {
        const part = messages.slice(0, length)
        return create(well, await adapter.fork(part, { id }), part)
      },
      async resume(changed = {}) {
        const other = start(changed)
        // As a host reads it back from where it keeps it.
        const stored = JSON.parse(JSON.stringify(messages)) as Message[]
        return create(other, await other.open({ id: conversation.id }), stored)
      },
      with: (other, history = []) => create(well, other, [...history]),
    }
    // Not spread: that would read the getters once.
    return Object.assign(host, driver.more?.(messages, body)) as Host
  }

  const well = start({})
  return create(well, await well.open({ id: 'scenario' }), [])
}

/** Posts a body and gives the parsed answer, whatever its status, but throws at a 400. */
export async function post<Answer>(url: string, body: object): Promise<Partial<Answer>> {
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) })
  const answer = (await response.json()) as Partial<Answer> & { error?: { message: string } }
  if (response.status === 400) throw new Error(`The endpoint refused the request: ${answer.error?.message}`)
  return answer
}
