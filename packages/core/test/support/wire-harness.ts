/** The wire interface of the scenario file: a host over the real adapter and the strict endpoint of that protocol. One file per wire implements it. */
import type { Conversation, RunOptions, Toolwell, ToolwellEvent, ToolwellOptions } from '@toolwell/core'
import type { ScriptedReply } from '@toolwell/testing'

/** Called for each accepted request; calls by wire name, the same on every wire. */
export type Script = readonly ScriptedReply[] | ((index: number) => ScriptedReply)

export interface WireHost {
  readonly well: Toolwell
  readonly conversation: Conversation
  readonly events: readonly ToolwellEvent[]
  /** Requests the endpoint accepted or refused, oldest first. */
  readonly requests: readonly { readonly raw: string; readonly violation?: { readonly message: string } }[]
  say(text: string): void
  /** One request and the calls of its reply. Throws when the endpoint answers 400. Gives the texts of the answers. */
  step(requestId?: string): Promise<readonly string[]>
  /** Says something, then steps until the model calls nothing more. Gives its last text. */
  ask(text: string): Promise<string>
  /** Names of the tools that a request puts before the model, in order. */
  toolNames(index?: number): string[]
  /** The tools of a request as the wire carries them, as JSON. */
  toolsJson(index?: number): string
  /** A request in its provider's render order. */
  rendered(index?: number): string
  /** Replaces the history by a summary and its last `keep` native messages. */
  compact(summary: string, keep: number): Promise<void>
  /** Another host on the same endpoint: the first `length` native messages of this one. */
  fork(id: string, length: number): Promise<WireHost>
  /** Another process: a new Toolwell over the same store and the same history. */
  resume(options?: Partial<ToolwellOptions>): Promise<WireHost>
  /** A host for a separate conversation, with an empty history. */
  with(conversation: Conversation): WireHost
  /** The native history. */
  readonly length: number
}

export interface WireHarness {
  readonly name: string
  /** The part that this wire renders before the messages. */
  readonly order: 'tools-first' | 'system-first'
  readonly deliveries: readonly ('append' | 'bridge' | 'native')[]
  open(
    options: ToolwellOptions,
    script: Script,
    setup?: { readonly run?: RunOptions; readonly prepare?: (well: Toolwell) => void },
  ): Promise<WireHost>
}
