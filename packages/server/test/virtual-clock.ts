// The clock that tests move; it is part of what the package offers to the tests of others.
export * from '../src/testing/virtual-clock.ts'
