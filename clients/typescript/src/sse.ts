// Server-sent events as the HTML standard reads them, from text that comes in pieces.

/** One event of a stream. */
export interface ServerEvent {
  /** Where to resume after it. */
  id: string;
  /** "message" unless the server named it. */
  event: string;
  /** The data as JSON, or as text where it is none. */
  data: unknown;
  text: string;
}

export class EventParser {
  /** Of the last event that had one; also from events without data. */
  lastEventId: string;
  /** What the server asked for with `retry:`. */
  retryMs: number | undefined;
  #rest = "";
  #event = "";
  #data: string[] = [];
  #first = true;
  #endedInReturn = false;

  constructor(lastEventId = "") {
    this.lastEventId = lastEventId;
  }

  /** The events that are complete with this piece. */
  push(piece: string): ServerEvent[] {
    if (this.#first && piece !== "") {
      this.#first = false;
      if (piece.startsWith("\uFEFF")) piece = piece.slice(1);
    }
    // A line end of two characters may lie in two pieces.
    if (this.#endedInReturn && piece !== "") {
      this.#endedInReturn = false;
      if (piece.startsWith("\n")) piece = piece.slice(1);
    }
    if (piece !== "") this.#endedInReturn = piece.endsWith("\r");
    const lines = (this.#rest + piece).split(/\r\n|\r|\n/);
    this.#rest = lines.pop() ?? "";
    const events: ServerEvent[] = [];
    for (const line of lines) {
      if (line !== "") this.#field(line);
      else this.#dispatch(events);
    }
    return events;
  }

  #field(line: string): void {
    const colon = line.indexOf(":");
    if (colon === 0) return; // A comment: the server's heartbeat.
    const name = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? "" : line.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    if (name === "data") this.#data.push(value);
    else if (name === "event") this.#event = value;
    else if (name === "id" && !value.includes("\0")) this.lastEventId = value;
    else if (name === "retry" && /^\d+$/.test(value)) this.retryMs = Number(value);
  }

  #dispatch(events: ServerEvent[]): void {
    const event = this.#event === "" ? "message" : this.#event;
    this.#event = "";
    if (this.#data.length === 0) return;
    const text = this.#data.join("\n");
    this.#data = [];
    events.push({ id: this.lastEventId, event, data: parsed(text), text });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
