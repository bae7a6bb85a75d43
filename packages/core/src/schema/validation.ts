/** Checks the arguments of a call against the schema of the tool. Uses no eval, fetches nothing, and takes bounded time. */
import { quote } from '../base/text.js'
import type { WireTool } from '../tool/wire-tool.js'
import { NO_ALTERNATIVE } from './validate/keywords.js'
import { computeSteps, getPath, OutOfSteps, type Problem } from './validate/run.js'
import { createValidator, TooDeep, type Validator } from './validate/validate.js'

export type ArgumentCheck =
  | { readonly kind: 'valid' }
  /** Each problem names the place and the rule: `labels/0: "Must be string, not number."` */
  | { readonly kind: 'invalid'; readonly problems: readonly string[] }
  /** The check exceeded its limits. The call must not run. */
  | { readonly kind: 'undecided'; readonly problems: readonly string[]; readonly detail: string }

const MAX_PROBLEMS = 8

const validators = new WeakMap<WireTool, Validator>()

/**
 * Checks against the definition that the model saw. Skips slow patterns and references without a target: there, the tool itself
 * has to check.
 */
export function checkArguments(tool: WireTool, input: unknown): ArgumentCheck {
  const steps = computeSteps(input)
  try {
    const validator = getValidator(tool)
    if (validator.validate(input, steps) !== false) return { kind: 'valid' }
    return { kind: 'invalid', problems: describeProblems(collectProblems(validator, input, steps)) }
  } catch (error) {
    return explainUndecided(error, steps)
  }
}

function getValidator(tool: WireTool): Validator {
  const known = validators.get(tool)
  if (known) return known
  const made = createValidator(tool.inputSchema)
  validators.set(tool, made)
  return made
}

function explainUndecided(error: unknown, steps: number): ArgumentCheck {
  if (error instanceof OutOfSteps)
    return {
      kind: 'undecided',
      problems: ['(the arguments): "They could not be checked in a reasonable time. Send simpler ones."'],
      detail: `checking the arguments took more than ${steps} steps`,
    }
  const isDeep = error instanceof TooDeep || error instanceof RangeError
  return {
    kind: 'undecided',
    problems: [
      isDeep
        ? '(the arguments): "They are nested too deeply to be checked. Send simpler ones."'
        : '(the arguments): "They could not be checked."',
    ],
    detail: isDeep ? 'arguments and schema are nested too deeply' : String(error),
  }
}

/** Collects as many problems as the limits allow. The arguments are already known to be invalid. */
function collectProblems(validator: Validator, input: unknown, steps: number): readonly Problem[] {
  const problems: Problem[] = []
  try {
    validator.validate(input, steps, problems)
  } catch {
    // The problems found so far are enough.
  }
  return problems
}

interface Found {
  readonly keys: readonly (string | number)[]
  readonly rule: string
}

function describeProblems(problems: readonly Problem[]): string[] {
  const found = problems.map(({ place, rule }): Found => ({ keys: getPath(place), rule }))
  const lines = selectRelevant(found).map(({ keys, rule }) => `${writePath(keys)}: ${quote(rule, 200)}`)
  return lines.length > 0
    ? [...new Set(lines)].slice(0, MAX_PROBLEMS)
    : ['(the arguments): "They do not fit the schema."']
}

/** If no alternative fits, keeps only the deepest problems: they belong to the alternative that was probably meant. */
function selectRelevant(found: readonly Found[]): readonly Found[] {
  const tried = found
    .filter(({ rule }) => rule === NO_ALTERNATIVE)
    .map(({ keys }) => ({
      keys,
      depth: found.reduce(
        (most, each) => (isWithin(keys, each) ? Math.max(most, each.keys.length) : most),
        0,
      ),
    }))
  return found.filter((each) =>
    tried.every(({ keys, depth }) => !isWithin(keys, each) || each.keys.length === depth),
  )
}

function isWithin(keys: Found['keys'], other: Found): boolean {
  return keys.length <= other.keys.length && keys.every((key, at) => other.keys[at] === key)
}

function writePath(keys: readonly (string | number)[]): string {
  return keys.length === 0 ? '(the arguments)' : quote(keys.map(escapeKey).join('/'), 120)
}

function escapeKey(key: string | number): string {
  return String(key).replaceAll('~', '~0').replaceAll('/', '~1')
}
