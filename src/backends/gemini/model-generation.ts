/** The generation in a model's name: 2 of `gemini-2.5-pro`. `undefined`: the name does not tell. */
export function modelGeneration(model: string): number | undefined {
  const digits = /^gemini-(\d{1,3})/.exec(model)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
