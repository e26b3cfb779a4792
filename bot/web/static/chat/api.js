// Requests to the service: JSON in, JSON out, and an Error with the service's own sentence.

const SILENT = "Can't reach the service. Check that it is running, then send your message again.";

async function request(method, path, body) {
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new Error(SILENT);
  }
  const isJson = (response.headers.get("Content-Type") || "").startsWith("application/json");
  const found = isJson ? await response.json() : {};
  if (!response.ok) {
    const error = new Error(found.error || `The service returned ${response.status} ${response.statusText}.`);
    error.status = response.status;
    throw error;
  }
  return found;
}

export const placePath = (channel, thread) =>
  `/chat/threads/${encodeURIComponent(channel)}/${encodeURIComponent(thread || "-")}`;

export const api = {
  home: () => request("GET", "/chat/home"),
  name: (name) => request("POST", "/chat/person", { name }),
  show: (channel, thread) => request("GET", placePath(channel, thread)),
  read: (conversation) => request("GET", `/chat/conversations/${encodeURIComponent(conversation)}`),
  send: (message) => request("POST", "/chat/messages", message),
  stop: (key) => request("POST", "/chat/stop", { key }),
  rename: (channel, thread, title) => request("PATCH", placePath(channel, thread), { title }),
  remove: (channel, thread) => request("DELETE", placePath(channel, thread)),
  rate: (channel, thread, message, value, reason = "") => request("POST", `${placePath(channel, thread)}/feedback`, { message, value, reason }),
  again: (channel, thread, message) => request("POST", `${placePath(channel, thread)}/again`, { message }),
};
