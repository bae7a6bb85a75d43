import { schemaSql } from '@toolwell/postgres'
import { expect, it } from 'vitest'
import { toolwell } from './support/run.ts'

it('prints the SQL of the tables', async () => {
  expect(await toolwell(['postgres', 'schema'])).toMatchObject({ code: 0, output: `${schemaSql()};\n` })
  expect((await toolwell(['postgres', 'schema', '--schema', 'agents'])).output).toContain(
    'create schema "agents"',
  )
})

it('refuses other tasks and impossible names', async () => {
  expect(await toolwell(['postgres'])).toMatchObject({ code: 2, output: '' })
  expect((await toolwell(['postgres', 'migrate'])).errors).toContain('toolwell postgres schema')
  expect((await toolwell(['postgres', 'schema', '--schema', 'a b'])).errors).toContain(
    'letters, digits and underscores',
  )
})
