/** Runs the tool that a call is meant for, with everything the SDK gives a tool. */

import { abortable } from '../../base/async.js'
import { quote } from '../../base/text.js'
import type { Execute } from '../../turn/run.js'
import type { TargetCall } from '../../turn/verdict.js'
import type { Started } from './batch.js'
import type { Registry } from './registry.js'
import { lastOf } from './results.js'
import { importedOf } from './tools.js'

/** `host`: what the host gave for running tools itself. */
export function targetRunner(
  some: readonly Started[],
  registry: Registry,
  host: Execute | undefined,
): Execute {
  const started = new Map(some.map((each) => [each.call.id, each]))
  return async (target) => {
    const { shown = '', options } = started.get(target.callId) ?? {}
    // The SDK has asked its hooks and its approvals about what it was shown. Where another tool is meant, nobody was asked.
    if (registry.entryOf(shown)?.id !== target.id)
      throw new Error(`it can be called as ${quote(target.wireName)} only`)
    const signal = options?.abortSignal
    signal?.throwIfAborted()
    // Each call may have a time limit of its own, so this is not left to the run of the batch.
    return abortable(run(target, options, host), signal)
  }
}

async function run(
  target: TargetCall,
  options: Started['options'] | undefined,
  host: Execute | undefined,
): Promise<unknown> {
  const { callId, input, tool, context } = target
  const imported = importedOf(tool)
  const signal = options?.abortSignal
  if (imported?.tool.execute && options)
    return lastOf(imported.tool.execute(input, { ...options, toolCallId: callId }))
  if (host) return host(target, signal)
  if (!tool.execute) throw new Error('this tool has no implementation; the host has to run it')
  return tool.execute(input, { ...context, ...(signal ? { signal } : {}) })
}
