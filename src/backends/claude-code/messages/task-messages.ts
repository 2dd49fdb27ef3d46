import type { OpenWord, SystemFields } from "./message-fields.ts";

/** A task, and one run of it. */
interface TaskFields<Subtype extends string> extends SystemFields<Subtype> {
  readonly task_id?: string;
  readonly run_id?: string;
  /** The call that started it. */
  readonly tool_use_id?: string;
}

interface TaskUsage {
  readonly total_tokens?: number;
  readonly tool_uses?: number;
  readonly duration_ms?: number;
}

/** A sub-agent or a shell has started. */
export interface TaskStartedMessage extends TaskFields<"task_started"> {
  readonly task_type?: OpenWord<"local_agent" | "local_bash" | "local_workflow">;
  readonly description?: string;
  readonly subagent_type?: string;
  readonly prompt?: string;
  readonly is_backgrounded?: boolean;
  readonly spawn_depth?: number;
  readonly parent_task_id?: string;
  readonly workflow_name?: string;
  readonly skip_transcript?: boolean;
  readonly ambient?: boolean;
}

/** The progress of a task. */
export interface TaskProgressMessage extends TaskFields<"task_progress"> {
  readonly description?: string;
  readonly subagent_type?: string;
  readonly usage?: TaskUsage;
  readonly last_tool_name?: string;
  readonly summary?: string;
}

/** A change of a task. */
export interface TaskUpdatedMessage extends TaskFields<"task_updated"> {
  readonly patch?: {
    readonly [field: string]: unknown;
    readonly status?: OpenWord<"completed" | "failed" | "killed" | "paused" | "pending" | "running">;
    readonly description?: string;
    readonly end_time?: number;
    readonly total_paused_ms?: number;
    readonly error?: string;
    readonly is_backgrounded?: boolean;
  };
}

/** A task has ended. */
export interface TaskNotificationMessage extends TaskFields<"task_notification"> {
  readonly status?: OpenWord<"completed" | "failed" | "stopped">;
  readonly reason?: string;
  /** Where its output is. */
  readonly output_file?: string;
  readonly summary?: string;
  readonly usage?: TaskUsage;
  readonly resource_links?: readonly {
    readonly [field: string]: unknown;
    readonly uri: string;
    readonly name?: string;
    readonly title?: string;
    readonly description?: string;
    readonly mimeType?: string;
    readonly size?: number;
  }[];
  readonly skip_transcript?: boolean;
  readonly ambient?: boolean;
}

/** All background tasks, whenever one starts or ends. */
export interface BackgroundTasksMessage extends SystemFields<"background_tasks_changed"> {
  readonly tasks?: readonly {
    readonly [field: string]: unknown;
    readonly task_id?: string;
    readonly run_id?: string;
    readonly task_type?: string;
    readonly description?: string;
    readonly subagent_type?: string;
    readonly parent_task_id?: string;
    readonly ambient?: boolean;
  }[];
}

/** Any message about tasks. */
export type TaskMessage =
  | BackgroundTasksMessage
  | TaskNotificationMessage
  | TaskProgressMessage
  | TaskStartedMessage
  | TaskUpdatedMessage;
