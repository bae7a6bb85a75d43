/** The ways in which other clients write variables, as the common `${…}`. */
import { basename, dirname } from 'node:path'
import { isRecord } from '@toolwell/core/internal'

/** `shell`: of Gemini, Qwen Code and Copilot. */
export type VariableDialect = 'common' | 'shell' | 'opencode' | 'continue'

const TRANSLATIONS: Readonly<Record<VariableDialect, (text: string) => string>> = {
  // An editor would ask its user; here the value comes from a variable.
  common: (text) =>
    text
      .replace(/\$\{input:([\w.-]+)\}/g, (_, id: string) => `\${env:${id.toUpperCase().replace(/\W/g, '_')}}`)
      // Cline allows blanks around the name: github.com/cline/cline, src/utils/envExpansion.ts.
      .replace(/\$\{env:\s*([A-Za-z_]\w*)\s*\}/g, (_, name: string) => `\${env:${name}}`),
  // `$NAME`; `$$` and `${NAME}` stay.
  shell: (text) => text.replace(/(?<![$\\])\$([A-Za-z_]\w*)/g, (_, name: string) => `\${${name}}`),
  opencode: (text) =>
    text
      .replace(/\{env:([A-Za-z_]\w*)\}/g, (_, name: string) => `\${${name}}`)
      .replace(/\{file:([^{}]+)\}/g, (_, path: string) => `\${file:${path}}`),
  // `${{ secrets.NAME }}`, also with its owner before: github.com/continuedev/continue, packages/config-yaml.
  continue: (text) =>
    text.replace(
      /\$\{\{\s*(?:secrets|inputs)\.(?:[^{}\s]*\/)?([A-Za-z_]\w*)\s*\}\}/g,
      (_, name: string) => `\${${name}}`,
    ),
}

/** How variables are written in a file of another client, by the folder that it lies in. */
export function dialectOf(file: string): VariableDialect {
  return ['.gemini', '.qwen', '.copilot'].includes(basename(dirname(file))) ? 'shell' : 'common'
}

/** In every string of a value, however deep. */
export function withCommonVariables(value: unknown, dialect: VariableDialect): unknown {
  if (typeof value === 'string') return TRANSLATIONS[dialect](value)
  if (Array.isArray(value)) return value.map((each) => withCommonVariables(each, dialect))
  return isRecord(value)
    ? Object.fromEntries(
        Object.entries(value).map(([key, each]) => [key, withCommonVariables(each, dialect)]),
      )
    : value
}
