#include "engine/runs/run_queue.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include "engine/base/error.h"
#include "io/file/atomic_file.h"
#include "io/file/file_modes.h"
#include "runs/database.h"
#include "runs/run_folder.h"

namespace engine {
namespace fs = std::filesystem;
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto queue_patience = 2s;  // for another process, whose transactions take milliseconds
constexpr auto queue_retry = 5ms;

constexpr char queue_schema[] =
    "CREATE TABLE IF NOT EXISTS queue (id INTEGER PRIMARY KEY AUTOINCREMENT, place INTEGER NOT "
    "NULL, batch TEXT NOT NULL, label TEXT NOT NULL, config TEXT NOT NULL, state TEXT NOT NULL, "
    "run TEXT NOT NULL); CREATE INDEX IF NOT EXISTS queue_batch ON queue (batch)";
constexpr char has_job_columns[] =
    "SELECT COUNT(*) FROM pragma_table_info('queue') WHERE name = 'target'";
/// A queue of an earlier version gets these.
constexpr char job_columns[] =
    "ALTER TABLE queue ADD COLUMN target TEXT NOT NULL DEFAULT 'here';"
    "ALTER TABLE queue ADD COLUMN job TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE queue ADD COLUMN job_folder TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE queue ADD COLUMN job_note TEXT NOT NULL DEFAULT 'none';"
    "ALTER TABLE queue ADD COLUMN job_words TEXT NOT NULL DEFAULT ''";
/// ?1 is 1 where one batch is meant, and ?2 that batch.
constexpr char select_queue[] =
    "SELECT id, batch, label, config, state, run, target, job, job_folder, job_note, job_words "
    "FROM queue WHERE (?1 = 0 OR batch = ?2) ORDER BY place, id";

template <Named E>
E stored_value(const std::string& word) {
    if (const auto value = value_of_name<E>(word)) return *value;
    throw DamagedDatabase{};
}

/// For news of a job that were gathered before it was cancelled.
void keep_cancelled(QueuedRun& run) {
    const bool ended_early = run.job.note == JobNote::no_run || run.job.note == JobNote::cut_off;
    if (!run.has_live_job() && !ended_early) return;  // its run has ended
    if (ended_early) run.state = QueueState::stopped;
    run.job.note = JobNote::cancelled;
    run.job.words.clear();
}

}  // namespace

struct RunQueue::Impl {
    const fs::path root;
    std::optional<Database> database;
    std::map<std::int64_t, std::pair<std::string, ParsedConfig>> settings;  ///< by id

    fs::path file() const { return root / "queue.db"; }
    /// Held by the process that trains the run.
    fs::path lock_of(std::int64_t id) const {
        return root / ("queue-" + std::to_string(id) + ".lock");
    }

    template <typename F>
    auto patiently(F&& f) {
        const auto deadline = Clock::now() + queue_patience;
        for (;;) {
            try {
                return f();
            } catch (const BusyDatabase&) {
                if (Clock::now() >= deadline) {
                    throw Error(ErrorCode::io,
                                msg("{}: another program is using the queue", file().string()),
                                msg("Close that program, or try again later."));
                }
            } catch (const DamagedDatabase&) {
                throw Error(ErrorCode::io, msg("{}: the queue is damaged", file().string()),
                            msg("Move the file away and add the runs again."));
            }
            std::this_thread::sleep_for(queue_retry);
        }
    }

    explicit Impl(const fs::path& given) : root(given) {
        std::error_code error;
        make_private_folders(root, error);
        if (error) throw_write_error(root, error.value());
        patiently([this] {
            if (!database) database.emplace(file());
            database->run(queue_schema);
            if (database->integer(has_job_columns) == 0) add_job_columns();
        });
    }

    void add_job_columns() {
        Transaction transaction(*database);
        if (database->integer(has_job_columns) == 0) database->run(job_columns);
        transaction.commit();
    }

    /// f() in one transaction, which no other process is in.
    template <typename F>
    auto in_transaction(F&& f) {
        return patiently([&] {
            Transaction transaction(*database);
            if constexpr (std::is_void_v<std::invoke_result_t<F>>) {
                f();
                transaction.commit();
            } else {
                auto out = f();
                transaction.commit();
                return out;
            }
        });
    }

