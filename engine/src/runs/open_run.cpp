#include "runs/open_run.h"

#include <unistd.h>

#include <cerrno>

#include "engine/base/error.h"
#include "io/file/atomic_file.h"

namespace engine {

void OpenRun::append(const Event& event) {
    apply(summary_, event);
    waiting_.push_back({++events_, event});
    unentered_ = true;
    over_ = over_ || std::holds_alternative<RunDone>(event);
    if (gone_ || hold_->is_lost()) return;
    check_folder();
    append_lines(summary_.folder / events_file, to_json_line(event) + "\n");
}

void OpenRun::check_folder() {
    const auto settings = summary_.folder / config_file;
    if (::access(settings.c_str(), F_OK) == 0 || errno != ENOENT) return hold_->check();
    gone_ = true;
    throw Error(ErrorCode::data,
                msg("{}: the folder of the run was deleted or moved while the run was training",
                    summary_.folder.string()),
                msg("Its steps are lost. Start the run again, and leave its folder alone while it "
                    "trains."));
}

void OpenRun::flush(RunIndex& index) {
    index.write(summary_, made_, waiting_);
    waiting_.clear();
    unentered_ = false;
}

}  // namespace engine
