import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { Target, Targets } from "../state/api.ts";

const OTHER = "\u0000other";

interface TargetPickerProps {
  readonly targets: Targets | undefined;
  readonly value: string;
  readonly onPick: (target: string) => void;
}

/** Who is to answer: an agent of the server, a backend, or a model that is written out. */
export function TargetPicker({ targets, value, onPick }: TargetPickerProps): VNode {
  const [isOther, setOther] = useState(false);
  const all = targets?.backends ?? [];
  const isListed = all.some(({ target }) => target === value);
  const agents = all.filter(({ kind }) => kind === "agent");
  const backends = all.filter(({ kind }) => kind === "backend");
  const pick = (choice: string): void => {
    setOther(choice === OTHER);
    onPick(choice === OTHER ? "" : choice);
  };
  return (
    <div class="target-picker">
      <select
        aria-label="Who answers"
        value={isOther || !isListed ? OTHER : value}
        onChange={(event) => pick(event.currentTarget.value)}
      >
        {agents.length > 0 && <optgroup label="Agents">{agents.map(optionOf)}</optgroup>}
        <optgroup label="Backends">{backends.map(optionOf)}</optgroup>
        <option value={OTHER}>Another model …</option>
      </select>
      {(isOther || (!isListed && targets !== undefined)) && (
        <input
          type="text"
          value={value}
          maxLength={200}
          placeholder="provider/model"
          aria-label="Provider and model"
          spellcheck={false}
          onInput={(event) => onPick(event.currentTarget.value.trim())}
        />
      )}
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