    /// Read once: a list that is refreshed every second costs next to nothing.
    const ParsedConfig& parsed_settings(std::int64_t id, std::string json) {
        auto& [text, parsed] = settings[id];
        if (text.empty() || text != json) {
            parsed = parse_run_config(json);
            text = std::move(json);
        }
        return parsed;
    }

    std::vector<QueuedRun> read(const std::optional<std::string>& batch) {
        Statement rows(*database, select_queue);
        rows.bind(std::int64_t{batch ? 1 : 0}, batch.value_or(""));
        std::vector<QueuedRun> out;
        while (rows.step()) {
            QueuedRun& run = out.emplace_back();
            run.id = rows.integer(0);
            const ParsedConfig& parsed = parsed_settings(run.id, rows.text(3));
            run.entry = {parsed.config, rows.text(2), rows.text(1),
                         stored_value<QueuePlace>(rows.text(6))};
            run.errors = parsed.errors;
            run.state = stored_value<QueueState>(rows.text(4));
            run.run = rows.text(5);
            run.job = {rows.text(7), rows.text(8), stored_value<JobNote>(rows.text(9)),
                       rows.text(10)};
            // Its process died.
            if (run.state == QueueState::running && !run.has_live_job() &&
                !FileLock::is_held(lock_of(run.id)))
                run.state = QueueState::waiting;
        }
        return out;
    }

    bool has(const QueueEntry& entry) {
        return Statement(*database, "SELECT 1 FROM queue WHERE batch = ? AND config = ?")
            .bind(entry.batch, to_json(entry.config))
            .step();
    }

    std::optional<QueuedRun> find(std::int64_t id) {
        for (QueuedRun& run : read({})) {
            if (run.id == id) return std::move(run);
        }
        return std::nullopt;
    }

    void refuse_running(std::int64_t id) {
        const auto found = find(id);
        if (found && found->has_live_job()) {
            throw Error(ErrorCode::state, msg("{}: the cluster has a job for this run", id),
                        msg("Cancel it first."));
        }
        if (found && found->state == QueueState::running) {
            throw Error(ErrorCode::state, msg("{}: this run of the queue is being trained", id),
                        msg("Stop it first."));
        }
    }

    void set(const QueuedRun& run) {
        Statement(*database,
                  "UPDATE queue SET state = ?, run = ?, job = ?, job_folder = ?, job_note = ?, "
                  "job_words = ? WHERE id = ?")
            .bind(std::string(name(run.state)), run.run, run.job.id, run.job.folder.string(),
                  std::string(name(run.job.note)), run.job.words, run.id)
            .run();
    }

    void set_place(std::int64_t id, std::int64_t place) {
        Statement(*database, "UPDATE queue SET place = ? WHERE id = ?").bind(place, id).run();
    }
};

struct RunQueue::Lease {
    Impl& queue;
    QueuedRun queued;
    FileLock lock;
    bool finished = false;

    ~Lease() {
        if (!finished) end(QueueState::waiting);
    }

    void end(QueueState state) {
        finished = true;
        queued.state = state;
        try {
            queue.in_transaction([&] { queue.set(queued); });
        } catch (const std::exception&) {
            if (state != QueueState::waiting) throw;  // without its lock it waits anyway
        }
        std::error_code ignored;
        fs::remove(queue.lock_of(queued.id), ignored);
        lock = {};
    }
};

RunQueue::Taken::Taken(std::unique_ptr<Lease> lease) : lease_(std::move(lease)) {}
RunQueue::Taken::Taken(Taken&&) noexcept = default;
RunQueue::Taken& RunQueue::Taken::operator=(Taken&&) noexcept = default;
RunQueue::Taken::~Taken() = default;

const QueuedRun& RunQueue::Taken::queued() const { return lease_->queued; }

void RunQueue::Taken::set_run(const std::string& run) {
    lease_->queued.run = run;
    lease_->queue.in_transaction([&] { lease_->queue.set(lease_->queued); });
}

void RunQueue::Taken::set_job(const ClusterJob& job) { lease_->queued.job = job; }

void RunQueue::Taken::finish(QueueState state) { lease_->end(state); }

