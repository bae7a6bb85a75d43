/** A source that could not be used and works again: it is tried when it is asked for, and the model reads once that it is back. */
import { describe, expect, it } from 'vitest'
import { startHost } from './support/host.js'
import { mixed, server, tool } from './support/tools.js'

const NAME = 'tracker__create_issue'
const search = (query: string) => ({ calls: [{ name: 'tool_search', arguments: { query } }] })

describe('a tool of which a call was answered that it cannot be used', () => {
  it.each(['append', 'bridge', 'eager'] as const)(
    'is announced as back once, when it works again: %s',
    async (delivery) => {
      const call =
        delivery === 'bridge'
          ? { calls: [{ name: 'tool_call', arguments: { name: NAME, arguments: { value: 'x' } } }] }
          : { calls: [{ name: NAME, arguments: { value: 'x' } }] }
      const host = await startHost({ tools: mixed(), mode: 'on', delivery }, [
        search(`select:${NAME}`),
        { text: 'Found.' },
        call,
        { text: 'Later.' },
        { text: 'Still waiting.' },
        { text: 'It is back.' },
        { text: 'Yes.' },
      ])
      const told = () => host.raw().match(/Available again: [^.]*/g) ?? []
      await host.ask('Find it.')
      host.well.catalogue.setState('tracker', 'failed')
      await host.ask('Use it.')
      expect(host.raw()).toContain(`${NAME} cannot be used now: failed`)
      // It may be tried, but nobody has seen it work.
      host.well.catalogue.setState('tracker', 'ready', { tentative: true })
      await host.ask('And now?')
      expect(told()).toEqual([])
      host.well.catalogue.setState('tracker', 'ready')
      await host.ask('And now?')
      expect(told()).toEqual([`Available again: ${NAME}`])
      await host.ask('Really?')
      expect(told()).toHaveLength(1)
    },
  )

  it('is not announced as back if the model has already used it', async () => {
    const host = await startHost({ tools: mixed(), mode: 'on', delivery: 'append' }, [
      search(`select:${NAME}`),
      { text: 'Found.' },
      { calls: [{ name: NAME, arguments: { value: 'x' } }] },
      { text: 'Later.' },
      { calls: [{ name: NAME, arguments: { value: 'x' } }] },
      { text: 'Done.' },
      { text: 'Yes.' },
    ])
    await host.ask('Find it.')
    host.well.catalogue.setState('tracker', 'failed')
    await host.ask('Use it.')
    host.well.catalogue.setState('tracker', 'ready', { tentative: true })
    await host.ask('Again.')
    host.well.catalogue.setState('tracker', 'ready')
    await host.ask('Well?')
    expect(host.raw()).not.toContain('Available again')
  })
})

describe('a search', () => {
  const asked = async (state: 'failed' | 'connecting' | 'ready', tentative: boolean, isKnown: boolean) => {
    let woken = 0
    const host = await startHost(
      { tools: [tool('read_file')], mode: 'on', search: { waitForSources: 0 } },
      [search('open a door'), { text: 'So.' }],
      {
        prepare: (well) =>
          well.catalogue.setSource('alpha', {
            tools: isKnown ? server('alpha', ['open_door']) : [],
            state,
            tentative,
            wake: () => {
              woken++
              throw new Error('its own affair')
            },
          }),
      },
    )
    await host.ask('Open one.')
    return woken
  }

  it('asks a source of which nothing is known to try again, where it failed', async () => {
    expect(await asked('failed', true, false)).toBe(1)
    expect(await asked('connecting', false, false)).toBe(0)
  })

  it('asks a source that is only thought to work, where it finds its tools', async () => {
    expect(await asked('ready', true, true)).toBe(1)
    expect(await asked('ready', false, true)).toBe(0)
  })

  it('waits for what it has woken', async () => {
    const host = await startHost(
      { tools: [tool('read_file')], mode: 'on' },
      [search('open a door'), { text: 'So.' }],
      {
        prepare: (well) => {
          const wake = () => {
            well.catalogue.setState('alpha', 'connecting')
            setImmediate(() =>
              well.catalogue.setSource('alpha', { tools: server('alpha', ['open_door']), state: 'ready' }),
            )
          }
          well.catalogue.setSource('alpha', { tools: [], state: 'failed', wake })
        },
      },
    )
    await host.ask('Open one.')
    expect(host.raw()).toContain('alpha__open_door')
  })
})
