/** A table with keyboard use, sorting and selection. A long one renders only the rows in view. */
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { count, visible } from './format.js'
import { Ago, Button } from './ui.js'

export interface Column<T> {
  readonly key: string
  readonly title: string
  /** Explains the title on hover. */
  readonly about?: string
  /** Rem. The column without a width takes the rest. */
  readonly width?: number
  readonly isNumber?: boolean
  /** Shown only if there is room: `not-narrow` not on phones, `extra` not on small screens, `wide-only` on large ones alone. */
  readonly room?: 'not-narrow' | 'extra' | 'wide-only'
  readonly cell: (row: T) => ComponentChildren
  readonly sortBy?: (row: T) => number | string
}

export interface Sort {
  readonly key: string
  readonly isDescending: boolean
}

interface TableProps<T> {
  readonly label: string
  readonly columns: readonly Column<T>[]
  readonly rows: readonly T[]
  readonly keyOf: (row: T) => string
  /** Without it, the table cannot be sorted. */
  readonly sort?: Sort
  /** Without it, the table keeps its sort itself. */
  readonly onSort?: (sort: Sort) => void
  readonly onOpen?: (row: T) => void
  readonly selected?: ReadonlySet<string>
  readonly onSelect?: (selected: ReadonlySet<string>) => void
  /** Takes the rest of the window and scrolls inside. */
  readonly fills?: boolean
  /** Shows the first rows again when this or the sort changes. */
  readonly filter?: string
}

/** A column of texts, which is sorted by them. */
export const textColumn = <T,>(
  key: string,
  title: string,
  text: (row: T) => string,
  more: Partial<Column<T>> = {},
): Column<T> => ({
  key,
  title,
  cell: (row) => <span title={visible(text(row))}>{visible(text(row))}</span>,
  sortBy: text,
  ...more,
})

export const timeColumn = <T,>(time: (row: T) => string): Column<T> => ({
  key: 'time',
  title: 'When',
  width: 7,
  cell: (row) => <Ago time={time(row)} />,
})

/** A column of numbers, in which zero is quiet. */
export const numberColumn = <T,>(
  key: string,
  title: string,
  width: number,
  value: (row: T) => number,
  more: Partial<Column<T>> & { readonly show?: (value: number) => ComponentChildren } = {},
): Column<T> => {
  const { show = count } = more
  return {
    key,
    title,
    width,
    isNumber: true,
    cell: (row) => (value(row) === 0 ? <span class="quiet">0</span> : show(value(row))),
    sortBy: value,
    ...more,
  }
}

/** Rows rendered above and below those in view. */
const MARGIN = 12

function sortRows<T>(
  rows: readonly T[],
  columns: readonly Column<T>[],
  sort: Sort | undefined,
): readonly T[] {
  const sortBy = columns.find(({ key }) => key === sort?.key)?.sortBy
  if (!sort || !sortBy) return rows
  const sign = sort.isDescending ? -1 : 1
  return rows
    .map((row) => ({ row, by: sortBy(row) }))
    .sort(
      ({ by: one }, { by: other }) =>
        sign * (typeof one === 'number' ? one - Number(other) : collator.compare(one, String(other))),
    )
    .map(({ row }) => row)
}

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })
const rowHeight = () => 2.5 * Number.parseFloat(getComputedStyle(document.documentElement).fontSize)

