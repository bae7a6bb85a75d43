/** Reads what a model sent: `unknown` becomes typed here, or an error that says what to send instead. */
export type Input = Record<string, unknown>

export function isInput(value: unknown): value is Input {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function wrong(name: string, expected: string): Error {
  return new Error(`Parameter "${name}" must be ${expected}. Correct it and call again.`)
}

export function optionalText(input: Input, name: string): string | undefined {
  const value = input[name]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw wrong(name, 'a string')
  return value
}

export function textIn(input: Input, name: string, fallback?: string): string {
  const value = optionalText(input, name) ?? fallback
  if (value === undefined) throw wrong(name, 'given, as a string')
  return value
}

export function optionalNumber(input: Input, name: string): number | undefined {
  const value = input[name]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'number' || !Number.isFinite(value)) throw wrong(name, 'a number')
  return value
}

export function numberIn(input: Input, name: string, fallback?: number): number {
  const value = optionalNumber(input, name) ?? fallback
  if (value === undefined) throw wrong(name, 'given, as a number')
  return value
}

export function flagIn(input: Input, name: string, fallback: boolean): boolean {
  const value = input[name] ?? fallback
  if (typeof value !== 'boolean') throw wrong(name, 'true or false')
  return value
}

/** An absent list reads as an empty one. */
export function textsIn(input: Input, name: string): string[] {
  const value = input[name] ?? []
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string'))
    throw wrong(name, 'a list of strings')
  return value
}

export function objectsIn(input: Input, name: string): Input[] {
  const value = input[name] ?? []
  if (!Array.isArray(value) || !value.every(isInput)) throw wrong(name, 'a list of objects')
  return value
}

/** An absent object reads as an empty one. */
export function objectIn(input: Input, name: string): Input {
  const value = input[name] ?? {}
  if (!isInput(value)) throw wrong(name, 'an object')
  return value
}
