// graphile-worker over a filled queue: node graphile.mjs DATABASE_URL WORKERS JOBS [plain|batched]
// "plain" takes and completes one job at a time, its default; "batched" turns on its local queue and batched ends.
import { Logger, run, runMigrations } from "graphile-worker";
import pg from "pg";

const [, , connectionString, workers, jobs, mode = "plain"] = process.argv;
const logger = new Logger(() => () => {});
const pool = new pg.Pool({ connectionString, max: Number(workers) + 4 });
pool.on("error", () => {});

await runMigrations({ pgPool: pool, logger });
await pool.query(
  `select graphile_worker.add_jobs(array(
     select json_populate_record(null::graphile_worker.job_spec,
       json_build_object('identifier', 'nothing', 'payload', json_build_object('id', i)))
     from generate_series(1, $1::int) i))`,
  [Number(jobs)],
);
await pool.query("vacuum analyze graphile_worker._private_jobs");

let left = Number(jobs);
const batched = { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 };
const start = process.hrtime.bigint();
const runner = await run({
  pgPool: pool,
  logger,
  concurrency: Number(workers),
  noHandleSignals: true,
  preset: { worker: { concurrentJobs: Number(workers), ...(mode === "batched" ? batched : {}) } },
  taskList: { nothing: async () => void left-- },
});

async function remaining() {
  const { rows } = await pool.query("select count(*)::int as n from graphile_worker._private_jobs");
  return rows[0].n;
}

while (left > 0) await new Promise((resolve) => setTimeout(resolve, 5));
while ((await remaining()) > 0) await new Promise((resolve) => setTimeout(resolve, 5));
const seconds = Number(process.hrtime.bigint() - start) / 1e9;
console.log(`cycles_per_s=${(Number(jobs) / seconds).toFixed(0)}`);
await runner.stop();
process.exit(0);
