import type { Token, Tokens } from "marked";
import type { ComponentChildren, VNode } from "preact";
import { CodeBlock } from "../parts/code-block.tsx";
import { Link } from "./link.tsx";
import { decodeEntities } from "./links.ts";

/**
 * Renders a model's text. It is untrusted: only the elements listed below are created, all text goes into text nodes,
 * and HTML is never parsed. Pictures become links, because loading one would notify its host.
 */
export function renderTokens(tokens: readonly Token[] | undefined): ComponentChildren {
  return tokens?.map((token, index) => <Piece key={index} token={token as Known} />);
}

type Known =
  | Tokens.Heading
  | Tokens.Paragraph
  | Tokens.Text
  | Tokens.Escape
  | Tokens.Strong
  | Tokens.Em
  | Tokens.Del
  | Tokens.Codespan
  | Tokens.Br
  | Tokens.Link
  | Tokens.Image
  | Tokens.List
  | Tokens.Code
  | Tokens.Blockquote
  | Tokens.Table
  | Tokens.Hr
  | Tokens.HTML
  | Tokens.Checkbox
  | Tokens.Space
  | Tokens.Def;

export function Piece({ token }: { readonly token: Known }): ComponentChildren {
  switch (token.type) {
    case "heading":
      return <Heading depth={token.depth}>{renderTokens(token.tokens)}</Heading>;
    case "paragraph":
      return <p>{renderTokens(token.tokens)}</p>;
    case "text":
      return "tokens" in token && token.tokens !== undefined ? renderTokens(token.tokens) : decodeEntities(token.text);
    case "escape":
      return token.text;
    case "strong":
      return <strong>{renderTokens(token.tokens)}</strong>;
    case "em":
      return <em>{renderTokens(token.tokens)}</em>;
    case "del":
      return <del>{renderTokens(token.tokens)}</del>;
    case "codespan":
      return <code>{token.text}</code>;
    case "br":
      return <br />;
    case "link":
      return <Link href={token.href}>{renderTokens(token.tokens)}</Link>;
    case "image":
      return <Link href={token.href}>{`Image: ${decodeEntities(token.text) || token.href}`}</Link>;
    case "list":
      return <List list={token} />;
    case "code":
      return <CodeBlock text={token.text} language={token.lang ?? ""} />;
    case "blockquote":
      return <blockquote>{renderTokens(token.tokens)}</blockquote>;
    case "table":
      return <Table table={token} />;
    case "hr":
      return <hr />;
    case "html":
      return /^<br\s*\/?>$/i.test(token.text.trim()) ? <br /> : <span class="raw">{token.text}</span>;
    case "checkbox":
      return <input type="checkbox" disabled checked={token.checked} aria-label={token.checked ? "Done" : "To do"} />;
    case "space":
    case "def":
      return null;
    default:
      return (token as Token).raw;
  }
}

function Heading({ depth, children }: { readonly depth: number; readonly children: ComponentChildren }): VNode {
  // The page's own title is the first level.
  if (depth <= 1) return <h2>{children}</h2>;
  if (depth === 2) return <h3>{children}</h3>;
  return depth === 3 ? <h4>{children}</h4> : <h5>{children}</h5>;
}

function List({ list }: { readonly list: Tokens.List }): VNode {
  const items = list.items.map((item, index) => (
    <li key={index} class={item.task ? "task" : undefined}>
      {renderTokens(item.tokens)}
    </li>
  ));
  return list.ordered ? <ol start={Number(list.start) || 1}>{items}</ol> : <ul>{items}</ul>;
}

function Table({ table }: { readonly table: Tokens.Table }): VNode {
  const classOf = (align: string | null): string | undefined => (align === null ? undefined : `align-${align}`);
  return (
    <div class="table" role="region" aria-label="Table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {table.header.map((cell, index) => (
              <th key={index} class={classOf(cell.align)}>
                {renderTokens(cell.tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={column} class={classOf(cell.align)}>
                  {renderTokens(cell.tokens)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
