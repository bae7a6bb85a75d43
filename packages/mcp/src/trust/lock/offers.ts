/** Prompts, resources and templates in the lock. They are kept among the tools, under names such as `prompt:summarise`. */
import { dropUndefined } from '@toolwell/core/internal'
import type { ServerOffers } from '../../definition/server-definition.js'

export interface LockableOffer {
  /** Unique among the tools and offers of a server. */
  readonly name: string
}

const KINDS = ['prompt', 'resource', 'template'] as const

export function isOfferName(name: string): boolean {
  return KINDS.some((kind) => name.startsWith(`${kind}:`))
}

/** The part of a prompt that a lock holds. */
export function lockablePrompt({
  name,
  title,
  description,
  arguments: given,
}: ServerOffers['prompts'][number]): LockableOffer {
  return { name: `prompt:${name}`, ...dropUndefined({ title, description, arguments: given }) }
}

/** The part of a resource that a lock holds: names and descriptions. Sizes and dates change all the time. */
export function lockableResource({
  uri,
  name: label,
  title,
  description,
}: ServerOffers['resources'][number]): LockableOffer {
  return { name: `resource:${uri}`, ...dropUndefined({ label, title, description }) }
}

export function lockableTemplate({
  uriTemplate,
  name: label,
  title,
  description,
}: ServerOffers['templates'][number]): LockableOffer {
  return { name: `template:${uriTemplate}`, ...dropUndefined({ label, title, description }) }
}

export function listLockableOffers({
  prompts = [],
  resources = [],
  templates = [],
}: Partial<ServerOffers>): LockableOffer[] {
  return [
    ...prompts.map(lockablePrompt),
    ...resources.map(lockableResource),
    ...templates.map(lockableTemplate),
  ]
}