export function Table<T>(props: TableProps<T>) {
  const { label, columns, keyOf, onOpen, selected, onSelect, fills = false } = props
  const [ownSort, setOwnSort] = useState(props.sort)
  const sort = props.onSort ? props.sort : ownSort
  const rows = useMemo(
    () => sortRows(props.rows, columns, sort),
    [props.rows, columns, sort?.key, sort?.isDescending],
  )
  const scroller = useRef<HTMLDivElement>(null)
  const body = useRef<HTMLTableSectionElement>(null)
  const [height, setHeight] = useState({ row: 32, view: 800 })
  const [top, setTop] = useState(0)
  const [active, setActive] = useState(0)
  const anchor = useRef(0)
  const shouldFocus = useRef(false)

  useLayoutEffect(() => {
    const box = scroller.current
    if (!fills || !box) return
    const measure = () => setHeight({ row: rowHeight(), view: box.clientHeight })
    const observer = new ResizeObserver(measure)
    observer.observe(box)
    measure()
    return () => observer.disconnect()
  }, [fills])

  useLayoutEffect(() => {
    if (scroller.current) scroller.current.scrollTop = 0
    setTop(0)
  }, [props.filter, sort?.key, sort?.isDescending])

  const current = Math.min(active, rows.length - 1)
  const first = fills ? Math.max(0, Math.floor(top / height.row) - MARGIN) : 0
  const last = fills
    ? Math.min(rows.length, Math.ceil((top + height.view) / height.row) + MARGIN)
    : rows.length

  useLayoutEffect(() => {
    if (!shouldFocus.current) return
    const row = body.current?.querySelector<HTMLElement>(`[data-index="${current}"]`)
    if (!row) return
    shouldFocus.current = false
    row.focus({ preventScroll: true })
    if (!fills) row.scrollIntoView({ block: 'nearest' })
  })

  const moveTo = (index: number) => {
    const to = Math.max(0, Math.min(rows.length - 1, index))
    const box = scroller.current
    if (fills && box) {
      const [above, below] = [to * height.row, (to + 2) * height.row - box.clientHeight]
      if (box.scrollTop > above) box.scrollTop = above
      else if (box.scrollTop < below) box.scrollTop = below
      setTop(box.scrollTop)
    }
    shouldFocus.current = true
    setActive(to)
    return to
  }
  const select = (index: number, isRange: boolean) => {
    const row = rows[index]
    if (!selected || !onSelect || !row) return
    const now = new Set(selected)
    if (isRange) {
      const [from, to] = [Math.min(anchor.current, index), Math.max(anchor.current, index)]
      for (const each of rows.slice(from, to + 1)) now.add(keyOf(each))
    } else if (!now.delete(keyOf(row))) now.add(keyOf(row))
    anchor.current = index
    onSelect(now)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const { key, shiftKey, ctrlKey, metaKey } = event
    const target = event.target as HTMLElement
    if (!target.matches('tr')) return
    const row = rows[current]
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 400) / height.row) - 2)
    const all = rows.length
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -all, End: all }[key]
    if (step !== undefined) {
      const to = moveTo(current + step)
      if (shiftKey) select(to, true)
    } else if (key === ' ' && onSelect) select(current, shiftKey)
    else if (key === 'Enter' && onOpen && row) onOpen(row)
    else if (key.toLowerCase() === 'a' && (ctrlKey || metaKey) && onSelect) onSelect(new Set(rows.map(keyOf)))
    else if (key === 'Escape' && selected && selected.size > 0) onSelect?.(new Set())
    else return
    event.preventDefault()
  }
  const isAll = selected !== undefined && rows.length > 0 && rows.every((row) => selected.has(keyOf(row)))
  const spaceAbove = first * height.row
  const spaceBelow = (rows.length - last) * height.row
  return (
    <div
      class={fills ? 'table-box fills' : 'table-box'}
      ref={scroller}
      onScroll={fills ? (event) => setTop(event.currentTarget.scrollTop) : undefined}
    >
      <table
        role="grid"
        aria-label={label}
        aria-rowcount={rows.length + 1}
        aria-multiselectable={selected ? true : undefined}
        onKeyDown={onKeyDown}
      >
        <colgroup>
          {selected && <col style={{ width: '2.75rem' }} />}
          {columns.map(({ key, width: rem, room }) => (
            <col key={key} class={room} style={rem === undefined ? {} : { width: `${rem}rem` }} />
          ))}
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>
            {selected && (
              <th scope="col" class="check">
                <input
                  type="checkbox"
                  aria-label="Select all rows"
                  checked={isAll}
                  onChange={() => onSelect?.(new Set(isAll ? [] : rows.map(keyOf)))}
                />
              </th>
            )}
            {columns.map((column) => (
              <HeadCell key={column.key} column={column} sort={sort} onSort={props.onSort ?? setOwnSort} />
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {spaceAbove > 0 && <Space height={spaceAbove} />}
          {rows.slice(first, last).map((row, offset) => {
            const index = first + offset
            const key = keyOf(row)
            const isSelected = selected?.has(key)
            return (
              <tr
                key={key}
                data-index={index}
                aria-rowindex={index + 2}
                aria-selected={isSelected}
                class={onOpen && 'opens'}
                tabIndex={index === current || (current < first && index === first) ? 0 : -1}
                onFocus={() => setActive(index)}
                onClick={(event) => {
                  if ((event.target as Element).closest('a, button, input')) return
                  if (event.shiftKey && onSelect) select(index, true)
                  else onOpen?.(row)
                }}
              >
                {selected && (
                  <td class="check">
                    <input
                      type="checkbox"
                      tabIndex={-1}
                      aria-label={`Select row ${index + 1}`}
                      checked={isSelected}
                      onClick={(event) => select(index, event.shiftKey)}
                    />
                  </td>
                )}
                {columns.map(({ key: name, cell, isNumber, room = '' }) => (
                  <td key={name} class={`${isNumber ? 'number' : ''} ${room}`}>
                    {cell(row)}
                  </td>
                ))}
              </tr>
            )
          })}
          {spaceBelow > 0 && <Space height={spaceBelow} />}
        </tbody>
      </table>
    </div>
  )
}

const Space = ({ height }: { height: number }) => (
  <tr aria-hidden="true" class="space">
    <td style={{ height: `${height}px` }} />
  </tr>
)

interface HeadCellProps<T> {
  readonly column: Column<T>
  readonly sort: Sort | undefined
  readonly onSort: (sort: Sort) => void
}

function HeadCell<T>({ column, sort, onSort }: HeadCellProps<T>) {
  const { key, title, about, isNumber = false, room = '', sortBy } = column
  const isSorted = sort?.key === key
  return (
    <th
      scope="col"
      class={`${isNumber ? 'number' : ''} ${room}`}
      title={about}
      aria-sort={isSorted ? (sort.isDescending ? 'descending' : 'ascending') : undefined}
    >
      {sort && sortBy ? (
        <Button
          class="plain"
          // Numbers start with the largest.
          onClick={() => onSort({ key, isDescending: isSorted ? !sort.isDescending : isNumber })}
        >
          {title}
          {isSorted && <span aria-hidden="true">{sort.isDescending ? '↓' : '↑'}</span>}
        </Button>
      ) : (
        title
      )}
    </th>
  )
}
