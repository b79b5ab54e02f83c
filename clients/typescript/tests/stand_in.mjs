// A server that answers as it is told, one answer per request, and remembers what it was asked.
import { createServer } from "node:http";

export class StandIn {
  requests = [];
  #server;
  #script;

  // Every step is (request, response) => void; the last one serves all further requests.
  constructor(script) {
    this.#script = script;
    this.#server = createServer((request, response) => {
      let body = "";
      request.on("data", (piece) => (body += piece));
      request.on("end", () => {
        this.requests.push({ method: request.method, url: request.url, headers: request.headers, body });
        this.#script[Math.min(this.requests.length, this.#script.length) - 1](request, response);
      });
    });
  }

  async start() {
    await new Promise((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return this;
  }

  get url() {
    return `http://127.0.0.1:${this.#server.address().port}`;
  }

  stop() {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(resolve));
  }
}

export const json = (status, value, headers = {}) => (_, response) => {
  response.writeHead(status, { "Content-Type": "application/json", ...headers });
  response.end(JSON.stringify(value));
};

export const problem = (status, code, headers = {}) => (_, response) => {
  response.writeHead(status, { "Content-Type": "application/problem+json", ...headers });
  response.end(JSON.stringify({ type: "about:blank", title: "t", status, detail: `because of ${code}`, code, cid: "c-1" }));
};

export const cut = (request) => request.socket.destroy();

// An event stream of these pieces, which then ends.
export const stream = (...pieces) => (_, response) => {
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  for (const piece of pieces) response.write(piece);
  response.end();
};
