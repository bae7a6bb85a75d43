/**
 * What the model may do. Two questions, as Toolwell asks them: the policy is asked about everything the model could learn of, load or
 * call, and answers at once; the approval is asked about a call that is about to run, and may take its time.
 */
import type { Policy, TargetCall, Tool } from '@toolwell/core'

/** `plan`: look, change nothing. `ask`: a person decides about every change. `auto`: what no rule denies runs. */
export type Mode = 'plan' | 'ask' | 'auto'
export const MODES: readonly Mode[] = ['plan', 'ask', 'auto']

/** Patterns of tools (`bash`, `memory/*`, `*__delete_*`), or of calls by their first argument (`bash(git push*)`). */
export interface PermissionRules {
  readonly allow?: readonly string[]
  readonly deny?: readonly string[]
}

export interface Permissions {
  policy(mode: () => Mode): Policy
  /** Why the call may not run; empty where it may. */
  approve(call: TargetCall, mode: Mode): Promise<string>
}

/** `ask`: puts the question to a person. Without one, what has to be asked is refused. */
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
        // A plan may know of what it will use later: cards stay as they are, and so does every byte that was sent.
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
  /** `input` is there for calls alone: a rule about arguments hides nothing. */
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

/** `*` stands for any characters. */
function pattern(text: string): RegExp {
  return new RegExp(`^${text.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '[\\s\\S]*')}$`)
}
