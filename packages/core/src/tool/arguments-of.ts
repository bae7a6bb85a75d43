/** The type of what fits a JSON Schema that is written out in code. Parts it cannot read are `unknown`. */
import type { JsonSchema } from './tool.js'

/** Arguments are an object whatever the schema says; a schema that is only known at run time says no more. */
export type ArgumentsOf<S extends JsonSchema> = string extends keyof S
  ? Record<string, unknown>
  : S extends { readonly properties: infer P }
    ? ObjectOf<P, S>
    : Record<string, unknown>

type ValueOf<S> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly type: 'string' }
      ? string
      : S extends { readonly type: 'number' | 'integer' }
        ? number
        : S extends { readonly type: 'boolean' }
          ? boolean
          : S extends { readonly type: 'null' }
            ? null
            : S extends { readonly type: 'array'; readonly items: infer I }
              ? ValueOf<I>[]
              : S extends { readonly properties: infer P }
                ? ObjectOf<P, S>
                : S extends { readonly type: 'object' }
                  ? Record<string, unknown>
                  : unknown

type RequiredOf<S> = S extends { readonly required: readonly (infer R)[] } ? R : never

type ObjectOf<P, S> = Flat<
  { -readonly [K in keyof P as K extends RequiredOf<S> ? K : never]: ValueOf<P[K]> } & {
    -readonly [K in keyof P as K extends RequiredOf<S> ? never : K]?: ValueOf<P[K]>
  }
>

type Flat<T> = { [K in keyof T]: T[K] }
