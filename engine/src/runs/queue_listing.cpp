#include "engine/runs/queue_listing.h"

#include "engine/base/json.h"
#include "engine/base/plain_text.h"
#include "engine/base/table.h"

namespace engine {
namespace fs = std::filesystem;

Message job_sentence(const QueuedRun& run) {
    const ClusterJob& job = run.job;
    switch (job.note) {
        case JobNote::none:
            return {};
        case JobNote::waits:
            return msg("The job waits in Slurm: {}", job.words);
        case JobNote::refused:
            if (job.words.empty()) return msg("sbatch printed no job number.");
            return msg("Slurm did not take the job: {}", job.words);
        case JobNote::silent:
            return msg("Slurm does not answer: {}", job.words);
        case JobNote::not_run:
            return msg("{} cannot be run.", job.words);
        case JobNote::late:
            if (!job.id.empty()) return msg("{} has not answered in a minute.", job.words);
            return msg(
                "{} has not answered in a minute. Slurm may have taken the job all the same.",
                job.words);
        case JobNote::abandoned:
            return msg(
                "The program was closed before {} had answered. Slurm may have taken the job all "
                "the same.",
                job.words);
        case JobNote::no_run:
            return msg("The job ended before its run began ({})", job.words);
        case JobNote::cut_off:
            return msg(
                "The job ended before its run did ({}). The run can go on from its last "
                "checkpoint.",
                job.words);
        case JobNote::cancelled:
            return msg("The job was cancelled.");
    }
    return {};
}

fs::path job_output(const QueuedRun& run) {
    return run.job.folder.empty() ? fs::path() : run.job.folder / "slurm.out";
}

std::string queue_table(std::span<const QueuedRun> queue) {
    Table table{{"id", "where", "state", "run", "settings", "note"}};
    for (const QueuedRun& each : queue) {
        const std::string job = each.job.id.empty() ? "" : " " + each.job.id;
        const Message note = each.errors.empty() ? job_sentence(each) : each.errors.front().str();
        table.rows.push_back({std::to_string(each.id), name(each.entry.where) + job,
                              each.errors.empty() ? name(each.state) : "refused", each.run,
                              each.entry.label, note.str()});
    }
    return to_text(table, table.columns.size());
}

std::string to_json_line(const QueuedRun& run) {
    const ordered_json object = {{"event", "queued"},
                                 {"id", run.id},
                                 {"where", name(run.entry.where)},
                                 {"state", name(run.state)},
                                 {"run", run.run},
                                 {"settings", run.entry.label},
                                 {"batch", run.entry.batch},
                                 {"job", run.job.id},
                                 {"folder", run.job.folder.string()},
                                 {"note", job_sentence(run).str()}};
    return dumped(object);
}

}  // namespace engine
