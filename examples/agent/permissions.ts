/**
 * Permissions. Toolwell asks two questions: the policy decides at once what the model may see, load or call; the approval decides
 * about a call that is about to run, and may take time.
 */
import type { Policy, TargetCall, Tool } from '@toolwell/core'

/** `plan`: read only. `ask`: a person decides about every change. `auto`: everything that no rule denies runs. */
export type Mode = 'plan' | 'ask' | 'auto'
export const MODES: readonly Mode[] = ['plan', 'ask', 'auto']

/** Patterns of tools (`bash`, `memory/*`, `*__delete_*`), or of calls by their first argument (`bash(git push*)`). */
export interface PermissionRules {
  readonly allow?: readonly string[]
  readonly deny?: readonly string[]
}

export interface Permissions {
  policy(mode: () => Mode): Policy
  /** Why the call may not run. Empty if it may. */
  approve(call: TargetCall, mode: Mode): Promise<string>
}

/** `ask` asks a person. Without it, calls that need a question are refused. */
export function createPermissions(
  { allow = [], deny = [] }: PermissionRules,
  ask?: (call: TargetCall) => Promise<boolean>,
): Permissions {
  const denied = deny.map(readRule)
  const allowed = allow.map(readRule)
  return {
    policy:
      (mode) =>
      ({ action, id, name, source, tool, input }) => {
        if (denied.some((rule) => rule.fits([id, name, tool.name], input))) return false
        // In plan mode, tools stay visible: cards and all sent bytes stay unchanged.
        if (mode() !== 'plan' || action === 'see' || source === 'toolwell') return true
        return isReadOnly(tool) || tool.role !== undefined || tool.forwards !== undefined
      },
    async approve(call, mode) {
      if (isReadOnly(call.tool) || call.tool.role === 'todo') return ''
      if (allowed.some((rule) => rule.fits([call.id, call.name, call.wireName], call.input))) return ''
      if (mode === 'auto') return ''
      if (!ask)
        return `it needs a person's approval and nobody can be asked here; --allow ${call.id} would allow it`
      return (await ask(call)) ? '' : 'the user did not allow it'
    },
  }
}

export function isReadOnly({ risk, annotations }: Tool): boolean {
  return risk === undefined ? annotations?.readOnlyHint === true : risk === 'read'
}

interface Rule {
  /** `input` is set only for calls: a rule about arguments hides no tool. */
  fits(names: readonly string[], input: Readonly<Record<string, unknown>> | undefined): boolean
}

function readRule(text: string): Rule {
  const [, tool = text, argument] = /^([^(]+)\((.*)\)$/.exec(text) ?? []
  const named = pattern(tool)
  const given = argument === undefined ? undefined : pattern(argument)
  return {
    fits: (names, input) =>
      names.some((name) => named.test(name)) &&
      (given === undefined ||
        (input !== undefined && Object.values(input).some((value) => given.test(String(value))))),
  }
}

/** `*` matches any characters. */
function pattern(text: string): RegExp {
  return new RegExp(`^${text.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '[\\s\\S]*')}$`)
}
