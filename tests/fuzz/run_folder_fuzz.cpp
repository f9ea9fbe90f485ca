#include <filesystem>

#include "engine/base/error.h"
#include "engine/record/step_record.h"
#include "engine/report/report.h"
#include "engine/runs/followed_run.h"
#include "engine/runs/run_listing.h"
#include "folder_input.h"
#include "runs/run_folder.h"
#include "scratch_file.h"

namespace {

namespace fs = std::filesystem;

void read_record(const fs::path& folder, engine::RecordAccess access) {
    const auto record = engine::StepRecordReader::open(folder, access);
    for (std::int64_t i = 0; i < std::min<std::int64_t>(record.size(), 64); ++i) record.row(i);
    record.check();
}

/// Lists, shows, follows and reports a run.
void read_run(const fs::path& folder) {
    const auto run = engine::read_run_folder(folder);
    if (!run) return;
    engine::run_page(*run);
    engine::to_json_line(run->summary);
    for (const engine::Event& event : run->events) engine::to_json_line(event);
    engine::FollowedRun(folder).drain();
    engine::report_html(engine::make_report({run->summary}));
}

template <typename F>
void refuse_or(F f) {
    try {
        f();
    } catch (const engine::Error&) {
    }
}

}  // namespace

// Uses the bytes as the files of a run's folder. Expects an Error, or that the valid part is read.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::ScratchFile scratch("run");
    const fs::path folder = scratch.path().string() + ".folder";
    fuzz::FolderInput(
        {engine::config_file, engine::events_file, engine::notes_file, "steps.rec", "inputs.json"},
        data, size)
        .write_to(folder);
    refuse_or([&] { read_run(folder); });
    refuse_or([&] { read_record(folder, engine::RecordAccess::mapped); });
    refuse_or([&] { read_record(folder, engine::RecordAccess::polled); });
    fs::remove_all(folder);
    return 0;
}
