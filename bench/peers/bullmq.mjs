// BullMQ over a filled queue: node bullmq.mjs REDIS_PORT WORKERS JOBS
import { Queue, Worker } from "bullmq";

const [, , port, workers, jobs] = process.argv;
const connection = { host: "127.0.0.1", port: Number(port) };
const queue = new Queue("bench", { connection });

for (let first = 0; first < Number(jobs); first += 1000) {
  const count = Math.min(1000, Number(jobs) - first);
  await queue.addBulk(Array.from({ length: count }, (_, i) => ({ name: "nothing", data: { id: first + i } })));
}

let left = Number(jobs);
const worker = new Worker("bench", async () => {}, { connection, concurrency: Number(workers), autorun: false });
const done = new Promise((resolve) => worker.on("completed", () => --left === 0 && resolve()));
await worker.waitUntilReady();
const start = process.hrtime.bigint();
worker.run();
await done;
const seconds = Number(process.hrtime.bigint() - start) / 1e9;
console.log(`cycles_per_s=${(Number(jobs) / seconds).toFixed(0)}`);
await worker.close();
await queue.close();
process.exit(0);
