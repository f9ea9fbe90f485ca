#include "runs/event_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json_reader.h"
#include "engine/base/error.h"
#include "engine/record/twin.h"
#include "engine/runs/run_group.h"
#include "io/file/line_reader.h"
#include "io/file/mapped_file.h"
#include "record/event_json.h"

namespace engine {
namespace {

using nlohmann::json;

/// The step that an event is about; nothing for one about the run.
struct StepOf {
    std::optional<std::int64_t> operator()(const EpochDone& e) const { return e.step; }
    std::optional<std::int64_t> operator()(const ScaleChanged& e) const { return e.step; }
    std::optional<std::int64_t> operator()(const CheckpointSaved& e) const { return e.step; }
    std::optional<std::int64_t> operator()(const StepExamined& e) const { return e.step; }
    std::optional<std::int64_t> operator()(const RecipeStarted& e) const { return e.step; }
    std::optional<std::int64_t> operator()(const ScaleAlarm& e) const { return e.step; }
    std::optional<std::int64_t> operator()(const RunWarning& e) const { return e.step; }
    template <typename Other>
    std::optional<std::int64_t> operator()(const Other&) const {
        return std::nullopt;
    }
};

bool has_word(const std::string& line, const char* word) {
    return line.find(word) != std::string::npos;
}

constexpr std::size_t longest_line = std::size_t{1} << 20;

}  // namespace

bool is_taken_back(const Event& event, std::int64_t step) {
    return std::holds_alternative<RunDone>(event) || std::holds_alternative<RunFailed>(event) ||
           std::visit(StepOf{}, event).value_or(0) > step;
}

void take_back_after(std::int64_t step, std::vector<Event>& events) {
    std::erase_if(events, [step](const Event& event) { return is_taken_back(event, step); });
}

EventFile::EventFile(const std::filesystem::path& run_folder) : file_(run_folder / events_file) {
    LineReader lines(file_);
    for (std::string line; lines.next(line);) {
        if (has_word(line, "\"created\"")) read_made(line);
        if (!has_word(line, "\"resumed\"")) continue;
        const auto event = parse_event(line);
        const auto* resumed = event ? std::get_if<RunResumed>(&*event) : nullptr;
        if (resumed != nullptr && resumed->parent.empty())
            resumed_.push_back({lines.count(), resumed->step});
    }
    // The one that goes furthest back decides among several later ones.
    for (std::size_t i = resumed_.size(); i > 1; --i)
        resumed_[i - 2].step = std::min(resumed_[i - 2].step, resumed_[i - 1].step);
}

void EventFile::read_made(const std::string& line) {
    const json object = read_json(line, event_bounds);
    if (!object.is_object() || object.value("event", json()) != "created") return;
    const auto time = object.value("time", json());
    const auto microseconds = object.value("microseconds", json());
    if (!time.is_string() || !microseconds.is_number_integer()) return;
    if (object.value("run", json()).is_string()) run_ = object.at("run").get<std::string>();
    const auto group = object.value("group", json());
    if (group.is_string()) group_ = group.get<std::string>();
    const auto number = object.value("group_number", json());
    if (number.is_number_integer()) group_number_ = number.get<std::int64_t>();
    made_ = {microseconds.get<std::int64_t>(), time.get<std::string>()};
}

void EventFile::for_each(const std::function<void(Event&&)>& take) const {
    LineReader lines(file_);
    auto next = resumed_.begin();
    bool first = true;
    for (std::string line; lines.next(line);) {
        while (next != resumed_.end() && next->line <= lines.count()) ++next;
        auto event = parse_event(line);
        if (!event || (next != resumed_.end() && is_taken_back(*event, next->step))) continue;
        auto* started = std::get_if<RunStarted>(&*event);
        if (started != nullptr && std::exchange(first, false)) note_turns(*started);
        take(std::move(*event));
    }
}

/// Versions that numbered no groups did not note either which runs took turns: those of a
/// comparison with one seed did. In a twin one half compared gradients meanwhile, so its speed is
/// its own.
void EventFile::note_turns(RunStarted& started) const {
    const bool earlier = !group_.empty() && group_number_ == 0 && started.turns.empty();
    if (!earlier || is_sweep_group(group_) || TwinRecordReader::exists(file_.parent_path())) return;
    started.turns = group_ + " seed " + std::to_string(started.config.seed);
}

std::int64_t each_event_line_until(const std::filesystem::path& run_folder, std::int64_t step,
                                   const std::function<void(std::string_view)>& take,
                                   std::int64_t lines) {
    LineReader reader(run_folder / events_file);
    std::int64_t read = 0;
    for (std::string line; read < lines && reader.next(line);) {
        read = reader.count();
        const auto event = parse_event(line);
        if (event ? !is_taken_back(*event, step) : read_json(line, event_bounds).is_object())
            take(line + '\n');
    }
    return read;
}

std::optional<RunStarted> last_start(const std::filesystem::path& run_folder) {
    std::optional<RunStarted> out;
    EventFile(run_folder).for_each([&](Event&& event) {
        if (auto* started = std::get_if<RunStarted>(&event)) out = std::move(*started);
    });
    return out;
}

void LineTail::check_same(std::uint64_t device, std::uint64_t inode, std::int64_t size) {
    if (!std::exchange(found_, true)) {
        device_ = device;
        inode_ = inode;
    }
    if (device == device_ && inode == inode_ && size >= offset_) return;
    throw Error(ErrorCode::data,
                msg("{}: another program replaced or cut short the events while they were being "
                    "read",
                    path_.string()),
                msg("Open the run again, and leave its folder alone while it trains."));
}

bool LineTail::read(const std::function<void(std::string_view)>& take, std::size_t most) {
    // Opened again, so that a network file system asks its server.
    const File file(::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    struct stat info {};
    if (!file.is_open() || ::fstat(file.descriptor(), &info) != 0) return false;
    if (!S_ISREG(info.st_mode))
        throw Error(ErrorCode::data, msg("{}: not a plain file", path_.string()));
    check_same(info.st_dev, info.st_ino, info.st_size);
    if (info.st_size == offset_) return false;
    std::string bytes(most, '\0');
    const ssize_t got = ::pread(file.descriptor(), bytes.data(), bytes.size(), offset_);
    if (got <= 0) return false;
    bytes.resize(static_cast<std::size_t>(got));
    offset_ += got;
    rest_ += bytes;
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = rest_.find('\n', begin)) != std::string::npos; begin = end + 1)
        take(std::string_view(rest_).substr(begin, end - begin));
    rest_.erase(0, begin);
    if (rest_.size() > longest_line) {
        throw Error(ErrorCode::data,
                    msg("{}: a line of the events is longer than 1 MiB", path_.string()));
    }
    return offset_ < info.st_size;
}

}  // namespace engine
