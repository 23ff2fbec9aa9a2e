// Viewers: node viewers.mjs URL TOKEN VIEWERS RUN. Half follow the list, half the run; all read everything, until the
// input ends. Prints a line when all are connected and, at the end, what they read.
import net from "node:net";

const [url, token, viewers, run] = process.argv.slice(2);
const { hostname, port } = new URL(url);
const read = { bytes: 0, chunks: 0, lost: 0 };
let connected = 0;
for (let n = 0; n < Number(viewers); n++) {
  const query = n % 2 ? `?run=${run}` : "";
  const socket = net.connect(Number(port), hostname);
  socket.write(`GET /live${query} HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${token}\r\n\r\n`);
  let first = true;
  socket.on("data", (chunk) => {
    if (first) {
      first = false;
      if (!chunk.toString("latin1").startsWith("HTTP/1.1 200")) throw new Error(chunk.toString());
      connected += 1;
      if (connected === Number(viewers)) console.log("connected");
    }
    read.bytes += chunk.length;
    read.chunks += 1;
  });
  socket.on("close", () => (read.lost += 1));
  socket.on("error", () => {});
}
process.stdin.on("end", () => {
  const { user, system } = process.cpuUsage();
  console.log(JSON.stringify({ ...read, cpu_s: (user + system) / 1e6 }));
  process.exit(0);
});
process.stdin.resume();
