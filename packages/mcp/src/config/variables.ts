/** Expands variables in a config: `${VAR}`, `${VAR:-default}`, `${env:VAR}`, `${workspaceFolder}`. See references.ts for `${file:…}` and `${cmd:…}`. */

import { homedir } from 'node:os'
import { basename, dirname, sep } from 'node:path'
import { isRecord } from '@toolwell/core/internal'
import { absoluteReference, hasReference } from './references.js'

export interface VariableScope {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly workspaceFolder: string
  /** Base of `${file:…}` paths. Default: the workspace folder. */
  readonly folder?: string
}

export interface Expanded {
  readonly text: string
  /** Values from the environment, which must never be shown. */
  readonly secrets: readonly string[]
  /** Names of the variables with these values. */
  readonly variables: readonly string[]
  /** Why the text could not be expanded. */
  readonly problems: readonly { readonly message: string; readonly fix: string }[]
}

const VARIABLE = /\$\{([^{}]*)\}/g
const NAME = /^[A-Za-z_]\w*$/
/** Not secret: hiding their values would make messages hard to read. */
const PUBLIC = new Set(['HOME', 'USER', 'LOGNAME', 'PWD', 'TMPDIR', 'SHELL', 'LANG', 'PATH'])

/** Expands a text once. `${…}` in a value is not expanded again. */
export function expandVariables(text: string, scope: VariableScope): Expanded {
  const secrets: string[] = []
  const variables: string[] = []
  const problems = new Map<string, string>()
  const fail = (message: string, fix: string) => {
    problems.set(message, fix)
    return ''
  }
  const expanded = text.replace(VARIABLE, (whole, inner: string) => {
    const known = wellKnown(inner, scope)
    // The name of a folder must not decide what is run.
    if (known !== undefined && hasReference(known))
      return fail(`${whole} is a folder whose name contains a reference`, 'Rename the folder')
    if (known !== undefined) return known
    const [, kind = '', rest = ''] = /^([a-z]+):(?!-)(.*)$/i.exec(inner) ?? []
    if (kind === 'file' || kind === 'cmd')
      return rest.trim() === ''
        ? fail(`${whole} names nothing`, 'Write ${file:PATH} or ${cmd:COMMAND}')
        : absoluteReference(kind, rest, scope.folder ?? scope.workspaceFolder)
    if (kind !== '' && kind !== 'env')
      return kind === 'input'
        ? fail(
            `${whole} asks the user of an editor, which is not possible here`,
            `Put the value into an environment variable and write \${env:${rest.toUpperCase().replace(/\W/g, '_')}}`,
          )
        : fail(
            `${whole} is not a known variable`,
            'Known variables: ${VAR}, ${VAR:-default}, ${env:VAR}, ${file:PATH}, ${cmd:COMMAND}, ${workspaceFolder} and ${userHome}',
          )
    const source = kind === 'env' ? rest : inner
    const [name = '', ...fallback] = source.split(':-')
    if (!NAME.test(name)) return fail(`${whole} is not the name of a variable`, 'Write ${NAME}')
    const value = scope.env[name]
    if (value !== undefined && value !== '') {
      // The value of a variable must not decide what is run.
      if (hasReference(value))
        return fail(`the value of ${name} contains a reference`, 'Write the reference into the config')
      if (PUBLIC.has(name)) return value
      secrets.push(value)
      variables.push(name)
      return value
    }
    if (fallback.length > 0) return fallback.join(':-')
    if (value === '') return ''
    return fail(
      `the environment variable ${name} is not set`,
      `Set ${name}, or give a default: \${${name}:-value}`,
    )
  })
  return {
    text: problems.size > 0 ? text : expanded,
    secrets,
    variables,
    problems: [...problems].map(([message, fix]) => ({ message, fix })),
  }
}

function wellKnown(name: string, { workspaceFolder }: VariableScope): string | undefined {
  if (name === 'workspaceFolder') return workspaceFolder
  if (name === 'workspaceFolderBasename') return basename(workspaceFolder)
  if (name === 'userHome') return homedir()
  if (name === 'pathSeparator' || name === '/') return sep
  return undefined
}

/** How a client writes variables. `shell`: Gemini, Qwen Code and Copilot. */
export type VariableDialect = 'common' | 'shell' | 'opencode' | 'continue'

/** Translations of each dialect to `${…}`. */
const TRANSLATIONS: Readonly<Record<VariableDialect, (text: string) => string>> = {
  // An editor would ask the user. Here the value comes from a variable.
  common: (text) =>
    text
      .replace(/\$\{input:([\w.-]+)\}/g, (_, id: string) => `\${env:${id.toUpperCase().replace(/\W/g, '_')}}`)
      // Cline allows spaces around the name: github.com/cline/cline, src/utils/envExpansion.ts.
      .replace(/\$\{env:\s*([A-Za-z_]\w*)\s*\}/g, (_, name: string) => `\${env:${name}}`),
  // `$NAME`; `$$` and `${NAME}` stay.
  shell: (text) => text.replace(/(?<![$\\])\$([A-Za-z_]\w*)/g, (_, name: string) => `\${${name}}`),
  opencode: (text) =>
    text
      .replace(/\{env:([A-Za-z_]\w*)\}/g, (_, name: string) => `\${${name}}`)
      .replace(/\{file:([^{}]+)\}/g, (_, path: string) => `\${file:${path}}`),
  // `${{ secrets.NAME }}`, optionally with an owner: github.com/continuedev/continue, packages/config-yaml.
  continue: (text) =>
    text.replace(
      /\$\{\{\s*(?:secrets|inputs)\.(?:[^{}\s]*\/)?([A-Za-z_]\w*)\s*\}\}/g,
      (_, name: string) => `\${${name}}`,
    ),
}

/** Detects the dialect of another client's file by its folder. */
export function detectDialect(file: string): VariableDialect {
  return ['.gemini', '.qwen', '.copilot'].includes(basename(dirname(file))) ? 'shell' : 'common'
}

/** Translates every string of a value, at any depth. */
export function withCommonVariables(value: unknown, dialect: VariableDialect): unknown {
  if (typeof value === 'string') return TRANSLATIONS[dialect](value)
  if (Array.isArray(value)) return value.map((each) => withCommonVariables(each, dialect))
  return isRecord(value)
    ? Object.fromEntries(
        Object.entries(value).map(([key, each]) => [key, withCommonVariables(each, dialect)]),
      )
    : value
}
