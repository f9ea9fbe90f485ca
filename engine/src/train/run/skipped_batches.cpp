#include "train/run/skipped_batches.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "base/json_reader.h"
#include "io/file/atomic_file.h"
#include "io/file/file_modes.h"
#include "io/file/line_reader.h"

namespace engine {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::int64_t max_kept = 2000;

fs::path file_of(const fs::path& run_folder) { return run_folder / "skips" / "batches.jsonl"; }

}  // namespace

SkippedBatches::SkippedBatches(const RunStore::NewRun& place, const DataPart& part,
                               const SamplerOptions& options, std::int64_t accumulate,
                               PostEvent post)
    : place_(place),
      sampler_(make_sampler(part, options)),
      accumulate_(accumulate),
      post_(std::move(post)) {}

void SkippedBatches::on_step(const CompletedStep& step) {
    const StepRecord& row = step.row;
    if (row.found_inf == 0 && std::isfinite(row.loss) && std::isfinite(row.grad_norm)) return;
    try {
        add(row.step, step.start.epoch, step.start.batch);
    } catch (const Error& error) {
        kept_ = max_kept;  // the run goes on without the list
        post_(RunWarning{{}, error.message(), row.step});
    }
}

void SkippedBatches::add(std::int64_t step, std::int64_t epoch, std::int64_t batch) {
    if (kept_ == max_kept) return;
    json samples = json::array();
    for (std::int64_t i = batch; i < batch + accumulate_ && i < sampler_->batches_per_epoch();
         ++i) {
        for (const std::int64_t sample : sampler_->plan(epoch, i).indices)
            samples.push_back(sample);
    }
    const fs::path file = file_of(place_.folder);
    std::error_code error;
    make_private_folders(file.parent_path(), error);
    if (error) throw_write_error(file.parent_path(), error.value());
    append_lines(file, json{{"step", step}, {"samples", std::move(samples)}}.dump() + "\n");
    ++kept_;
}

std::map<std::int64_t, std::vector<std::int64_t>> read_skipped_batches(const fs::path& run_folder) {
    std::map<std::int64_t, std::vector<std::int64_t>> out;
    constexpr std::size_t longest = std::size_t{16} << 20;  // a million samples
    LineReader lines(file_of(run_folder), longest);
    for (std::string line; lines.next(line);) {
        try {
            const json object = read_json(line, {.bytes = longest, .depth = 2});
            out.insert_or_assign(object.at("step").get<std::int64_t>(),
                                 object.at("samples").get<std::vector<std::int64_t>>());
        } catch (const json::exception&) {
            continue;  // cut short by a crash
        }
    }
    return out;
}

}  // namespace engine
