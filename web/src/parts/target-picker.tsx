import type { VNode } from "preact";
import type { Target, Targets } from "../state/api.ts";

interface TargetPickerProps {
  readonly targets: Targets | undefined;
  readonly value: string;
  readonly onPick: (target: string) => void;
}

/** Selects the target that answers, from those that the server offers. Until they are known, it says so. */
export function TargetPicker({ targets, value, onPick }: TargetPickerProps): VNode {
  const all = targets?.backends ?? [];
  const agents = all.filter(({ kind }) => kind === "agent");
  const backends = all.filter(({ kind }) => kind === "backend");
  return (
    <div class="target-picker">
      <select aria-label="Who answers" value={value} onChange={(event) => onPick(event.currentTarget.value)}>
        {targets === undefined && <option value={value}>{value || "Loading …"}</option>}
        {agents.length > 0 && <optgroup label="Agents">{agents.map(optionOf)}</optgroup>}
        {backends.length > 0 && <optgroup label="Backends">{backends.map(optionOf)}</optgroup>}
      </select>
    </div>
  );
}

function optionOf({ target, available }: Target): VNode {
  return (
    <option key={target} value={target} disabled={!available}>
      {available ? target : `${target} (not set up)`}
    </option>
  );
}
