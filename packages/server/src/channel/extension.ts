// How a file of some media type is called, so that people and their programs know what it is.

const EXTENSIONS: Readonly<Record<string, string>> = {
  'application/json': '.json',
  'application/pdf': '.pdf',
  'application/zip': '.zip',
  'image/jpeg': '.jpg',
  'image/png': '.png',
  'text/csv': '.csv',
  'text/html': '.html',
  'text/markdown': '.md',
  'text/plain': '.txt',
}

export function extensionOf(contentType: string): string {
  return EXTENSIONS[contentType.split(';', 1)[0]!.trim().toLowerCase()] ?? '.bin'
}
