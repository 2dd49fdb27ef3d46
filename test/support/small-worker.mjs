// A worker for the tests of workers.

/** @param {{ add: number } | { beginsWith: string }} data */
export function start(data) {
  if ("beginsWith" in data) throw new Error(data.beginsWith);
  let asked = 0;
  return {
    close() {},
    /** @param {number} question */
    answer(question) {
      if (question < 0) throw new Error(`no ${question}`);
      asked += 1;
      return { sum: question + data.add, asked };
    },
  };
}
