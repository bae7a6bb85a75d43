/** What an editor would ask its user for: here it comes from a variable, and who reads of the variable wants to know which input that is. */
import { withCommonVariables } from '@toolwell/mcp/internal'

/** Ids of inputs, by the variable that stands for each here. */
export type Inputs = ReadonlyMap<string, string>

export function findInputs(entry: unknown): Inputs {
  const found = JSON.stringify(entry ?? null).matchAll(/\$\{input:([\w.-]+)\}/g)
  return new Map(
    [...found].map(([whole, id = '']) => {
      const [, name = ''] = /^\$\{env:(\w+)\}$/.exec(String(withCommonVariables(whole, 'common'))) ?? []
      return [name, id] as const
    }),
  )
}

/** A message of the config in the words of the client's own file. */
export function nameInput(message: string, inputs: Inputs): string {
  const [, name = ''] = /the environment variable (\w+) is not set/.exec(message) ?? []
  const id = inputs.get(name)
  return id === undefined
    ? message
    : message.replace(
        `the environment variable ${name}`,
        `the client asks for \${input:${id}}, which comes from the environment variable ${name} here, and ${name}`,
      )
}
