/** The ways in which other clients write variables, as the common `${…}`. */
import { isRecord } from '@toolwell/core/internal'

export type VariableDialect = 'common' | 'gemini' | 'opencode'

const TRANSLATIONS: Readonly<Record<VariableDialect, (text: string) => string>> = {
  // An editor would ask its user; here the value comes from a variable.
  common: (text) =>
    text.replace(
      /\$\{input:([\w.-]+)\}/g,
      (_, id: string) => `\${env:${id.toUpperCase().replace(/\W/g, '_')}}`,
    ),
  // `$NAME`; `$$` and `${NAME}` stay.
  gemini: (text) => text.replace(/(?<![$\\])\$([A-Za-z_]\w*)/g, (_, name: string) => `\${${name}}`),
  opencode: (text) =>
    text
      .replace(/\{env:([A-Za-z_]\w*)\}/g, (_, name: string) => `\${${name}}`)
      .replace(/\{file:([^{}]+)\}/g, (_, path: string) => `\${file:${path}}`),
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
