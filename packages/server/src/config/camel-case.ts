// Settings are snake_case outside and camelCase inside; this is where one becomes the other.

type Camel<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : S

/** The same settings under camelCase names, not to be changed. */
export type Camelised<T> = T extends readonly (infer Item)[]
  ? readonly Item[]
  : T extends object
    ? { readonly [K in keyof T as K extends string ? Camel<K> : never]: Camelised<T[K]> }
    : T

export function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase())
}
