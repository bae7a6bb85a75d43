/** Small parts that every page uses. */
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { ago, exactTime, visible } from './format.js'
import { announcement, clock, connection, type Loaded } from './gateway.js'

const ICONS = {
  now: 'M2 9h3l2-5 3 9 2-4h2',
  work: 'M3 13V8M8 13V3M13 13v-3',
  tools: 'M2.5 4h11M2.5 8h11M2.5 12h7',
  servers: 'M3 3h10v4H3zM3 9h10v4H3zM5.5 5h.01M5.5 11h.01',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.5 10.5 14 14',
  savings: 'M2.5 4.5 6.5 9l2.5-2 4.5 5M13.5 8.5V12H10',
  light:
    'M8 10.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM8 1.5v1.5M8 13v1.5M1.5 8H3M13 8h1.5M3.4 3.4l1 1M11.6 11.6l1 1M12.6 3.4l-1 1M4.4 11.6l-1 1',
  dark: 'M13.5 9.6A6 6 0 0 1 6.4 2.5a5.9 5.9 0 1 0 7.1 7.1z',
  system: 'M2 3h12v8H2zM6 13.5h4M8 11v2.5',
  close: 'm4 4 8 8M12 4l-8 8',
} as const
type IconName = keyof typeof ICONS

export const Icon = ({ name }: { name: IconName }) => (
  <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
    <path d={ICONS[name]} />
  </svg>
)

export const Button = (props: JSX.IntrinsicElements['button']) => <button type="button" {...props} />

export function Ago({ time }: { time: number | string }) {
  const at = new Date(time)
  return (
    <time dateTime={at.toISOString()} title={exactTime(at)}>
      {ago(+at, clock.value)}
    </time>
  )
}

export const ToolName = ({ server, tool }: { server: string; tool: string }) => (
  <span class="tool-name" title={visible(server === '' ? tool : `${server}/${tool}`)}>
    {server !== '' && <span class="quiet">{visible(server)}/</span>}
    {visible(tool)}
  </span>
)

interface PageProps {
  readonly title: string
  readonly about: string
  readonly aside?: ComponentChildren
  readonly children: ComponentChildren
  /** Its table takes the rest of the window. */
  readonly fills?: boolean
}

export const Page = ({ title, about, aside, children, fills = false }: PageProps) => (
  <div class={fills ? 'page fills' : 'page'}>
    <header class="page-head">
      <div>
        <h1>{title}</h1>
        <p class="quiet">{about}</p>
      </div>
      {aside}
    </header>
    {children}
  </div>
)

interface SectionProps {
  readonly title: ComponentChildren
  readonly aside?: ComponentChildren
  readonly children: ComponentChildren
  readonly level?: 'h2' | 'h3'
}

export function Section({ title, aside, children, level: Heading = 'h2' }: SectionProps) {
  const id = useId()
  return (
    <section aria-labelledby={id}>
      <div class="section-head">
        <Heading id={id}>{title}</Heading>
        {aside}
      </div>
      {children}
    </section>
  )
}

export const Empty = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <div class="empty">
    <strong>{title}</strong>
    <p>{children}</p>
  </div>
)

/** Shows an answer, or why there is none. Shows nothing for the moment before the first answer. */
export function Answer<T>({ from, children }: { from: Loaded<T>; children: (data: T) => ComponentChildren }) {
  return (
    <>
      {from.error !== undefined && connection.value !== 'lost' && <Problem>{from.error}</Problem>}
      {from.data !== undefined
        ? children(from.data)
        : from.error === undefined && <div class="loading" aria-busy="true" />}
    </>
  )
}

export const Problem = ({ children }: { children: ComponentChildren }) => (
  <p class="problem" role="alert">
    {children}
  </p>
)

interface ChoiceProps {
  readonly label: string
  readonly value: string
  /** Values, or pairs of value and text. */
  readonly options: readonly (string | readonly [string, string])[]
  readonly onChange: (value: string) => void
}

/** A filter. Its first choice is "all". */
export const Filter = ({ label, value, options, onChange }: ChoiceProps) => (
  <label>
    <span class="reader">{label}</span>
    <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      <option value="">{label}: all</option>
      {options.map(toPair).map(([key, text]) => (
        <option key={key} value={key}>
          {visible(text)}
        </option>
      ))}
    </select>
  </label>
)

const toPair = (option: ChoiceProps['options'][number]) =>
  typeof option === 'string' ? ([option, option] as const) : option

/** A few choices, all visible. */
export const Choices = ({ label, value, options, onChange }: ChoiceProps) => (
  <fieldset class="choices" aria-label={label}>
    {options.map(toPair).map(([key, text]) => (
      <Button key={key} aria-pressed={key === value} onClick={() => onChange(key)}>
        {text}
      </Button>
    ))}
  </fieldset>
)

export function Copy({ text, children = 'Copy' }: { text: string; children?: ComponentChildren }) {
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    announcement.value = 'Copied.'
    setCopied(true)
    setTimeout(setCopied, 1500, false)
  }
  return <Button onClick={copy}>{isCopied ? 'Copied' : children}</Button>
}

interface DialogProps {
  readonly title: ComponentChildren
  readonly onClose: () => void
  readonly children: ComponentChildren
  /** Opens at the side, with the full height. */
  readonly isPanel?: boolean
}

/** The browser keeps the focus inside, closes it with Escape, and returns the focus. */
export function Dialog({ title, onClose, children, isPanel = false }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog
      ref={dialog}
      class={isPanel ? 'panel' : ''}
      aria-labelledby="dialog-title"
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && dialog.current?.close()}
    >
      <div class="dialog-body">
        <header>
          <h2 id="dialog-title">{title}</h2>
          <Button class="plain" aria-label="Close" onClick={() => dialog.current?.close()}>
            <Icon name="close" />
          </Button>
        </header>
        {children}
      </div>
    </dialog>
  )
}

/** A label and a value. */
export const Facts = ({ rows }: { rows: readonly (readonly [string, ComponentChildren])[] }) => (
  <dl class="facts">
    {rows
      .filter(([, value]) => value !== undefined && value !== '')
      .map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
)

/** A box that scrolls. The keyboard can reach it. */
export const Scroll = ({ label, children, ...rest }: { label: string } & JSX.IntrinsicElements['pre']) => (
  <pre tabIndex={0} role="region" aria-label={label} {...rest}>
    {children}
  </pre>
)