RunQueue::RunQueue(const fs::path& root) : impl_(std::make_unique<Impl>(root)) {}
RunQueue::~RunQueue() = default;

std::vector<std::int64_t> RunQueue::add(const std::vector<QueueEntry>& entries) {
    return impl_->in_transaction([&] {
        std::vector<std::int64_t> ids;
        std::int64_t place = impl_->database->integer("SELECT COALESCE(MAX(place), 0) FROM queue");
        for (QueueEntry entry : entries) {
            // It may be taken by a process that was started elsewhere.
            entry.config = with_absolute_paths(std::move(entry.config));
            if (!entry.batch.empty() && impl_->has(entry)) continue;
            Statement(*impl_->database,
                      "INSERT INTO queue (place, batch, label, config, state, run, target) VALUES "
                      "(?, ?, ?, ?, 'waiting', '', ?)")
                .bind(++place, entry.batch, entry.label, to_json(entry.config),
                      std::string(name(entry.where)))
                .run();
            ids.push_back(impl_->database->integer("SELECT last_insert_rowid()"));
        }
        return ids;
    });
}

std::vector<QueuedRun> RunQueue::list(const std::optional<std::string>& batch) const {
    return impl_->patiently([&] { return impl_->read(batch); });
}

void RunQueue::move(std::int64_t id, std::int64_t before) {
    impl_->in_transaction([&] {
        std::vector<std::int64_t> order;
        bool known = false;
        for (const QueuedRun& run : impl_->read({})) {
            known = known || run.id == id;
            if (run.id == before) order.push_back(id);
            if (run.id != id) order.push_back(run.id);
        }
        const bool placed = std::find(order.begin(), order.end(), id) != order.end();
        if (!known || (before != 0 && !placed)) {
            throw Error(ErrorCode::value,
                        msg("{}: there is no such run in the queue", known ? before : id));
        }
        if (!placed) order.push_back(id);
        for (std::size_t i = 0; i < order.size(); ++i)
            impl_->set_place(order[i], static_cast<std::int64_t>(i) + 1);
    });
}

void RunQueue::remove(std::int64_t id) {
    impl_->in_transaction([&] {
        impl_->refuse_running(id);
        Statement(*impl_->database, "DELETE FROM queue WHERE id = ?").bind(id).run();
    });
}

void RunQueue::set_where(std::int64_t id, QueuePlace where) {
    impl_->in_transaction([&] {
        impl_->refuse_running(id);
        Statement(*impl_->database, "UPDATE queue SET target = ? WHERE id = ?")
            .bind(std::string(name(where)), id)
            .run();
    });
}

QueuedRun RunQueue::update_job(QueuedRun run) {
    return impl_->in_transaction([&] {
        const auto found = impl_->find(run.id);
        if (!found) return run;
        if (!found->has_live_job() || found->job.id != run.job.id) return *found;
        if (found->job.note == JobNote::cancelled) keep_cancelled(run);
        impl_->set(run);
        return run;
    });
}

void RunQueue::reset(std::int64_t id) {
    impl_->in_transaction([&] {
        impl_->refuse_running(id);
        auto run = impl_->find(id);
        if (!run) return;
        const bool goes_on = run->state == QueueState::stopped;
        run->job = {.folder = goes_on ? run->job.folder : fs::path()};
        if (!goes_on) run->run.clear();
        run->state = QueueState::waiting;
        impl_->set(*run);
    });
}

std::optional<RunQueue::Taken> RunQueue::take(const std::optional<std::string>& batch,
                                              QueuePlace where) {
    return impl_->in_transaction([&]() -> std::optional<Taken> {
        for (QueuedRun& run : impl_->read(batch)) {
            const bool waits = run.state == QueueState::waiting && run.errors.empty();
            if (!waits || run.entry.where != where) continue;
            FileLock lock = FileLock::take(impl_->lock_of(run.id));
            run.state = QueueState::running;
            run.job.id.clear();
            impl_->set(run);
            return Taken(
                std::unique_ptr<Lease>(new Lease{*impl_, std::move(run), std::move(lock)}));
        }
        return std::nullopt;
    });
}

}  // namespace engine
