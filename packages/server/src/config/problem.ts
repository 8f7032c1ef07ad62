// What is wrong with a configuration: all of it at once, each with where it stands and what would be right.

export interface Problem {
  /** Where it stands: `asyncgate.yaml:4`, `ASYNCGATE_PORT`, `--port`. */
  readonly where: string
  readonly message: string
}

export class ConfigError extends Error {
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    const lines = problems.map(({ where, message }) => `  ${where}: ${message}`)
    super(`The configuration is not valid.\n${lines.join('\n')}`)
    this.name = 'ConfigError'
    this.problems = problems
  }
}
