import type { SqlDatabase } from "../sql-driver.ts";
import { Connection } from "./connection.ts";
import { RowReader } from "./read-rows.ts";
import type { EngineQuestion } from "./requests.ts";
import { writeToDisk } from "./write-to-disk.ts";

/** Creates the function that executes requests on one connection. Never throws. */
export function createEngine(database: SqlDatabase): (question: EngineQuestion) => unknown {
  const connection = new Connection(database);
  const reader = new RowReader(connection);
  return (question) => {
    switch (question.kind) {
      case "commit":
        return writeToDisk(connection, question);
      case "read":
        return reader.read(() => connection.statement(question.statement).all(...question.args));
      case "events":
        return reader.events(question);
      case "next":
        return reader.next(question.more);
      case "open":
        return reader.open(question.ticket);
      default:
        return undefined;
    }
  };
}
