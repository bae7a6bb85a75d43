/** Every keyword that asks for something. */
import type { Keyword } from './keyword.js'
import * as lists from './of-lists.js'
import * as objects from './of-objects.js'
import * as schemas from './of-schemas.js'
import * as values from './of-values.js'

/** In the order in which they are asked: cheap ones first, and last those that need to know what the others looked at. */
export const KEYWORD_CHECKS: ReadonlyMap<string, Keyword> = new Map<string, Keyword>([
  ['type', values.type],
  ['const', values.constant],
  ['enum', values.enumeration],
  ['minimum', values.minimum],
  ['maximum', values.maximum],
  ['exclusiveMinimum', values.moreThan],
  ['exclusiveMaximum', values.lessThan],
  ['multipleOf', values.multipleOf],
  ['minLength', values.minLength],
  ['maxLength', values.maxLength],
  ['minItems', values.minItems],
  ['maxItems', values.maxItems],
  ['minProperties', values.minProperties],
  ['maxProperties', values.maxProperties],
  ['required', objects.required],
  ['dependentRequired', objects.dependent],
  ['pattern', values.pattern],
  ['format', values.format],
  ['uniqueItems', values.uniqueItems],
  ['$ref', schemas.reference],
  ['$dynamicRef', schemas.reference],
  ['$recursiveRef', schemas.reference],
  ['properties', objects.properties],
  ['patternProperties', objects.patternProperties],
  ['additionalProperties', objects.additionalProperties],
  ['propertyNames', objects.propertyNames],
  ['prefixItems', lists.prefixItems],
  ['items', lists.items],
  ['additionalItems', lists.additionalItems],
  ['contains', lists.contains],
  ['dependentSchemas', objects.dependent],
  ['dependencies', objects.dependent],
  ['allOf', schemas.allOf],
  ['anyOf', schemas.anyOf],
  ['oneOf', schemas.oneOf],
  ['not', schemas.not],
  ['if', schemas.condition],
  ['unevaluatedItems', lists.unevaluatedItems],
  ['unevaluatedProperties', objects.unevaluatedProperties],
])
